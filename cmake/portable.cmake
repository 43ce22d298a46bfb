# Settings for programs that run on machines with nothing installed. Libraries are linked into the programs, except the C library, and
# hwloc, whose archive needs libraries that have no archive. Shared libraries that are still needed lie in ../lib.
if(CUTPOINT_PORTABLE)
  set(OPENSSL_USE_STATIC_LIBS ON)
  add_compile_definitions(FMT_HEADER_ONLY)  # Debian has no archive of fmt
  # An RPATH also applies to the libraries that a library needs; a RUNPATH does not.
  add_link_options(-static-libstdc++ -static-libgcc -Wl,--as-needed -Wl,--disable-new-dtags)
  set(CMAKE_BUILD_RPATH "$ORIGIN/../lib")
endif()

# Links the libraries that find_package and pkg_check_modules found in this folder from their archives, where they have one.
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
