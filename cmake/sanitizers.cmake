# Sanitizers for the whole build: mixing instrumented and plain objects would hide errors.
if(CUTPOINT_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${CUTPOINT_SANITIZE}>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all>)
  if(CUTPOINT_SANITIZE MATCHES undefined)
    # The vptr check reads memory through a pipe and reports an error when it cannot open one; some tests use up all descriptors.
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=vptr>)
  endif()
  add_link_options(-fsanitize=${CUTPOINT_SANITIZE})
endif()
