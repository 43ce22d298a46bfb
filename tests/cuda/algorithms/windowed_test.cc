// Tests the kernels of windowed algorithms on the host: scans, cut finders and partitions, against the references.
#include <gtest/gtest.h>

#include "cuda/algorithms/all_specifications.h"
#include "tests/cuda/support/random_batches.h"
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
    expect_reference_cuts(make_specification(std::get<TypeParam>(reference->parameters())), *reference, streams.parts(),
                          random_partitioning(random));
  }
}

}  // namespace
}  // namespace cutpoint::cuda
