// Tests the kernels against known cuts (tests/data): on the host over 10 MiB of each input (random bytes, zeros and a
// short period, of an odd length), and on a device, if there is one, over the whole inputs. tests/host tests the
// references against the same cuts.
#include "tests/host/algorithms/golden_cuts.h"

#include <iostream>

#include <gtest/gtest.h>

#include "cuda/cut/all_specifications.h"
#include "tests/cuda/support/cut_harness.h"
#include "tests/cuda/support/first_device.h"
#include "tests/cuda/support/packed_streams.h"
#include "tests/host/algorithms/golden_inputs.h"

namespace cutpoint::cuda {
namespace {

TEST(golden_slices, are_cut_as_the_reference_cuts_them) {
  std::size_t tested = 0;
  for (const std::string& name : tests::golden_names()) {
    const auto reference = tests::golden_chunker(name);
    ASSERT_TRUE(reference.ok()) << reference.error().message();
    std::visit(
        [&]<class Parameters>(const Parameters& filled) {
          if constexpr (requires { make_specification(filled); }) {
            const byte_span stream = tests::golden_input("D3").subspan(8 * MiB);
            expect_reference_cuts(make_specification(filled), *reference, {{.stream = stream, .shown = stream.size()}},
                                  {.partition_bytes = 256 * KiB, .threads = 256, .order = thread_order::shuffled(1)});
            ++tested;
          } else {
            std::cout << "skipped, for devices cannot cut by it: " << name << '\n';
          }
        },
        reference->parameters());
  }
  EXPECT_GT(tested, 0u);
}

TEST_F(on_first_device, golden_inputs_are_cut_and_fingerprinted_as_the_references_do) {
  packed_streams inputs;
  for (const char* name : {"D1", "D2", "D3"}) inputs.add(tests::golden_input(name));
  for (const std::string& name : tests::golden_names()) {
    SCOPED_TRACE(name);
    const auto reference = tests::golden_chunker(name);
    ASSERT_TRUE(reference.ok()) << reference.error().message();
    if (!has_specification(*reference)) continue;
    auto offload = make_offload(0, *reference, fingerprint_kind::sha1,
                                {.bytes = inputs.byte_count(), .stream_ranges = inputs.stream_ranges.size()});
    ASSERT_TRUE(offload.ok()) << offload.error().message();
    batch_output found;
    const status ran = (*offload)->run(inputs.input(), found);
    ASSERT_TRUE(ran.ok()) << ran.message();
    ASSERT_TRUE(found.is_complete);
    ASSERT_NO_FATAL_FAILURE(expect_streams(found, inputs, *reference, fingerprint_kind::sha1));
  }
}

}  // namespace
}  // namespace cutpoint::cuda
