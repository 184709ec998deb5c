echoform_system_test(system_onde onde_test.py)
