# The viewer's page in a real browser. Skipped where Chromium or Selenium is not installed.
add_executable(viewer_page_server viewer_page_server.cpp)
target_include_directories(viewer_page_server PRIVATE ${CMAKE_SOURCE_DIR})
target_link_libraries(viewer_page_server PRIVATE echoform_transport spdlog::spdlog)
echoform_compile_options(viewer_page_server)
add_test(NAME viewer_page COMMAND ${ECHOFORM_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/viewer_page.py
  --server $<TARGET_FILE:viewer_page_server> --screenshots ${CMAKE_BINARY_DIR}/screenshots)
set_tests_properties(viewer_page PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900 LABELS system)
