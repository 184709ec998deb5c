echoform_system_test(system_soak soak_test.py)
set_tests_properties(system_soak PROPERTIES LABELS "system;concurrent")
