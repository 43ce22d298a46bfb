// Algorithms without candidates: their cutters on the host, in slices, against the references.
#include <gtest/gtest.h>

#include "cuda/schemes.h"
#include "tests/cuda/support/drawn_batches.h"
#include "tests/host/support/tiny_parameters.h"

namespace cutpoint::cuda {
namespace {

using tests::choices;
using tests::seeded_choices;

/// Parameters around the sizes of units, rows and steps, where `tiny_parameters` stays below a row.
void draw_larger(ram_parameters& p, choices& random) {
  p.window_bytes = random.between(1, 3000);
  p.avg_bytes = random.between(1, 4000);
  p.max_bytes = random.once_in(3) ? 0 : p.avg_bytes + random.between(0, 3000);
}

void draw_larger(seqcdc_parameters& p, choices& random) {
  p.seq_length = random.once_in(2) ? random.between(1, 255) : random.between(1, 40);
  p.min_bytes = *p.seq_length + random.between(1, 1200);
  p.avg_bytes = *p.min_bytes + random.between(0, 1000);
  p.max_bytes = random.once_in(3) ? 0 : p.avg_bytes + random.between(0, 3000);
  p.skip_trigger = random.once_in(5) ? 0 : random.between(1, random.once_in(2) ? 60 : 700);
  p.skip_size = random.between(0, random.once_in(2) ? 40 : 4000);
  p.order = random.one_of(seqcdc_order::decreasing);
}

template <class Parameters>
algorithm_parameters drawn_parameters(choices& random) {
  if (random.once_in(2)) return tests::tiny_parameters(algorithm_parameters(Parameters{}).index(), random);
  Parameters p;
  draw_larger(p, random);
  return p;
}

template <class Parameters>
class walking : public testing::Test {};

using walkers = testing::Types<ram_parameters, seqcdc_parameters>;
TYPED_TEST_SUITE(walking, walkers);

/// Batches drawn by the seeds from `first_seed` on, of streams of up to `longest` bytes.
template <class Parameters>
void expect_reference_cuts_of_batches(std::uint64_t first_seed, std::uint64_t count, std::uint64_t longest) {
  for (std::uint64_t seed = first_seed; seed < first_seed + count && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    seeded_choices random(seed);
    const auto reference = chunker::make(drawn_parameters<Parameters>(random));
    ASSERT_TRUE(reference.ok()) << reference.error().message();
    const drawn_streams streams(longest, random);
    expect_reference_cuts(make_scheme(std::get<Parameters>(reference->parameters())), *reference, streams.parts(),
                          drawn_slicing(random));
  }
}

TYPED_TEST(walking, cuts_short_streams_as_the_reference_does) {
  expect_reference_cuts_of_batches<TypeParam>(1, 2000, 300);
}

TYPED_TEST(walking, cuts_streams_of_some_steps_as_the_reference_does) {
  expect_reference_cuts_of_batches<TypeParam>(10'000, 200, 20'000);
}

}  // namespace
}  // namespace cutpoint::cuda
