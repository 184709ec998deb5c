echoform_system_test(system_views_page views_page_test.py ${CMAKE_BINARY_DIR}/screenshots)
