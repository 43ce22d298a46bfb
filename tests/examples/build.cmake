# Installs the package and builds each of the examples against it, in `folder`/NAME.
set(prefix ${folder}/prefix)
file(REMOVE_RECURSE ${prefix})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${build} --prefix ${prefix} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

string(REPLACE "," ";" examples "${examples}")
foreach(example IN LISTS examples)
  execute_process(COMMAND ${CMAKE_COMMAND} --no-warn-unused-cli
      -S ${source}/${example} -B ${folder}/${example} -G ${generator}
      -D CMAKE_BUILD_TYPE=Release -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_INCLUDE_PATH=${headers}
      -D CMAKE_C_COMPILER=${c} -D CMAKE_CXX_COMPILER=${cxx}
      -D CMAKE_C_COMPILER_LAUNCHER=${launcher} -D CMAKE_CXX_COMPILER_LAUNCHER=${launcher}
      -D CMAKE_C_FLAGS=${warnings} -D CMAKE_CXX_FLAGS=${warnings}
    COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${folder}/${example} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
