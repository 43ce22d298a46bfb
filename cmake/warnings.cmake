# Compiler warnings for our own code. They are errors unless CUTPOINT_WERROR is off, which a newer compiler may need. Link
# `cutpoint_warnings` privately to each of our targets.
add_library(cutpoint_warnings INTERFACE)
target_compile_options(cutpoint_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
    -Wold-style-cast -Wcast-qual -Wimplicit-fallthrough $<$<BOOL:${CUTPOINT_WERROR}>:-Werror>>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra
    $<$<BOOL:${CUTPOINT_WERROR}>:-Werror=all-warnings;-Xcompiler=-Werror>>)
