# What docs/gpu.md says about the beamformer's instructions, counted in what the compiler makes.
if(ECHOFORM_WITH_CUDA)
  echoform_system_test(system_count_instructions count_instructions_test.py ${CMAKE_CUDA_COMPILER})
endif()
