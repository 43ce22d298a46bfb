// Tests of the ring: its two mappings, and memory that is prepared in huge pages.
#include "pipeline/schedule/ring.h"

#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/host/support/value_of.h"

namespace cutpoint::tests {
namespace {

constexpr std::uint64_t huge_page = 2 * MiB;

/// Returns the bytes of this process's shared memory that are mapped as huge pages.
std::uint64_t huge_bytes() {
  std::ifstream maps("/proc/self/smaps");
  std::uint64_t bytes = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.starts_with("ShmemPmdMapped:")) bytes += std::stoull(line.substr(line.find(':') + 1)) * KiB;
  }
  return bytes;
}

/// Whether the system makes huge pages of a file in memory.
bool collapses_pages() {
  const int file = ::memfd_create("probe", MFD_CLOEXEC);
  if (file < 0 || ::ftruncate(file, huge_page) != 0) return false;
  void* reserved = ::mmap(nullptr, 2 * huge_page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reserved == MAP_FAILED) return false;
  auto* const page = static_cast<std::uint8_t*>(reserved) + -reinterpret_cast<std::uintptr_t>(reserved) % huge_page;
  bool done = ::mmap(page, huge_page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED;
  ::close(file);
  if (done) *page = 1;
  done = done && ::madvise(page, huge_page, 25 /* MADV_COLLAPSE */) == 0;
  ::munmap(reserved, 2 * huge_page);
  return done;
}

TEST(ring, is_contiguous_over_its_end) {
  ring memory = value_of(ring::make(5000));
  EXPECT_EQ(memory.size() % 4096, 0u);
  for (std::uint64_t i = 0; i < 3 * memory.size(); ++i) {
    *memory.at(i) = static_cast<std::uint8_t>(i * 7);
    if (i < 100) continue;
    const byte_span last = memory.bytes(i - 99, i + 1);
    ASSERT_EQ(last.front(), static_cast<std::uint8_t>((i - 99) * 7));
    ASSERT_EQ(last.back(), static_cast<std::uint8_t>(i * 7));
  }
}

/// Where the system does not map memory for the second time, the ring says what its file met.
TEST(ring, needs_no_file) {
  constexpr std::pair<int, std::string_view> limits[] = {
      {RLIMIT_NOFILE, "a ring of 8K: cannot be mapped: Too many open files (the limit of open files, ulimit -n, is 0)"},
      {RLIMIT_FSIZE,
       "a ring of 8K: cannot be mapped: File too large (the limit of file sizes, ulimit -f, is 0 bytes)"}};
  for (const auto& [resource, message] : limits) {
    rlimit old = {};
    ASSERT_EQ(::getrlimit(resource, &old), 0);
    const rlimit none = {.rlim_cur = 0, .rlim_max = old.rlim_max};
    ASSERT_EQ(::setrlimit(resource, &none), 0);
    auto small = ring::make(5000);
    ASSERT_EQ(::setrlimit(resource, &old), 0);
    if (small.ok()) {
      *small->at(100) = 7;
      EXPECT_EQ(small->at(0)[small->size() + 100], 7);
    } else {
      EXPECT_EQ(small.error().code(), status_code::memory_limit);
      EXPECT_EQ(small.error().message(), message);
    }
  }
}

TEST(ring, keeps_what_is_written_when_it_is_prepared) {
  ring memory = *ring::make(5 * huge_page / 2);
  for (std::uint64_t i = 0; i < memory.size(); ++i) *memory.at(i) = static_cast<std::uint8_t>(i % 251);
  for (std::uint64_t last = 0; last < 2 * memory.size(); last += huge_page / 3) memory.prepare(last);
  for (std::uint64_t i = 0; i < 2 * memory.size(); ++i) ASSERT_EQ(memory.at(0)[i], i % memory.size() % 251);
}

TEST(ring, prepares_huge_pages_as_far_as_asked) {
  if (!collapses_pages()) GTEST_SKIP() << "the system makes no huge pages of a file in memory";
  ring memory = *ring::make(7 * huge_page / 2);
  const std::uint64_t before = huge_bytes();
  memory.prepare(0);
  EXPECT_EQ(huge_bytes() - before, 0u);
  memory.prepare(1);
  EXPECT_EQ(huge_bytes() - before, huge_page);
  memory.prepare(2 * huge_page);
  EXPECT_EQ(huge_bytes() - before, 2 * huge_page);
  memory.prepare(3 * memory.size());
  EXPECT_EQ(huge_bytes() - before, 3 * huge_page);  // the rest is less than a huge page
}

TEST(ring, of_bytes_in_memory_needs_no_preparation) {
  const std::string bytes(3 * huge_page, 'x');
  ring memory = ring::over({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  memory.prepare(bytes.size());
  EXPECT_EQ(*memory.at(bytes.size() - 1), 'x');
}

}  // namespace
}  // namespace cutpoint::tests
