# Sets the run-time search path of the archive's commands and library to the folder with the other libraries. CPack runs it between
# installing and packing.
file(GLOB_RECURSE programs ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/cutpoint ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/cutpoint-cluster
  ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/libcutpoint_c.so.*.*)
list(FILTER programs INCLUDE REGEX "/bin/cutpoint(-cluster)?$|/libcutpoint_c")
list(LENGTH programs count)
if(NOT count EQUAL 3)
  message(FATAL_ERROR "expected two commands and the library, found: ${programs}")
endif()
foreach(program IN LISTS programs)
  set(folder "$ORIGIN/cutpoint")
  if(program MATCHES "/bin/")
    set(folder "$ORIGIN/../${CPACK_CUTPOINT_LIBDIR}/cutpoint")
  endif()
  execute_process(COMMAND ${CPACK_CUTPOINT_PATCHELF} --set-rpath ${folder} ${program} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
