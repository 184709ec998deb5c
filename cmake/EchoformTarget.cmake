# One call makes a room of the house into a library: every source below the calling folder, no list to edit when one is
# added. Files named *_avx2.cpp and *_avx512.cpp are built for that instruction set and chosen at run time; *_cuda.cpp are host
# code that calls CUDA, left out where there is none.
function(echoform_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(NOT ECHOFORM_WITH_CUDA)
    list(FILTER sources EXCLUDE REGEX "_cuda\\.cpp$")
  endif()
  if(NOT sources)
    message(STATUS "${name}: no sources yet")
    add_library(${name} INTERFACE)
    return()
  endif()
  add_library(${name} STATIC ${sources})
  add_library(Echoform::${name} ALIAS ${name})
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>)
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS})
  echoform_compile_options(${name})
  foreach(source IN LISTS sources)
    # g++ 12 takes the intrinsics' own undefined pass-through operands for uses of uninitialised variables.
    if(source MATCHES "_avx512\\.cpp$")
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS
        "-mavx512f;-mavx512dq;-mavx512bw;-mavx512vl;-mavx2;-mfma;-mprefer-vector-width=512;-Wno-maybe-uninitialized")
    elseif(source MATCHES "_avx2\\.cpp$")
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma")
    endif()
  endforeach()
endfunction()

# Contraction is off so that a multiply and an add are fused where the code says so and nowhere else, on every backend.
function(echoform_compile_options name)
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion
    -Wno-sign-conversion -ffp-contract=off>)
  if(ECHOFORM_WERROR)
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
  endif()
endfunction()

# A test program from every source of the calling folder, each test discovered by name, behind PREFIX where one is given.
function(echoform_test name)
  cmake_parse_arguments(ARG "" "PREFIX" "DEPENDS;LABELS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(NOT ECHOFORM_WITH_CUDA)
    list(FILTER sources EXCLUDE REGEX "_cuda\\.cpp$")
  endif()
  if(NOT sources)
    message(STATUS "${name}: no sources yet")
    return()
  endif()
  add_executable(${name} ${sources})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} GTest::gmock GTest::gtest_main)
  echoform_compile_options(${name})
  target_compile_definitions(${name} PRIVATE ECHOFORM_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  # Values print as bytes, addresses among them: numbers name the cases where the test does not.
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 NO_PRETTY_VALUES TEST_PREFIX "${ARG_PREFIX}" PROPERTIES TIMEOUT 300 LABELS "${ARG_LABELS}")
endfunction()
