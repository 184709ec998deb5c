# Lets another project build against this build tree: find_package(Echoform) with Echoform_DIR set to it.
file(WRITE ${CMAKE_BINARY_DIR}/EchoformConfig.cmake "\
# A delay law, stage, source or sink of your own needs the headers and these libraries of the build tree.\n\
add_library(Echoform::echoform INTERFACE IMPORTED)\n\
target_include_directories(Echoform::echoform INTERFACE \"${CMAKE_SOURCE_DIR}\")\n\
target_compile_features(Echoform::echoform INTERFACE cxx_std_20)\n")
