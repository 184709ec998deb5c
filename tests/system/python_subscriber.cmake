# The example subscriber in Python receives what the publisher sends.
add_test(NAME python_subscriber COMMAND ${ECHOFORM_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python_subscriber.py
  --server $<TARGET_FILE:viewer_page_server> --example ${CMAKE_SOURCE_DIR}/examples/python_subscriber.py)
set_tests_properties(python_subscriber PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900 LABELS system)
