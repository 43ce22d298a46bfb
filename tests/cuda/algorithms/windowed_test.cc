// Tests the kernels of windowed algorithms on the host: scans, cut finders and partitions, against the references.
#include <gtest/gtest.h>

#include "cuda/batch/batch_offload.h"
#include "tests/cuda/support/packed_streams.h"
#include "tests/host/algorithms/chunkers.h"

namespace cutpoint::cuda {
namespace {

using tests::seeded_choices;

template <class Parameters>
class specification : public testing::Test {};

using with_specifications =
    testing::Types<adler_parameters, borg1_parameters, borg2_fastcdc_parameters, buzhash_parameters, crc32_parameters,
                   fastcdc_parameters, gear_parameters, rabin_inck_parameters, rabin_aes_parameters, rabin_parameters,
                   toeplitz128_aes_parameters, toeplitz_aes_parameters, tttd_parameters>;
TYPED_TEST_SUITE(specification, with_specifications);

TYPED_TEST(specification, cuts_as_the_reference_does) {
  const std::size_t which = algorithm_parameters(TypeParam{}).index();
  for (std::uint64_t seed = 1; seed <= 60 && !this->HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    seeded_choices random(seed);
    const auto parameters = std::get<TypeParam>(tests::tiny_parameters(which, random));
    const drawn_streams streams(random.once_in(4) ? 200 : 20'000, random);
    expect_reference_cuts(parameters, streams.shown(), random_partitioning(random));
  }
}

TEST(cut_launcher, erases_a_table_of_secrets) {
  host_executor executor;
  for (const chunker& cuts : {tests::chunker_of("toeplitz128-aes", "min_exp=8,mask_bits=10,max_exp=14"),
                              tests::chunker_of("gear", "avg_bytes=1K")}) {
    const std::uint64_t before = host_executor::erased_bytes;
    executor = host_executor();
    ASSERT_TRUE(make_cut_launcher(executor, cuts).ok());
    const bool is_secret = cuts.canonical().starts_with("toeplitz");
    EXPECT_EQ(host_executor::erased_bytes - before, is_secret ? executor.allocated_bytes() : 0) << cuts.canonical();
  }
}

TEST(casync_specification, cuts_where_the_residue_is_the_largest_for_a_large_average) {
  for (const tests::planted_cut& each : tests::planted_cuts) {
    const chunker reference = tests::chunker_of(each.name, each.settings);
    ASSERT_EQ(reference.find_cuts(each.stream()).size(), 2u);
    expect_reference_cuts(std::get<buzhash_parameters>(reference.parameters()), each.stream());
  }
}

TEST(fastcdc_specification, cuts_as_the_reference_does_at_its_largest_sizes) {
  seeded_choices random(1);
  const auto stream = tests::make_stream(tests::content::random, 300'000, random);
  for (const std::uint64_t max_bytes : {64 * MiB, std::uint64_t{0}}) {
    expect_reference_cuts(fastcdc_parameters{.avg_bytes = 8 * MiB, .min_bytes = 64, .max_bytes = max_bytes}, stream);
  }
}

}  // namespace
}  // namespace cutpoint::cuda
