// Checks for fuzz targets, which print what is wrong and abort.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace cutpoint::tests {

inline void require(bool holds, const std::string& claim) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", claim.c_str());
  std::abort();
}

inline void require_no_fault(const std::string& fault) { require(fault.empty(), fault); }

}  // namespace cutpoint::tests
