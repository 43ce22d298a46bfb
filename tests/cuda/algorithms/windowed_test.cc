// Tests the kernels of windowed algorithms on the host: scans, cut finders and partitions, against the references.
#include <gtest/gtest.h>

#include "cuda/algorithms/all_specifications.h"
#include "tests/cuda/support/random_batches.h"
#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/planted_cuts.h"
#include "tests/host/support/streams.h"
#include "tests/host/support/tiny_parameters.h"

namespace cutpoint::cuda {
namespace {

using tests::seeded_choices;

template <class Parameters>
class specification : public testing::Test {};

using with_specifications =
    testing::Types<adler_parameters, borg1_parameters, borg2_fastcdc_parameters, buzhash_parameters, crc32_parameters,
                   fastcdc_parameters, gear_parameters, rabin_inck_parameters, rabin_parameters, tttd_parameters>;
TYPED_TEST_SUITE(specification, with_specifications);

TYPED_TEST(specification, cuts_as_the_reference_does) {
  constexpr std::size_t which = algorithm_parameters(TypeParam{}).index();
  for (std::uint64_t seed = 1; seed <= 60 && !this->HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    seeded_choices random(seed);
    const auto reference = chunker::make(tests::tiny_parameters(which, random));
    ASSERT_TRUE(reference.ok()) << reference.error().message();
    const drawn_streams streams(random.once_in(4) ? 200 : 20'000, random);
    expect_reference_cuts(make_specification(std::get<TypeParam>(reference->parameters())), *reference, streams.shown(),
                          random_partitioning(random));
  }
}

TEST(casync_specification, cuts_where_the_residue_is_the_largest_for_a_large_average) {
  for (const tests::planted_cut& each : tests::planted_cuts) {
    const chunker reference = tests::chunker_of(each.name, each.settings);
    const auto stream = each.stream();
    ASSERT_EQ(reference.find_cuts(stream).size(), 2u);
    expect_reference_cuts(make_specification(std::get<buzhash_parameters>(reference.parameters())), reference,
                          {{.stream = stream, .shown = stream.size()}}, {});
  }
}

TEST(fastcdc_specification, cuts_as_the_reference_does_at_its_largest_sizes) {
  seeded_choices random(1);
  const auto stream = tests::make_stream(tests::content::random, 300'000, random);
  for (const std::string_view settings :
       {"min_bytes=64,avg_bytes=8M,max_bytes=64M", "min_bytes=64,avg_bytes=8M,max_bytes=0"}) {
    const chunker reference = tests::chunker_of("fastcdc", settings);
    expect_reference_cuts(make_specification(std::get<fastcdc_parameters>(reference.parameters())), reference,
                          {{.stream = stream, .shown = stream.size()}}, {});
  }
}

}  // namespace
}  // namespace cutpoint::cuda
