// Errors are values here, and most steps are nothing but steps that may fail.
#pragma once

#include <cutpoint/status.h>

/// Returns the status of an expression from the enclosing function unless it is ok.
#define CUTPOINT_RETURN_IF_FAILED(expression) \
  if (::cutpoint::status failed_status = (expression); !failed_status.ok()) return failed_status
