echoform_system_test(system_soak soak_test.py)
