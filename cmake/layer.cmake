# Compiler settings of the layers. Others link them into shared libraries, so the code is position independent, and its names are hidden:
# calls between hidden functions stay direct.
function(cutpoint_layer target)
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden
    CUDA_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
endfunction()
