# Sanitizers are a property of the whole build: mixing instrumented and plain objects hides errors.
if(CUTPOINT_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${CUTPOINT_SANITIZE}>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all>)
  add_link_options(-fsanitize=${CUTPOINT_SANITIZE})
endif()
