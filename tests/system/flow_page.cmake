echoform_system_test(system_flow_page flow_page_test.py ${CMAKE_BINARY_DIR}/screenshots)
