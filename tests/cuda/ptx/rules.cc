// Fails each test that breaks a rule of CUDA, or leaves something on the interpreted device.
#include <gtest/gtest.h>

#include "tests/cuda/ptx/device.h"

namespace cutpoint::ptx {
namespace {

class rules final : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo&) override {
    for (const std::string& fault : device::instance().end_of_test()) ADD_FAILURE() << fault;
  }
};

[[maybe_unused]] const bool is_added = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new rules);
  return true;
}();

}  // namespace
}  // namespace cutpoint::ptx
