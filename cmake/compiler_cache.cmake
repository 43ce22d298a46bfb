# Compiles through ccache where it is installed, unless the caller chose launchers. CCACHE_DISABLE=1 in the environment goes without it.
find_program(CUTPOINT_CCACHE ccache)
mark_as_advanced(CUTPOINT_CCACHE)
if(CUTPOINT_CCACHE)
  foreach(language C CXX CUDA)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/cmake/cached_compiler)
    endif()
  endforeach()
  # Absolute paths in the sources that join others would differ between checkouts (from CMake 4.0 on).
  set(CMAKE_UNITY_BUILD_RELOCATABLE ON)
endif()
