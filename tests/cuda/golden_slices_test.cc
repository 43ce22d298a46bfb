// The entries of known cuts (tests/data) by the kernels' own source on the host, over 10 MiB of their input: random bytes,
// zeros and a short period, of an odd length. That the reference cuts as the entries say is tested in tests/host.
#include <gtest/gtest.h>

#include "cuda/schemes.h"
#include "tests/cuda/support/slices_harness.h"
#include "tests/host/golden_cuts.h"
#include "tests/host/golden_inputs.h"

namespace cutpoint::cuda {
namespace {

TEST(golden_slices, are_cut_as_the_reference_cuts_them) {
  std::size_t tested = 0;
  for (const std::string& name : tests::golden_names()) {
    const auto reference = tests::golden_chunker(name);
    ASSERT_TRUE(reference.ok()) << reference.error().message();
    std::visit(
        [&]<class Parameters>(const Parameters& filled) {
          const byte_span stream = tests::golden_input("D3").subspan(8 * MiB);
          expect_reference_cuts(make_scheme(filled), *reference, {{.stream = stream, .shown = stream.size()}},
                                {.slice_bytes = 256 * KiB, .threads = 256, .order = thread_order::shuffled(1)});
          ++tested;
        },
        reference->parameters());
  }
  EXPECT_GT(tested, 0u);
}

}  // namespace
}  // namespace cutpoint::cuda
