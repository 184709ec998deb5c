# What docs/gpu.md says about the beamformer's instructions, counted in what the compiler makes. Builds without CUDA have it by name too, and skip it.
echoform_system_test(system_count_instructions count_instructions_test.py "${CMAKE_CUDA_COMPILER}")
set_tests_properties(system_count_instructions PROPERTIES LABELS "system;tools")
