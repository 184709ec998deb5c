# cmake -DSOURCE= -DBUILD= -DEchoform_DIR= -DGENERATOR= -DCC= -DCXX= -DFLAGS= -DPROGRAM= [-DLAUNCHER= -DTREE=] [-DCHECK= -DPYTHON=]
#   -P build_and_run.cmake
# Runs the program, or the script CHECK with the program's path and the folder of its source. LAUNCHER: ccache, which then serves every
# checkout of TREE. Examples are compiled without optimisation, whatever the tree is: what they compute takes no time.
file(REMOVE_RECURSE ${BUILD})
set(environment ${CMAKE_COMMAND} -E env --unset=DESTDIR)
set(launcher "")
if(LAUNCHER)
  list(APPEND environment CCACHE_BASEDIR=${TREE} CCACHE_NOHASHDIR=1)
  set(launcher -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -DCMAKE_C_COMPILER_LAUNCHER=${LAUNCHER})
endif()
execute_process(COMMAND ${environment} ${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE} -B ${BUILD} -DEchoform_DIR=${Echoform_DIR}
    -DCMAKE_C_COMPILER=${CC} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_FLAGS=${FLAGS} ${launcher} -DCMAKE_BUILD_TYPE=Release
    "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG"
    "-DCMAKE_C_FLAGS=${FLAGS} -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror" --no-warn-unused-cli COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${environment} ${CMAKE_COMMAND} --build ${BUILD} COMMAND_ERROR_IS_FATAL ANY)
if(CHECK)
  execute_process(COMMAND ${PYTHON} ${CHECK} ${BUILD}/${PROGRAM} ${SOURCE} COMMAND_ERROR_IS_FATAL ANY)
else()
  execute_process(COMMAND ${BUILD}/${PROGRAM} COMMAND_ERROR_IS_FATAL ANY)
endif()
