# Writes `header` from `template`, with the current commit of `source` and the given `compiler` and `flags`.
execute_process(
  COMMAND git -C ${source} describe --always --dirty
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
  RESULT_VARIABLE outcome ERROR_QUIET)
if(NOT outcome EQUAL 0)
  set(commit unknown)
endif()
configure_file(${template} ${header} @ONLY)
