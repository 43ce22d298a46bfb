// The parameters of kernel tests: each runs on every instruction set and is skipped if the set cannot run here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <system_error>
#include <tuple>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/simd/support/kernel_faults.h"

namespace cutpoint::tests {

/// Parameters and their name in tests.
struct named_settings {
  std::string_view test;
  std::string_view name;
  std::string_view settings;
};
inline void PrintTo(const named_settings& settings, std::ostream* out) {
  *out << settings.name << " with " << settings.settings;
}

/// Returns the alternatives of `algorithm_parameters` that have kernels.
inline std::vector<algorithm_case> kernel_algorithms(int rounds) {
  std::vector<algorithm_case> cases = algorithm_cases(rounds);
  std::erase_if(cases, [](const algorithm_case& c) { return !has_kernels(algorithm_name(c.which)); });
  return cases;
}

/// A test of `Of` (an algorithm_case, or a type with a name) on one instruction set.
template <class Of>
class on_every_set : public testing::TestWithParam<std::tuple<Of, simd::instruction_set>> {
 protected:
  void SetUp() override {
    if (const std::string reason = why_not_here(set()); !reason.empty()) GTEST_SKIP() << reason;
  }

  [[nodiscard]] const Of& of() const { return std::get<0>(this->GetParam()); }
  [[nodiscard]] simd::instruction_set set() const { return std::get<1>(this->GetParam()); }

  /// Returns the chunker with the kernel under test. Fails the test if it has the reference instead.
  [[nodiscard]] chunker by_kernel(const chunker& cuts) const {
    chunker placed = on_set(cuts, set());
    EXPECT_EQ(placed.backend(), to_string(set())) << cuts.canonical();
    return placed;
  }
};

inline std::string name_of_case(const algorithm_case& algorithm) { return algorithm_name(algorithm.which); }
inline std::string name_of_case(const std::string& name) { return test_name(name); }
inline std::string name_of_case(const named_settings& settings) { return std::string(settings.test); }

inline constexpr auto set_case_name = [](const auto& info) {
  return name_of_case(std::get<0>(info.param)) + "_" + test_name(std::string(to_string(std::get<1>(info.param))));
};

// Bytes between two pages that cannot be accessed.

class guarded_pages {
 public:
  explicit guarded_pages(std::size_t pages) : size_((pages + 2) * page_bytes()) {
    void* const mapped = mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    begin_ = static_cast<std::uint8_t*>(mapped);
    if (mprotect(bytes().data(), bytes().size(), PROT_READ | PROT_WRITE) != 0) {
      throw std::system_error(errno, std::generic_category(), "mprotect");
    }
  }
  ~guarded_pages() { munmap(begin_, size_); }
  guarded_pages(const guarded_pages&) = delete;
  guarded_pages& operator=(const guarded_pages&) = delete;

  [[nodiscard]] std::span<std::uint8_t> bytes() const { return {begin_ + page_bytes(), size_ - 2 * page_bytes()}; }

 private:
  static std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

  std::uint8_t* begin_ = nullptr;
  std::size_t size_;
};

}  // namespace cutpoint::tests
