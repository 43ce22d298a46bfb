// Tests the kernels against known cuts (tests/data): on the host over 10 MiB of each input (random bytes, zeros and a
// short period, of an odd length), and on a device, if there is one, over the whole inputs, or on the interpreted device
// (tests/cuda/ptx) over their beginnings. tests/host tests the references against the same cuts.
#include "tests/host/algorithms/golden_cuts.h"

#include <numeric>

#include <gtest/gtest.h>

#include "cuda/algorithms/all_specifications.h"
#include "tests/cuda/support/first_device.h"
#include "tests/cuda/support/packed_streams.h"

namespace cutpoint::cuda {
namespace {

#if !defined(CUTPOINT_INTERPRETED_DEVICE)
TEST(golden_slices, are_cut_as_the_reference_cuts_them) {
  std::size_t tested = 0;
  for (const std::string& name : tests::golden_names()) {
    const auto reference = tests::golden_chunker(name);
    ASSERT_TRUE(reference.ok()) << reference.error().message();
    std::visit(
        [&](const auto& filled) {
          const byte_span stream = tests::golden_input("D3").subspan(8 * MiB);
          expect_reference_cuts(make_specification(filled), *reference, {{.stream = stream, .shown = stream.size()}},
                                {.partition_bytes = 256 * KiB, .threads = 256, .order = thread_order::shuffled(1)});
          ++tested;
        },
        reference->parameters());
  }
  EXPECT_GT(tested, 0u);
}
#endif

#if defined(CUTPOINT_INTERPRETED_DEVICE)
constexpr std::uint64_t most_bytes = 1200 * KiB;  // of an input, since an interpreter is slow
#else
constexpr std::uint64_t most_bytes = unlimited;
#endif

/// Returns the inputs, or the bytes of the first known chunks of one of them.
packed_streams golden_inputs(const std::string& name) {
  packed_streams inputs;
  if (most_bytes == unlimited) {
    for (const char* each : {"D1", "D2", "D3"}) inputs.add(tests::golden_input(each));
  } else {
    const auto lengths = tests::golden_first_lengths(name, "D1");
    inputs.add(tests::golden_input("D1").first(std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0})));
  }
  return inputs;
}

TEST_F(on_first_device, golden_inputs_are_cut_and_fingerprinted_as_the_references_do) {
  std::size_t tested = 0;
  for (const std::string& name : tests::golden_names()) {
    SCOPED_TRACE(name);
    const packed_streams inputs = golden_inputs(name);
    if (inputs.byte_count() > most_bytes) continue;
    const auto reference = tests::golden_chunker(name);
    ASSERT_TRUE(reference.ok()) << reference.error().message();
    auto offload = make_offload(0, *reference, fingerprint_kind::sha1,
                                {.bytes = inputs.byte_count(), .stream_ranges = inputs.stream_ranges.size()});
    ASSERT_TRUE(offload.ok()) << offload.error().message();
    batch_output output;
    const status ran = (*offload)->run(inputs.input(), output);
    ASSERT_TRUE(ran.ok()) << ran.message();
    ASSERT_TRUE(output.is_complete);
    ASSERT_NO_FATAL_FAILURE(expect_streams(output, inputs, *reference, fingerprint_kind::sha1));
    const auto known = tests::golden_first_lengths(name, "D1");
    ASSERT_TRUE(std::equal(known.begin(), known.begin() + 3, output.lengths.begin()));  // the end may change later ones
    ++tested;
  }
  EXPECT_GT(tested, 30u);
}

}  // namespace
}  // namespace cutpoint::cuda
