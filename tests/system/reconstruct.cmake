# echoform reconstruct: killed, interrupted, and shared out by mpirun where that is there.
add_executable(record_ball record_ball.cpp)
target_include_directories(record_ball PRIVATE ${CMAKE_SOURCE_DIR})
target_link_libraries(record_ball PRIVATE echoform_formats)
echoform_compile_options(record_ball)
echoform_system_test(system_reconstruct reconstruct_test.py $<TARGET_FILE:record_ball>)
find_program(ECHOFORM_MPIRUN mpirun)
echoform_system_test(system_reconstruct_mpi reconstruct_mpi_test.py $<TARGET_FILE:record_ball> "${ECHOFORM_MPIRUN}")
echoform_system_test(system_reconstruct_preview reconstruct_preview_test.py $<TARGET_FILE:record_ball>)
