# Warnings for our own code, as errors. Link `cutpoint_warnings` privately to every target of ours.
add_library(cutpoint_warnings INTERFACE)
target_compile_options(cutpoint_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
    -Wold-style-cast -Wcast-qual -Wimplicit-fallthrough -Werror>
  $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings -Xcompiler=-Wall,-Wextra,-Werror>)
