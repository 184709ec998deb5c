echoform_system_test(system_control_page control_page_test.py ${CMAKE_BINARY_DIR}/screenshots)
