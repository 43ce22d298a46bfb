# Sanitizers are a property of the whole build: mixing instrumented and plain objects hides errors.
if(CUTPOINT_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${CUTPOINT_SANITIZE}>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all>)
  if(CUTPOINT_SANITIZE MATCHES undefined)
    # Its check of types reads memory through a pipe, and takes one that cannot be had for an error: tests run out of descriptors.
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=vptr>)
  endif()
  add_link_options(-fsanitize=${CUTPOINT_SANITIZE})
endif()
