echoform_system_test(system_m2k m2k_test.py)
