// Tests every kernel against known cuts of 18 MiB (tests/data): random bytes, zeros and a short period, of even and of
// odd length.
#include "tests/host/algorithms/golden_cuts.h"
#include "tests/simd/cuts/kernel_cases.h"

namespace cutpoint::tests {
namespace {

std::vector<std::string> golden_names_with_kernels() {
  std::vector<std::string> names = golden_names();
  std::erase_if(names, [](const std::string& name) { return !has_kernels(name.substr(0, name.find(' '))); });
  return names;
}

class golden_kernel : public on_every_set<std::string> {};

TEST_P(golden_kernel, cuts_are_made_exactly) {
  const auto cuts = golden_chunker(of());
  ASSERT_TRUE(cuts.ok()) << cuts.error().message();
  if (set() == simd::instruction_set::avx512_dl && on_set(*cuts, set()).scanner() == nullptr) {
    GTEST_SKIP() << "no scanner";
  }
  for (const std::string& input : golden_inputs_of(of())) {
    if (input == "D1") continue;  // random bytes only; the other inputs have enough
    EXPECT_EQ(golden_fault(of(), input, by_kernel(*cuts)), "");
  }
}

INSTANTIATE_TEST_SUITE_P(of_every_kernel, golden_kernel,
                         testing::Combine(testing::ValuesIn(golden_names_with_kernels()), testing::ValuesIn(cut_sets)),
                         set_case_name);

class phte_golden_kernel : public testing::TestWithParam<simd::instruction_set> {};

TEST_P(phte_golden_kernel, cuts_are_made_exactly) {
  if (const std::string reason = why_not_here(GetParam()); !reason.empty()) GTEST_SKIP() << reason;
  for (std::size_t number = 0; number < phte_golden_count(); ++number) {
    const chunker cuts = on_set(phte_golden_chunker(number), GetParam());
    ASSERT_EQ(cuts.backend(), to_string(GetParam()));
    EXPECT_EQ(phte_golden_fault(number, cuts), "");
  }
}

INSTANTIATE_TEST_SUITE_P(of_every_kernel, phte_golden_kernel, testing::ValuesIn(cut_sets),
                         [](const auto& tested) { return test_name(to_string(tested.param)); });

}  // namespace
}  // namespace cutpoint::tests
