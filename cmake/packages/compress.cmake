# Run by CPack between installing and packing: pages and changes are compressed in Debian packages, without the time.
find_program(gzip gzip REQUIRED)
file(GLOB_RECURSE texts ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*/usr/share/man/*.[1-9]
  ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*/usr/share/doc/*/changelog)
foreach(text IN LISTS texts)
  execute_process(COMMAND ${gzip} -9 -n ${text} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
