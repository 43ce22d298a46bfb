# Warnings for our own code, as errors unless CUTPOINT_WERROR is off (for a compiler that is newer than we are). Link
# `cutpoint_warnings` privately to every target of ours.
add_library(cutpoint_warnings INTERFACE)
target_compile_options(cutpoint_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
    -Wold-style-cast -Wcast-qual -Wimplicit-fallthrough $<$<BOOL:${CUTPOINT_WERROR}>:-Werror>>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra
    $<$<BOOL:${CUTPOINT_WERROR}>:-Werror=all-warnings;-Xcompiler=-Werror>>)
