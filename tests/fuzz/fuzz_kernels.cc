// Fuzz target for kernels. The input chooses an algorithm, parameters and a stream. The kernels of every instruction
// set that runs here must cut as the reference does.
#include <algorithm>
#include <vector>

#include "tests/fuzz/fuzzed_choices.h"
#include "tests/host/support/streams.h"
#include "tests/simd/support/kernel_faults.h"

namespace cutpoint::tests {
namespace {

/// Returns the rest of the input, repeated several times, so that short inputs make streams of many vectors. The
/// allocation has the exact size, so that a sanitizer detects reads outside it.
std::vector<std::uint8_t> drawn_stream(fuzzed_choices& choices) {
  const std::uint64_t times = choices.between(1, 8);
  const byte_span block = choices.rest();
  std::vector<std::uint8_t> stream;
  stream.reserve(times * block.size());
  for (std::uint64_t i = 0; i < times; ++i) stream.insert(stream.end(), block.begin(), block.end());
  return stream;
}

/// Returns a stream that is long enough for a scanner: random bytes with copies of another stream.
std::vector<std::uint8_t> long_stream(const std::vector<std::uint8_t>& copied) {
  seeded_choices random(copied.size());
  const std::uint64_t size = 40'000 + random.between(0, 40'000) + 2 * copied.size();
  std::vector<std::uint8_t> stream = make_stream(content::random, size, random);
  for (int i = 0; i < 16; ++i) {
    const std::uint64_t place = random.between(0, stream.size() - copied.size());
    std::copy(copied.begin(), copied.end(), stream.begin() + static_cast<std::ptrdiff_t>(place));
  }
  return stream;
}

void check_kernels(byte_span input) {
  fuzzed_choices choices(input);
  const std::size_t which = choices.between(0, algorithm_count - 1);
  const auto chunker = chunker::make(kernel_parameters(which, choices));
  require(chunker.ok(), chunker.ok() ? "" : chunker.error().message());
  const std::vector<std::uint8_t> stream = drawn_stream(choices);
  for (const simd::instruction_set set : simd::instruction_sets) {
    if (!why_not_here(set).empty()) continue;
    const auto by_kernel = on_set(*chunker, set);
    if (by_kernel.backend() == "scalar") continue;
    require_no_fault(cuts_fault(by_kernel, stream));
    require_no_fault(starts_fault(by_kernel, stream, 1 + stream.size() / 64));
    if (by_kernel.scanner() != nullptr) require_no_fault(cuts_fault(by_kernel, long_stream(stream)));
  }
}

}  // namespace
}  // namespace cutpoint::tests

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  cutpoint::tests::check_kernels({data, size});
  return 0;
}
