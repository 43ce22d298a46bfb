# Compresses manual pages and changelogs for Debian packages, without time stamps. CPack runs it between installing and packing.
find_program(gzip gzip REQUIRED)
file(GLOB_RECURSE texts ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*/usr/share/man/*.[1-9]
  ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*/usr/share/doc/*/changelog)
foreach(text IN LISTS texts)
  execute_process(COMMAND ${gzip} -9 -n ${text} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
