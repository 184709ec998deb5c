# What [imaging] memory_limit bounds, of the program as a whole.
echoform_system_test(system_memory_limit memory_limit_test.py)
