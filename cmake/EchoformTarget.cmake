# Half of the time of compiling a small source goes into headers of libraries. Those that nearly every source includes are read
# once: a target's own heavy headers and the common ones in the target, or those of `LIKE target`, which are read again only where
# the options of the two differ. Options can be added after the call, in the same folder: it takes effect at the folder's end.
# Sources include what they use as if this were not here (ECHOFORM_PRECOMPILE=OFF).
set(ECHOFORM_COMMON_HEADERS <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <cstring> <filesystem> <functional> <memory>
  <mutex> <optional> <span> <stop_token> <string> <string_view> <thread> <vector> <fmt/format.h>)
function(echoform_precompile name)
  if(ECHOFORM_PRECOMPILE)
    # Arguments of a deferred call are read when it is made, unless they are written out.
    cmake_language(EVAL CODE "cmake_language(DEFER CALL echoform_precompile_now [[${name}]] [[${ARGN}]])")
  endif()
endfunction()

function(echoform_precompile_now name arguments)
  cmake_parse_arguments(ARG "" "LIKE" "" ${arguments})
  if(ARG_LIKE)
    # Compilers refuse headers that were precompiled with other options. (Definitions that the headers do not know may differ.)
    get_target_property(options ${name} COMPILE_OPTIONS)
    get_target_property(others_options ${ARG_LIKE} COMPILE_OPTIONS)
    if("${options}" STREQUAL "${others_options}")
      target_precompile_headers(${name} REUSE_FROM ${ARG_LIKE})
      return()
    endif()
    get_target_property(headers ${ARG_LIKE} PRECOMPILE_HEADERS)
  else()
    set(headers ${ECHOFORM_COMMON_HEADERS} ${ARG_UNPARSED_ARGUMENTS})
    # Angle brackets would end a generator expression.
    string(REPLACE ">" "$<ANGLE-R>" headers "${headers}")
    set(headers "$<$<COMPILE_LANGUAGE:CXX>:${headers}>")
  endif()
  target_precompile_headers(${name} PRIVATE "${headers}")
endfunction()

# One call makes a room of the house into a library: every source below the calling folder, no list to edit when one is
# added. PRECOMPILE: heavy headers that most of its sources include. NUMERIC: it works
# on samples and pixels. Files named *_avx2.cpp and *_avx512.cpp are built for that instruction set and chosen at run time;
# *_cuda.cpp are host code that calls CUDA, left out where there is none.
function(echoform_library name)
  cmake_parse_arguments(ARG "NUMERIC" "" "DEPENDS;PRIVATE_DEPENDS;PRECOMPILE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(NOT ECHOFORM_WITH_CUDA)
    list(FILTER sources EXCLUDE REGEX "_cuda\\.cpp$")
  endif()
  if(NOT sources)
    message(STATUS "${name}: no sources yet")
    add_library(${name} INTERFACE)
    return()
  endif()
  add_library(${name} ${sources})  # static, but for the fuzzers, which are many and share them
  add_library(Echoform::${name} ALIAS ${name})
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>)
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS})
  echoform_compile_options(${name})
  if(ARG_NUMERIC)
    echoform_numeric_options(${name})
  endif()
  if(ARG_PRECOMPILE OR NOT TARGET echoform_base OR name STREQUAL echoform_base)
    echoform_precompile(${name} ${ARG_PRECOMPILE})
  elseif(ARG_NUMERIC)
    echoform_precompile(${name} LIKE echoform_base)
  endif()
  foreach(source IN LISTS sources)
    # g++ 12 takes the intrinsics' own undefined pass-through operands for uses of uninitialised variables.
    if(source MATCHES "_avx512\\.cpp$")
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS
        "-mavx512f;-mavx512dq;-mavx512bw;-mavx512vl;-mavx2;-mfma;-mprefer-vector-width=512;$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>"
        SKIP_PRECOMPILE_HEADERS ON)
    elseif(source MATCHES "_avx2\\.cpp$")
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma" SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()

# Options of what works on samples and pixels.
function(echoform_numeric_options name)
  separate_arguments(flags UNIX_COMMAND "${ECHOFORM_NUMERIC_FLAGS}")
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${flags}>)
endfunction()

# Nobody has seen what other compilers warn of.
if(ECHOFORM_WERROR STREQUAL "AUTO")
  set(ECHOFORM_WERROR OFF)
  if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^12\\.")
      OR (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^14\\."))
    set(ECHOFORM_WERROR ON)
  endif()
endif()

# Contraction is off so that a multiply and an add are fused where the code says so and nowhere else, on every backend. Programs hold
# no paths of the machine that built them.
function(echoform_compile_options name)
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion
    -Wno-sign-conversion -ffp-contract=off -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=>)
  if(CMAKE_UNITY_BUILD)
    # Sources that are compiled together see each other's names.
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-shadow>
      $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>)
  endif()
  if(ECHOFORM_WERROR)
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Werror>
      # g++ 12 forgets which precompiled headers are the system's, and warns of their inlined functions too.
      $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-error=stringop-overread -Wno-error=stringop-overflow
      -Wno-error=array-bounds -Wno-error=restrict>)
  endif()
endfunction()

# Every build has the same tests by name. Without CUDA those of a *_cuda.cpp are there too, and skip: sets `stand_in` to a source
# with them.
function(echoform_skipped_tests source stand_in)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(STRINGS ${source} tests REGEX "^TEST")
  set(text "// Made from ${source}: its tests by name, in a build without CUDA.\n#include \"tests/support/require_gpu.hpp\"\n\n")
  foreach(test IN LISTS tests)
    if(NOT test MATCHES "^TEST(_F)?\\(([A-Za-z0-9_]+), *([A-Za-z0-9_]+)\\)")
      message(FATAL_ERROR "${source}: found \"${test}\"; expected TEST(Suite, Name) or TEST_F(Suite, Name) on one line")
    endif()
    string(APPEND text "TEST(${CMAKE_MATCH_2}, ${CMAKE_MATCH_3}) {\n  ECHOFORM_REQUIRE_GPU();\n}\n")
  endforeach()
  get_filename_component(file ${source} NAME)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/skipped_${file} CONTENT "${text}" @ONLY)
  set(${stand_in} ${CMAKE_CURRENT_BINARY_DIR}/skipped_${file} PARENT_SCOPE)
endfunction()

# Tests of optimised code need not be optimised themselves, but where their references compute for long.
function(echoform_test_options name)
  cmake_parse_arguments(ARG "NUMERIC" "" "" ${ARGN})
  echoform_compile_options(${name})
  set(level -O0)
  if(ARG_NUMERIC)
    set(level -O1)
  endif()
  target_compile_options(${name} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:${level}>)
endfunction()

# A test program from every source of the calling folder, each test discovered by name, behind PREFIX where one is given; or, where
# ECHOFORM_TEST_PARTS is not 0, run in so many parts. ALONE: its tests want the machine, and the GPU, to themselves. NUMERIC: its
# references compute for long. LABELS: unit or system; then what tools/sanitized-tests chooses by: `untrusted` where it reads what others
# write, `concurrent` where threads meet. (Tests that are discovered by name have the first alone.)
function(echoform_test name)
  cmake_parse_arguments(ARG "ALONE;NUMERIC" "PREFIX" "DEPENDS;LABELS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(NOT sources)
    message(STATUS "${name}: no sources yet")
    return()
  endif()
  if(NOT ECHOFORM_WITH_CUDA)
    set(of_cuda ${sources})
    list(FILTER of_cuda INCLUDE REGEX "_cuda\\.cpp$")
    list(FILTER sources EXCLUDE REGEX "_cuda\\.cpp$")
    foreach(source IN LISTS of_cuda)
      echoform_skipped_tests(${source} stand_in)
      list(APPEND sources ${stand_in})
    endforeach()
  endif()
  add_executable(${name} ${sources})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} echoform_test_places GTest::gmock GTest::gtest_main fmt::fmt)
  set(numeric "")
  if(ARG_NUMERIC)
    set(numeric NUMERIC)
  endif()
  echoform_test_options(${name} ${numeric})
  if(ARG_NUMERIC AND ECHOFORM_NUMERIC_FLAGS)  # even an empty option would keep it from the headers that tests share
    echoform_numeric_options(${name})
  endif()
  echoform_precompile(${name} LIKE echoform_test_headers)
  if(ECHOFORM_TEST_PARTS)
    # Sanitizers make a program's start longer than most of its tests.
    math(EXPR last "${ECHOFORM_TEST_PARTS} - 1")
    foreach(part RANGE ${last})
      add_test(NAME ${ARG_PREFIX}${name}.part_${part} COMMAND ${name})
      set_tests_properties(${ARG_PREFIX}${name}.part_${part} PROPERTIES TIMEOUT 1800 LABELS "${ARG_LABELS};parts" RUN_SERIAL "${ARG_ALONE}"
        ENVIRONMENT "GTEST_TOTAL_SHARDS=${ECHOFORM_TEST_PARTS};GTEST_SHARD_INDEX=${part}")
    endforeach()
    return()
  endif()
  # Values print as bytes, addresses among them: numbers name the cases where the test does not. gtest_discover_tests takes one label.
  list(GET ARG_LABELS 0 label)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 NO_PRETTY_VALUES TEST_PREFIX "${ARG_PREFIX}"
    PROPERTIES TIMEOUT 900 LABELS "${label}" RUN_SERIAL ${ARG_ALONE})
endfunction()
