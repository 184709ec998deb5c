echoform_system_test(system_msot msot_test.py)
