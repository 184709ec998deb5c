# Lets another project build against this build tree: find_package(Echoform) with Echoform_DIR set to it.
set(exported echoform_base echoform_acquisition echoform_pipeline echoform_rays echoform_delay_laws echoform_cpu echoform_gpu echoform_stages echoform_engines)
export(TARGETS ${exported} NAMESPACE Echoform:: FILE ${CMAKE_BINARY_DIR}/EchoformTargets.cmake)
# The whole program as a library wants every library that the program wants, so it is asked for: COMPONENTS program.
set(exported_program echoform_apps echoform_offline echoform_jobs echoform_operators echoform_soak echoform_control echoform_settings echoform_methods echoform_config echoform_formats echoform_recording echoform_instruments echoform_simulators
  echoform_transport echoform_benchmarks echoform_proto echoform_boost)
export(TARGETS ${exported_program} NAMESPACE Echoform:: FILE ${CMAKE_BINARY_DIR}/EchoformProgramTargets.cmake)
set(find_cuda "")
if(ECHOFORM_WITH_CUDA)
  set(find_cuda "find_dependency(CUDAToolkit)\n")
endif()
set(find_mpi "")
if(ECHOFORM_WITH_MPI)
  set(find_mpi "  find_dependency(MPI COMPONENTS CXX)\n")
endif()
file(WRITE ${CMAKE_BINARY_DIR}/EchoformConfig.cmake "\
include(CMakeFindDependencyMacro)\n\
find_dependency(Threads)\n\
find_dependency(PkgConfig)\n\
find_dependency(fmt)\n\
find_dependency(spdlog)\n\
${find_cuda}\
pkg_check_modules(FFTW REQUIRED IMPORTED_TARGET fftw3f)\n\
pkg_check_modules(FFTW_DOUBLE REQUIRED IMPORTED_TARGET fftw3)\n\
include(\"\${CMAKE_CURRENT_LIST_DIR}/EchoformTargets.cmake\")\n\
# Headers and libraries for a delay law, stage, source or sink of one's own.\n\
foreach(component IN LISTS Echoform_FIND_COMPONENTS)\n\
  if(NOT component STREQUAL \"program\")\n\
    set(Echoform_FOUND FALSE)\n\
    set(Echoform_NOT_FOUND_MESSAGE \"found the component \\\"\${component}\\\"; expected \\\"program\\\"\")\n\
    return()\n\
  endif()\n\
endforeach()\n\
# Asked for twice, say once with the program and once without, it is there once.\n\
if(NOT TARGET Echoform::echoform)\n\
  add_library(Echoform::echoform INTERFACE IMPORTED)\n\
endif()\n\
target_compile_features(Echoform::echoform INTERFACE cxx_std_20)\n\
target_link_libraries(Echoform::echoform INTERFACE Echoform::echoform_engines Echoform::echoform_stages Echoform::echoform_delay_laws \
Echoform::echoform_cpu Echoform::echoform_gpu Echoform::echoform_pipeline Echoform::echoform_acquisition Echoform::echoform_base)\n\
# run_program() of apps/program.hpp: every command, in a program with a surface, view or delay law of one's own.\n\
if(\"program\" IN_LIST Echoform_FIND_COMPONENTS)\n\
  foreach(package Boost OpenSSL Protobuf CLI11 tomlplusplus prometheus-cpp nlohmann_json PNG ZLIB)\n\
    find_dependency(\${package})\n\
  endforeach()\n\
  find_dependency(OpenMP COMPONENTS CXX)\n\
${find_mpi}\
  pkg_check_modules(ZeroMQ REQUIRED IMPORTED_TARGET libzmq)\n\
  pkg_check_modules(MATIO REQUIRED IMPORTED_TARGET matio)\n\
  pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5)\n\
  pkg_check_modules(Cairo REQUIRED IMPORTED_TARGET cairo-png cairo-ft freetype2)\n\
  pkg_check_modules(Expat REQUIRED IMPORTED_TARGET expat)\n\
  include(\"\${CMAKE_CURRENT_LIST_DIR}/EchoformProgramTargets.cmake\")\n\
  if(NOT TARGET Echoform::program)\n\
    add_library(Echoform::program INTERFACE IMPORTED)\n\
  endif()\n\
  target_link_libraries(Echoform::program INTERFACE Echoform::echoform_apps Echoform::echoform)\n\
  # Images of recordings (offline/), with settings from files, and no command line.\n\
  if(NOT TARGET Echoform::offline)\n\
    add_library(Echoform::offline INTERFACE IMPORTED)\n\
  endif()\n\
  target_link_libraries(Echoform::offline INTERFACE Echoform::echoform_offline Echoform::echoform_settings Echoform::echoform)\n\
endif()\n")
