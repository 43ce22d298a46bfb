# Compiler settings of the layers. Others link them into shared libraries, so the code is position independent, and its names are hidden:
# calls between hidden functions stay direct.
function(cutpoint_layer target)
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden
    CUDA_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# For sources with loops of a few instructions for each byte, which take up to twice the time where they cross a cache line. Whether they
# do changes with everything that is linked before them. GCC aligns loops that are entered by a jump as it does other targets of jumps.
set(cutpoint_aligned_loops -falign-loops=64 $<$<CXX_COMPILER_ID:GNU>:-falign-jumps=64>)
