# What the layers are compiled as: parts of libraries that others link into what is theirs, shared ones too, and that show
# nothing of their inside there. Hidden names cost a shared library nothing: calls stay direct.
function(cutpoint_layer target)
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden
    CUDA_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
endfunction()
