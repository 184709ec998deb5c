# The bundle's script: a small bundle is made of this build folder, unpacked elsewhere and run. `make bundle` builds its own.
echoform_system_test(system_bundle bundle_test.py ${CMAKE_SOURCE_DIR}/tools/make-bundle ${CMAKE_BINARY_DIR})
set_tests_properties(system_bundle PROPERTIES LABELS "system;tools")
