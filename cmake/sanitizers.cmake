# Sanitizers for the whole build: mixing instrumented and plain objects would hide errors.
if(CUTPOINT_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${CUTPOINT_SANITIZE}>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all>)
  if(CUTPOINT_SANITIZE MATCHES undefined)
    # The vptr check reads memory through a pipe and reports an error when it cannot open one; some tests use up all descriptors.
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=vptr>)
  endif()
  # The compiler collects its garbage from half a gigabyte on, which saves a tenth of the time.
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=524288>)
  add_link_options(-fsanitize=${CUTPOINT_SANITIZE})
endif()

# Link `cutpoint_fewer_checks` privately to targets in which checks of each access for null and misaligned pointers find nothing that
# AddressSanitizer does not find, and double the time to compile: vector code, which loads unaligned, the command, and the tests.
add_library(cutpoint_fewer_checks INTERFACE)
if(CUTPOINT_SANITIZE MATCHES undefined)
  target_compile_options(cutpoint_fewer_checks INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=null,alignment,object-size>)
endif()

# Link `cutpoint_fewer_checks_by_gcc` privately to layers in which clang makes these checks, for the fuzz targets, and GCC takes too long.
add_library(cutpoint_fewer_checks_by_gcc INTERFACE)
target_link_libraries(cutpoint_fewer_checks_by_gcc INTERFACE $<$<CXX_COMPILER_ID:GNU>:cutpoint_fewer_checks>)
