echoform_system_test(system_nde nde_test.py)
