// Tests the kernels of walking algorithms, of `maxp` and of `mincdc` on the host: cuts in partitions, against the references.
#include <gtest/gtest.h>

#include "cuda/algorithms/all_specifications.h"
#include "host/tables/ronomon_gear31.h"
#include "tests/cuda/support/packed_streams.h"
#include "tests/host/support/tiny_parameters.h"

namespace cutpoint::cuda {
namespace {

using tests::choices;
using tests::seeded_choices;

/// Draws parameters around the sizes of vectors, warp loads and steps. Those of `tiny_parameters` are below a warp
/// load.
void draw_larger(ae_parameters& p, choices& random) {
  p.window_bytes = random.between(1, 3000);
  p.avg_bytes = random.between(1, 4000);
  p.max_bytes = random.once_in(3) ? 0 : p.avg_bytes + random.between(0, 6000);
  p.value_bytes = random.once_in(2) ? 8 : 1;
  if (*p.window_bytes >= 2 && random.once_in(3)) p.lest = random.between(2, *p.window_bytes);
  p.extreme = random.one_of(ae_extreme::minimum);
}

void draw_larger(fixed_parameters& p, choices& random) { p.avg_bytes = random.between(1, 5000); }

void draw_larger(maxp_parameters& p, choices& random) {
  p.half_window = random.once_in(3)   ? random.between(1, 140)
                  : random.once_in(2) ? random.between(120, 1200)
                                      : random.between(1000, 6000);
  p.avg_bytes = *p.half_window + random.between(0, 2000);
  if (random.once_in(2)) p.min_bytes = random.between(0, p.avg_bytes);
  p.max_bytes = random.once_in(3) ? 0 : p.avg_bytes + random.between(0, 8000);
}

void draw_larger(mincdc_parameters& p, choices& random) {
  p.min_bytes = random.between(0, 300);
  p.max_bytes = *p.min_bytes + random.between(1, random.once_in(2) ? 300 : 6000);
  p.avg_bytes = (*p.min_bytes + *p.max_bytes + 1) / 2;
  p.multiplier = random.once_in(3) ? 1 : (random.word() & 0xffffffff) | 1;
  p.addend = p.multiplier == 1 ? 0 : random.word() & 0xffffffff;
}

void draw_larger(ram_parameters& p, choices& random) {
  p.window_bytes = random.between(1, 3000);
  p.avg_bytes = random.between(1, 4000);
  p.max_bytes = random.once_in(3) ? 0 : p.avg_bytes + random.between(0, 3000);
}

void draw_larger(repmaxcdc_parameters& p, choices& random) {
  p.min_bytes = random.between(64, 1500);
  p.horizon_bytes = random.between(0, random.once_in(2) ? 12'000 : 1500);
}

void draw_larger(ronomon_parameters& p, choices& random) {
  p.avg_bytes = random.between(256, 5000);
  p.min_bytes = random.between(64, p.avg_bytes);
  p.max_bytes = random.between(std::max<std::uint64_t>(1024, p.avg_bytes), 12'000);
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
Parameters drawn_parameters(choices& random) {
  Parameters p;
  if (random.once_in(2)) return std::get<Parameters>(tests::tiny_parameters(algorithm_parameters(p).index(), random));
  draw_larger(p, random);
  return p;
}

template <class Parameters>
class walking : public testing::Test {};

using walkers = testing::Types<ae_parameters, fixed_parameters, maxp_parameters, mincdc_parameters, ram_parameters,
                               repmaxcdc_parameters, ronomon_parameters, seqcdc_parameters>;
TYPED_TEST_SUITE(walking, walkers);

/// Tests random batches with the seeds from `first_seed` on. Their streams have up to `longest` bytes.
template <class Parameters>
void expect_reference_cuts_of_batches(std::uint64_t first_seed, std::uint64_t count, std::uint64_t longest) {
  for (std::uint64_t seed = first_seed; seed < first_seed + count && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    seeded_choices random(seed);
    const Parameters parameters = drawn_parameters<Parameters>(random);
    const drawn_streams streams(longest, random);
    expect_reference_cuts(parameters, streams.shown(), random_partitioning(random));
  }
}

TYPED_TEST(walking, cuts_short_streams_as_the_reference_does) {
  expect_reference_cuts_of_batches<TypeParam>(1, 2000, 300);
}

TYPED_TEST(walking, cuts_streams_of_some_steps_as_the_reference_does) {
  expect_reference_cuts_of_batches<TypeParam>(10'000, 200, 20'000);
}

/// Returns random bytes of at most 100 with rising sequences in between.
std::vector<std::uint8_t> with_ramps(std::uint64_t size, choices& random) {
  std::vector<std::uint8_t> bytes(size);
  for (std::uint64_t i = 0; i < size;) {
    for (std::uint64_t count = random.between(1, 1500); count != 0 && i < size; --count) {
      bytes[i++] = static_cast<std::uint8_t>(random.between(0, 100));
    }
    const std::uint64_t steps = random.between(1, 250);
    for (std::uint64_t step = 0; step <= steps && i < size; ++step) bytes[i++] = static_cast<std::uint8_t>(step);
  }
  return bytes;
}

TEST(walking_seqcdc, ends_runs_that_go_on_over_lanes_and_rows) {
  for (std::uint64_t seed = 1; seed <= 500 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    seeded_choices random(seed);
    seqcdc_parameters p;
    p.seq_length = random.between(8, 255);
    p.min_bytes = *p.seq_length + random.between(1, 600);
    p.avg_bytes = *p.min_bytes;
    p.max_bytes = 0;
    p.skip_trigger = random.once_in(2) ? 0 : random.between(100, 1000);
    p.skip_size = random.between(0, 1500);
    expect_reference_cuts(p, with_ramps(random.between(1, 20'000), random), random_partitioning(random));
  }
}

/// Returns random bytes with runs in between. The runs have bytes whose table entry t makes the hash stay at 2t or at
/// 2t - 1, depending on the bytes before. With an average of 256, the loose mask cuts at one of these two values.
std::vector<std::uint8_t> with_runs_between_two_hashes(std::uint64_t size, choices& random) {
  std::vector<std::uint8_t> bytes;
  while (bytes.size() < size) {
    for (std::uint64_t count = random.between(1, 300); count != 0; --count) {
      bytes.push_back(static_cast<std::uint8_t>(random.word()));
    }
    auto byte = static_cast<std::uint8_t>(random.word());
    while ((2 * tables::ronomon_gear31[byte] & 0x7f) != 0) ++byte;
    bytes.insert(bytes.end(), random.between(1, 3000), byte);
  }
  bytes.resize(size);
  return bytes;
}

TEST(walking_ronomon, settles_hashes_that_do_not_draw_together) {
  for (std::uint64_t seed = 1; seed <= 200 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    seeded_choices random(seed);
    const ronomon_parameters p{.avg_bytes = 256, .min_bytes = random.between(64, 256), .max_bytes = 5000};
    const auto stream = with_runs_between_two_hashes(random.between(1, 20'000), random);
    expect_reference_cuts(p, stream, random_partitioning(random));
  }
}

TEST(maxp_scan, looks_at_nothing_past_the_buffer_whatever_its_last_word_has) {
  const maxp_parameters p{.avg_bytes = 256, .min_bytes = 1, .half_window = 127};
  for (std::uint64_t size = 1; size <= 400; ++size) {
    std::vector<std::uint8_t> stream(size);  // zeros, which equal the padding past the buffer
    expect_reference_cuts(p, stream);
    stream[size / 2] = 1;
    expect_reference_cuts(p, stream);
  }
}

}  // namespace
}  // namespace cutpoint::cuda
