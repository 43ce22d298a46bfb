# Settings that CPack reads for each kind of package: its components, and the scripts that run between installing and packing.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_COMPONENTS_ALL command debian_command library debian_library development archives debian_development)
  set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each has its own
  set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/compress.cmake)
else()
  set(CPACK_COMPONENTS_ALL command library development archive_only)
  set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
  set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/look_beside.cmake)
endif()
