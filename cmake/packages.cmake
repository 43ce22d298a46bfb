# Packages of the installed files, made by CPack; scripts/package runs it.
#
#   cpack -G DEB   Debian packages: the command, the shared library, and the development files
#   cpack -G TGZ   one archive that contains the libraries it needs and runs wherever it is unpacked
#
#   component    contents                                           Debian package
#   command      the commands, their pages, completions and schemas cutpoint
#   library      the shared library for C                           libcutpoint-c1
#   development  its header, files for CMake and pkg-config          libcutpoint-dev
#   archives     for C and C++20, with the headers of C++            libcutpoint-dev; not in the TGZ
set(CUTPOINT_MAINTAINER "Cutpoint contributors <contributors@cutpoint.invalid>" CACHE STRING
  "Maintainer of the packages: NAME <ADDRESS>")
include(GNUInstallDirs)

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/packages/by_generator.cmake)
set(CPACK_PACKAGE_NAME cutpoint)
set(CPACK_PACKAGE_CONTACT ${CUTPOINT_MAINTAINER})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "content-defined chunking and fingerprinting")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)

string(TOLOWER ${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR} system)
set(CPACK_ARCHIVE_FILE_NAME cutpoint-${PROJECT_VERSION}-${system})
set(CPACK_PACKAGE_FILE_NAME ${CPACK_ARCHIVE_FILE_NAME})  # the folder in it
find_program(CUTPOINT_PATCHELF patchelf)  # only this archive needs it
mark_as_advanced(CUTPOINT_PATCHELF)
set(CPACK_CUTPOINT_PATCHELF ${CUTPOINT_PATCHELF})
set(CPACK_CUTPOINT_LIBDIR ${CMAKE_INSTALL_LIBDIR})
configure_file(cmake/packages/carry.cmake.in packages/carry.cmake.in @ONLY)
file(GENERATE OUTPUT packages/carry.cmake INPUT ${PROJECT_BINARY_DIR}/packages/carry.cmake.in)
install(SCRIPT ${PROJECT_BINARY_DIR}/packages/carry.cmake COMPONENT archive_only EXCLUDE_FROM_ALL)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT archive_only EXCLUDE_FROM_ALL)

include(cmake/packages/debian.cmake)
include(CPack)
foreach(package command library development)
  foreach(component ${package} debian_${package})
    cpack_add_component(${component} GROUP ${package}_package)
  endforeach()
endforeach()
cpack_add_component(archives GROUP development_package)
