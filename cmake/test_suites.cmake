# Registers each test suite of a GoogleTest program as one test of CTest: one process for each suite, not for each case.
#
#   cutpoint_test_suites(TARGET [ENVIRONMENT...])
#
# The suites are listed when the program has been built. Those whose names begin with `full` get the label `full`. A suite that
# skips all its cases counts as skipped.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(cutpoint_test_suites target)
    set(list ${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake)
    get_target_property(emulator ${target} CROSSCOMPILING_EMULATOR)
    if(NOT emulator)
      set(emulator "")
    endif()
    add_custom_command(TARGET ${target} POST_BUILD
      BYPRODUCTS ${list}
      COMMAND ${CMAKE_COMMAND}
        -D name=${target} -D program=$<TARGET_FILE:${target}> -D list=${list}
        -D "emulator=${emulator}" -D "environment=${ARGN}"
        -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
      VERBATIM)
    set(include ${CMAKE_CURRENT_BINARY_DIR}/${target}_include.cmake)
    file(WRITE ${include}
      "if(EXISTS \"${list}\")\n  include(\"${list}\")\nelse()\n  add_test(${target}_NOT_BUILT ${target}_NOT_BUILT)\nendif()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${include})
  endfunction()
  return()
endif()

execute_process(COMMAND ${emulator} ${program} --gtest_list_tests
  OUTPUT_VARIABLE listing TIMEOUT 120 COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(^|\n)[A-Za-z_][A-Za-z0-9_/]*\\." suites "${listing}")
if(NOT suites)
  message(FATAL_ERROR "${program} lists no test suites")
endif()
set(all_skipped "PASSED  \\] 0 tests\\.\n\\[  SKIPPED \\] [0-9]+ tests?, listed below:\n(\\[  SKIPPED \\] [^\n]*\n)+$")
set(text "")
foreach(suite IN LISTS suites)
  string(REGEX REPLACE "[\n.]" "" suite "${suite}")
  set(labels "")
  if(suite MATCHES "^full")
    set(labels "LABELS full")
  endif()
  set(command "")
  foreach(word IN LISTS emulator program)
    string(APPEND command " [==[${word}]==]")
  endforeach()
  string(APPEND text
    "add_test([==[${name}.${suite}]==]${command} [==[--gtest_filter=${suite}.*]==])\n"
    "set_tests_properties([==[${name}.${suite}]==] PROPERTIES TIMEOUT 600 ${labels} ENVIRONMENT [==[${environment}]==] SKIP_REGULAR_EXPRESSION [==[${all_skipped}]==])\n")
endforeach()
file(WRITE ${list} "${text}")
