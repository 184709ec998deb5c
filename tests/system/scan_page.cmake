echoform_system_test(system_scan_page scan_page_test.py ${CMAKE_BINARY_DIR}/screenshots)
