// Tests the references against known cuts of 32 and 18 MiB (tests/data).
#include <gtest/gtest.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/algorithms/golden_cuts.h"

namespace cutpoint::tests {
namespace {

class golden : public testing::TestWithParam<std::string> {};

TEST_P(golden, cuts_are_made_exactly) {
  const auto cuts = golden_chunker(GetParam());
  ASSERT_TRUE(cuts.ok()) << cuts.error().message();
  for (const std::string& input : golden_inputs_of(GetParam())) EXPECT_EQ(golden_fault(GetParam(), input, *cuts), "");
}

INSTANTIATE_TEST_SUITE_P(entry, golden, testing::ValuesIn(golden_names()), catalog_test_name);

TEST(phte_golden, cuts_are_made_exactly) {
  for (std::size_t number = 0; number < phte_golden_count(); ++number) {
    EXPECT_EQ(phte_golden_fault(number, phte_golden_chunker(number)), "");
  }
  EXPECT_EQ(phte_golden_count(), 55u);
}

TEST(golden_inputs, are_the_bytes_that_were_cut) {
  for (const std::string input : {"D1", "D2", "D3"}) EXPECT_EQ(golden_input_fault(input), "");
}

}  // namespace
}  // namespace cutpoint::tests
