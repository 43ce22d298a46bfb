// Compares kernels with their references.
#include "tests/simd/support/kernel_faults.h"

#include <cutpoint/cut_cursor.h>
#include <fmt/format.h>

#include "simd/cuts/kernels.h"

namespace cutpoint::tests {

namespace {

/// Returns the reference's length of the chunk at `start`. Sets `fault` if the length by the kernel's loop or by its
/// scanner is different.
std::uint64_t compare_at(std::uint64_t start, cut_cursor& by_kernel, const chunker& by_reference, byte_span stream,
                         std::string& fault) {
  const stream_window window{.bytes = stream, .start = start, .at_end = true};
  const std::uint64_t expected = *by_reference.next_cut(window);
  std::uint64_t cut = *by_kernel.next_cut(window, start);
  // Without a scanner, the cursor has called the loop.
  if (cut == expected && by_kernel.cuts().scanner() != nullptr) cut = *by_kernel.cuts().next_cut(window);
  if (cut != expected) {
    fault = fmt::format("{} by {}: the chunk at {} of {} bytes has length {} instead of {}", by_reference.canonical(),
                        by_kernel.cuts().backend(), start, stream.size(), cut, expected);
  }
  return expected;
}

}  // namespace

bool has_kernels(std::string_view name) { return name != "fixed" && name != "repmaxcdc"; }

std::string why_not_here(simd::instruction_set set) {
  if (!simd::is_compiled(set)) return fmt::format("this build has no kernels for {}", to_string(set));
  if (!simd::runs_here(set)) return fmt::format("this machine does not run {}", to_string(set));
  return {};
}

chunker on_set(const chunker& cuts, simd::instruction_set set) {
  return cuts.by(simd::kernel_for(cuts.parameters(), set));
}

std::string cuts_fault(const chunker& by_kernel, byte_span stream) {
  const chunker by_reference = by_kernel.by(nullptr);
  cut_cursor cursor(by_kernel);
  std::string fault;
  for (std::uint64_t start = 0; start < stream.size() && fault.empty();) {
    start += compare_at(start, cursor, by_reference, stream, fault);
  }
  return fault;
}

std::string starts_fault(const chunker& by_kernel, byte_span stream, std::uint64_t step) {
  const chunker by_reference = by_kernel.by(nullptr);
  cut_cursor cursor(by_kernel);
  std::string fault;
  for (std::uint64_t start = 0; start < stream.size() && fault.empty(); start += step) {
    compare_at(start, cursor, by_reference, stream, fault);
  }
  return fault;
}

}  // namespace cutpoint::tests
