// How a fuzz target says that something is wrong: it prints why and aborts.
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
