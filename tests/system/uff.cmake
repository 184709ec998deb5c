echoform_system_test(system_uff uff_test.py)
