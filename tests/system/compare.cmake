# The tools that hold two builds of the program against each other, on stand-ins whose speed and images are known.
echoform_system_test(system_compare_builds compare_builds_test.py)
echoform_system_test(system_compare_images compare_images_test.py)
set_tests_properties(system_compare_builds system_compare_images PROPERTIES LABELS "system;tools")
