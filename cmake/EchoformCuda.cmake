# CUDA is found, never installed. Without nvcc only host code is built, and the program says that it holds no CUDA code.
# Kernels and their launches stand in *.cu files, which echoform_cuda_sources() adds to the target of their folder; host code
# that calls CUDA stands in *_cuda.cpp (the host compiler is the stricter one, and knows all libraries).
set(ECHOFORM_WITH_CUDA OFF)
if(NOT ECHOFORM_CUDA STREQUAL "OFF")
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(ECHOFORM_NVCC nvcc HINTS /usr/local/cuda/bin)
    if(ECHOFORM_NVCC)
      set(CMAKE_CUDA_COMPILER ${ECHOFORM_NVCC})
    endif()
  endif()
  set(CMAKE_CUDA_ARCHITECTURES ${ECHOFORM_CUDA_ARCHITECTURES})
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      # CMake 3.25 is older than the compilers that know C++20.
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    endif()
    find_package(CUDAToolkit REQUIRED)
    if(ECHOFORM_CCACHE)
      set(CMAKE_CUDA_COMPILER_LAUNCHER ${ECHOFORM_CCACHE})
    endif()
    set(ECHOFORM_WITH_CUDA ON)
  elseif(ECHOFORM_CUDA STREQUAL "ON")
    message(FATAL_ERROR "ECHOFORM_CUDA is ON and no nvcc was found: set CUDACXX, or use ECHOFORM_CUDA=AUTO")
  endif()
endif()
message(STATUS "CUDA code: ${ECHOFORM_WITH_CUDA}")

# Every *.cu below the calling folder joins `name`, which then links the CUDA runtime. Nothing without CUDA.
function(echoform_cuda_sources name)
  if(NOT ECHOFORM_WITH_CUDA)
    return()
  endif()
  file(GLOB_RECURSE kernels CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cu)
  target_sources(${name} PRIVATE ${kernels})
  set_target_properties(${name} PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF
    CUDA_RUNTIME_LIBRARY Static CUDA_ARCHITECTURES "${ECHOFORM_CUDA_ARCHITECTURES}")
  target_compile_definitions(${name} PUBLIC ECHOFORM_WITH_CUDA)
  # As on the host, a multiply and an add are fused where the code says so (fmaf) and nowhere else.
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false -Xcompiler=-Wall,-Wextra>
    $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${ECHOFORM_CUDA_LINE_INFO}>>:-lineinfo>
    # GPU code with its line tables becomes six times smaller, and is unpacked once, when it is loaded.
    $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<VERSION_GREATER_EQUAL:$<CUDA_COMPILER_VERSION>,12.8>>:--compress-mode=size>)
  if(ECHOFORM_WERROR)
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings>)
  endif()
  target_link_libraries(${name} PUBLIC CUDA::cudart_static)
endfunction()
