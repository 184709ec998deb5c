echoform_system_test(system_volume_page volume_page_test.py ${CMAKE_BINARY_DIR}/screenshots)
