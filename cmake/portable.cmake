# Programs to be carried to machines that have nothing installed: what they need is linked into them, but for the C library
# and hwloc, whose archive needs libraries that have none. What is carried beside them lies in ../lib.
if(CUTPOINT_PORTABLE)
  set(OPENSSL_USE_STATIC_LIBS ON)
  add_compile_definitions(FMT_HEADER_ONLY)  # Debian has no archive of fmt
  # An RPATH, not a RUNPATH: it serves the libraries of libraries too.
  add_link_options(-static-libstdc++ -static-libgcc -Wl,--as-needed -Wl,--disable-new-dtags)
  set(CMAKE_BUILD_RPATH "$ORIGIN/../lib")
endif()

# Of the libraries that packages have been found for in this folder, those that have an archive are linked from it.
function(cutpoint_link_archives)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
    foreach(configuration IN LISTS configurations)
      get_target_property(library ${target} IMPORTED_LOCATION_${configuration})
      string(REGEX REPLACE "\\.so[.0-9]*$" ".a" archive "${library}")
      if(EXISTS "${archive}")
        set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_${configuration} "${archive}")
      endif()
    endforeach()
  endforeach()
endfunction()
