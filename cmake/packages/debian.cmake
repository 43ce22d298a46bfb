# Three Debian packages, each with its copyright file and changelog. dpkg-shlibdeps finds the packages they depend on.
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SOURCE cutpoint)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(about_chunks "Cutpoint cuts streams of bytes into content-defined chunks, by the algorithms
of the literature and with the exact cuts of backup programs, on all cores and
by vector instructions, and gives each chunk a fingerprint.")
set(CPACK_DEBIAN_COMMAND_PACKAGE_PACKAGE_NAME cutpoint)
set(CPACK_DEBIAN_COMMAND_PACKAGE_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_COMMAND_PACKAGE_PACKAGE_RECOMMENDS fuse3)  # by which users other than root mount a store
set(CPACK_DEBIAN_COMMAND_PACKAGE_DESCRIPTION "content-defined chunking and fingerprinting of files
${about_chunks}
.
This package has the command, which lists chunks, reports what deduplication
would save, and measures speed on this machine.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_PACKAGE_NAME libcutpoint-c1)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_PACKAGE_SECTION libs)
configure_file(cmake/packages/shlibs.in packages/shlibs @ONLY)
configure_file(cmake/packages/triggers packages/triggers COPYONLY)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/packages/shlibs ${PROJECT_BINARY_DIR}/packages/triggers)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DESCRIPTION "content-defined chunking and fingerprinting - library for C
${about_chunks}
.
This package has the shared library, whose interface is for C.")

set(needed_by_archives "libabsl-dev, libfmt-dev, libhwloc-dev, libssl-dev, libxxhash-dev, libzstd-dev")
if(liburing_FOUND)
  string(APPEND needed_by_archives ", liburing-dev")
endif()
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_PACKAGE_NAME libcutpoint-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_PACKAGE_DEPENDS "libcutpoint-c1 (= ${PROJECT_VERSION}), ${needed_by_archives}")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DESCRIPTION "content-defined chunking and fingerprinting - development files
${about_chunks}
.
This package has the headers for C and C++20, the archives to link them with,
and the files for CMake and pkg-config.")

configure_file(cmake/packages/changelog.in packages/changelog @ONLY)
configure_file(cmake/packages/copyright.in packages/copyright @ONLY)
foreach(package command library development)
  string(TOUPPER CPACK_DEBIAN_${package}_PACKAGE_PACKAGE_NAME name)
  install(FILES ${PROJECT_BINARY_DIR}/packages/copyright ${PROJECT_BINARY_DIR}/packages/changelog
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${${name}} COMPONENT debian_${package} EXCLUDE_FROM_ALL)
endforeach()
