// Choices made from the bytes of a fuzzer.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include <cutpoint/bytes.h>

#include "tests/host/support/choices.h"

namespace cutpoint::tests {

/// Takes two bytes for each choice, or zeros if none are left.
class fuzzed_choices final : public choices {
 public:
  explicit fuzzed_choices(byte_span bytes) : rest_(bytes) {}
  std::uint64_t word() override { return byte() * 256 + byte(); }
  byte_span rest() const { return rest_; }

 private:
  std::uint64_t byte() {
    if (rest_.empty()) return 0;
    const std::uint64_t first = rest_.front();
    rest_ = rest_.subspan(1);
    return first;
  }

  byte_span rest_;
};

// Checks for fuzz targets, which print what is wrong and abort.

inline void require(bool holds, const std::string& claim) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", claim.c_str());
  std::abort();
}

inline void require_no_fault(const std::string& fault) { require(fault.empty(), fault); }

}  // namespace cutpoint::tests
