// Tests that pages of secrets are erased before they are freed. The program takes the place of the system's functions that
// mark and free pages, and looks at the pages before they go.
#include <cstddef>
#include <numeric>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/streams.h"

namespace {

/// Pages that core dumps leave out are those of secrets. The lengths in bytes, by address.
std::map<void*, std::size_t>* watched_pages = nullptr;
std::size_t erased_count = 0;
std::size_t dirty_count = 0;

bool is_zero(const void* pages, std::size_t byte_count) {
  const auto* const bytes = static_cast<const unsigned char*>(pages);
  return std::accumulate(bytes, bytes + byte_count, 0U, [](unsigned a, unsigned b) { return a | b; }) == 0;
}

}  // namespace

extern "C" int madvise(void* pages, std::size_t byte_count, int advice) noexcept {
  if (watched_pages != nullptr && advice == MADV_DONTDUMP) (*watched_pages)[pages] = byte_count;
  return static_cast<int>(::syscall(SYS_madvise, pages, byte_count, advice));
}

extern "C" int munmap(void* pages, std::size_t byte_count) noexcept {
  if (watched_pages != nullptr && watched_pages->erase(pages) != 0) {
    ++(is_zero(pages, byte_count) ? erased_count : dirty_count);
  }
  return static_cast<int>(::syscall(SYS_munmap, pages, byte_count));
}

namespace cutpoint::tests {
namespace {

class secret_pages : public testing::Test {
 protected:
  void SetUp() override {
    static_cast<void>(catalog());  // it keeps chunkers with the key of zeros
    erased_count = dirty_count = 0;
    watched_pages = &pages_;
  }
  void TearDown() override { watched_pages = nullptr; }

  /// The number of pages' ranges that exist and have bytes other than zero.
  [[nodiscard]] std::size_t secrets() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(pages_, [](const auto& each) { return !is_zero(each.first, each.second); }));
  }
  static secret_key key() {
    std::array<std::uint8_t, secret_key::byte_count> bytes;
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
    return secret_key(bytes);
  }

  std::map<void*, std::size_t> pages_;
};

TEST_F(secret_pages, of_a_key_are_erased_with_its_last_copy) {
  std::optional<secret_key> first = key();
  std::optional<secret_key> copy = first;
  first.reset();
  EXPECT_EQ(secrets(), 1u);
  EXPECT_EQ(erased_count, 0u);
  copy.reset();
  EXPECT_TRUE(pages_.empty());
  EXPECT_EQ(erased_count, 1u);
  EXPECT_EQ(dirty_count, 0u);
}

TEST_F(secret_pages, of_chunkers_are_erased_when_these_go) {
  seeded_choices random(3);
  const std::vector<std::uint8_t> stream = make_stream(content::random, 100'000, random);
  for (const std::string_view name : {"toeplitz-aes", "rabin-aes", "toeplitz128-aes"}) {
    {
      const auto cuts = make_chunker(name, settings_of("min_exp=8,mask_bits=10,max_exp=14"), key());
      ASSERT_TRUE(cuts.ok()) << cuts.error().message();
      EXPECT_GT(cuts->chunker.find_cuts(stream).size(), 50u);
      EXPECT_GE(secrets(), 2u) << name << ": the key, and what is drawn from it";
      EXPECT_EQ(cuts->chunker.canonical().empty(), false);
    }
    EXPECT_TRUE(pages_.empty()) << name;
    EXPECT_GE(erased_count, 3u) << name << ": the key stream, too";
    EXPECT_EQ(dirty_count, 0u) << name;
  }
}

TEST_F(secret_pages, that_were_not_erased_would_be_seen) {
  void* const pages = ::mmap(nullptr, 100, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  ::madvise(pages, 100, MADV_DONTDUMP);
  static_cast<unsigned char*>(pages)[99] = 1;
  EXPECT_EQ(secrets(), 1u);
  ::munmap(pages, 100);
  EXPECT_EQ(dirty_count, 1u);
}

}  // namespace
}  // namespace cutpoint::tests
