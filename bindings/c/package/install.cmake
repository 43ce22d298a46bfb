# cmake --install: the command, the libraries, all public headers, a package for CMake and modules for pkg-config.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/cutpoint)
set(module_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
# The archives have a component of their own, because they work only with the libraries that they were compiled with.
set(development DESTINATION ${package_folder} COMPONENT development)
set(archives DESTINATION ${package_folder} COMPONENT archives)

install(TARGETS cutpoint cutpoint_cluster_program RUNTIME COMPONENT command)
install(TARGETS cutpoint_c EXPORT cutpoint-shared-targets LIBRARY COMPONENT library NAMELINK_COMPONENT development)
install(TARGETS cutpoint_engine cutpoint_c_static EXPORT cutpoint-static-targets ARCHIVE COMPONENT archives)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bindings/c/include/
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN *.h)
foreach(layer host pipeline cuda store cluster)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${layer}/include/
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT archives FILES_MATCHING PATTERN *.h)
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/tests/store/storage/storage_contract.h
  DESTINATION ${CMAKE_INSTALL_DATADIR}/cutpoint/tests COMPONENT archives)
if(cutpoint_has_cuda)  # NVIDIA's licence allows to pass CUDA's runtime on
  file(REAL_PATH ${cutpoint_cudart} cudart)
  install(FILES ${cudart} DESTINATION ${CMAKE_INSTALL_LIBDIR}/cutpoint COMPONENT archives)
endif()

configure_package_config_file(package/cutpoint-config.cmake.in cutpoint-config.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(cutpoint-config-version.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT cutpoint-shared-targets NAMESPACE cutpoint:: ${development})
install(EXPORT cutpoint-static-targets NAMESPACE cutpoint:: ${archives})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/cutpoint-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/cutpoint-config-version.cmake
  ${development})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/cutpoint-dependencies.cmake ${archives})

# Modules find the prefix relative to their own folder, so that it may be moved.
file(RELATIVE_PATH prefix_from_modules /prefix/${module_folder} /prefix)
string(REGEX REPLACE "/$" "" prefix_from_modules "${prefix_from_modules}")
set(static_requires "libcrypto, absl_flat_hash_set, fmt, hwloc, libxxhash, libzstd")
set(static_libs "-lstdc++ -lm -pthread")
if(cutpoint_has_liburing)
  string(APPEND static_requires ", liburing")
endif()
if(cutpoint_has_cuda)
  string(APPEND static_libs " -L\${libdir}/cutpoint -lcudart_static -ldl -lrt")
endif()
foreach(module cutpoint cutpoint-c cutpoint-c-static)
  configure_file(package/${module}.pc.in ${module}.pc @ONLY)
  set(component archives)
  if(module STREQUAL cutpoint-c)
    set(component development)
  endif()
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${module}.pc DESTINATION ${module_folder} COMPONENT ${component})
endforeach()

# The page for `man` gets its declarations from the headers.
set(declarations "")
foreach(name cutpoint cutpoint_cuda cutpoint_store)
  set(header ${PROJECT_SOURCE_DIR}/bindings/c/include/cutpoint/${name}.h)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
  file(READ ${header} text)
  string(APPEND declarations "${text}")
endforeach()
string(REPLACE ";" "@end@" declarations "${declarations}")
string(REGEX MATCHALL "\nCUTPOINT_API [^@]*@end@" declarations "${declarations}")
set(prototypes "")
foreach(declaration IN LISTS declarations)
  string(REGEX REPLACE "^\nCUTPOINT_API " "" declaration "${declaration}")
  string(REGEX REPLACE "[ \n]+" " " declaration "${declaration}")
  string(REPLACE "@end@" ";" declaration "${declaration}")
  string(APPEND prototypes ".HP\n${declaration}\n")
endforeach()
configure_file(package/libcutpoint.3.in libcutpoint.3 @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/libcutpoint.3 package/cutpoint.h.3
  package/cutpoint_cuda.h.3
  package/cutpoint_store.h.3
  DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 COMPONENT development)
