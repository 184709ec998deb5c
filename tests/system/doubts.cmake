# Values that cannot be meant are said by every command that reads them.
echoform_system_test(system_doubts doubts_test.py $<TARGET_FILE:record_ball>)
