echoform_system_test(system_log log_test.py)
