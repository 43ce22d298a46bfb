// Tests that cuts and fingerprints are the sequential ones, whatever the lanes, segments, memory and feeding are.
#include "tests/pipeline/support/exactness.h"

#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/choices.h"

namespace cutpoint::tests {
namespace {

/// CUTPOINT_EXACTNESS_CASES sets the number of cases of each algorithm, and CUTPOINT_EXACTNESS_SEED selects other
/// cases.
class exact_join : public testing::TestWithParam<algorithm_case> {};

TEST_P(exact_join, gives_the_sequential_cuts_in_every_history) {
  const std::uint64_t count =
      from_environment("CUTPOINT_EXACTNESS_CASES", static_cast<std::uint64_t>(GetParam().rounds));
  const std::uint64_t first = from_environment("CUTPOINT_EXACTNESS_SEED", 1) * 1'000'000'007;
  for (std::uint64_t i = 0; i < count; ++i) {
    seeded_choices random(first + i * algorithm_count + GetParam().which);
    const std::string fault = exactness_fault(GetParam().which, random);
    ASSERT_EQ(fault, "") << "case " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(of_every_algorithm, exact_join, testing::ValuesIn(algorithm_cases(6'000)), case_name);

}  // namespace
}  // namespace cutpoint::tests
