# Lets another project build against this build tree: find_package(Echoform) with Echoform_DIR set to it.
set(exported echoform_pipeline echoform_rays echoform_delay_laws echoform_cpu echoform_gpu echoform_stages echoform_engines)
export(TARGETS ${exported} NAMESPACE Echoform:: FILE ${CMAKE_BINARY_DIR}/EchoformTargets.cmake)
set(find_cuda "")
if(ECHOFORM_WITH_CUDA)
  set(find_cuda "find_dependency(CUDAToolkit)\n")
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
add_library(Echoform::echoform INTERFACE IMPORTED)\n\
target_compile_features(Echoform::echoform INTERFACE cxx_std_20)\n\
target_link_libraries(Echoform::echoform INTERFACE Echoform::echoform_engines Echoform::echoform_stages Echoform::echoform_delay_laws \
Echoform::echoform_cpu Echoform::echoform_gpu Echoform::echoform_pipeline)\n")
