// Tests that secret keys are read, named and kept apart from text and core dumps.
#include <fstream>
#include <sstream>

#include <cutpoint/secret_key.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/algorithms/secrets.h"
#include "tests/host/algorithms/chunkers.h"
#include "tests/host/hash/sha256.h"
#include "tests/host/io/temporary_folder.h"

namespace cutpoint::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view key_names[] = {"toeplitz-aes", "rabin-aes", "toeplitz128-aes", "borg2-toeplitz-aes",
                                          "borg2-rabin-aes"};

secret_key key_of(std::uint8_t seed) {
  std::array<std::uint8_t, secret_key::byte_count> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(seed + 7 * i);
  return secret_key(bytes);
}

std::string digits_of(const secret_key& key) { return fmt::format("{:02x}", fmt::join(key.bytes(), "")); }

TEST(secret_key, is_named_by_the_beginning_of_a_labelled_sha256) {
  const secret_key key = key_of(1);
  std::string text = "cutpoint phte";
  for (const std::uint8_t byte : key.bytes()) text += static_cast<char>(byte);
  EXPECT_EQ(key.fingerprint(), sha256_hex(as_bytes(text)).substr(0, 16));
  EXPECT_EQ(secret_key().fingerprint(), "09408fecf594e2b1");
  EXPECT_TRUE(key == key_of(1) && !(key == key_of(2)) && !(key == secret_key()));
}

/// Returns the flags that the kernel shows of the pages at an address.
std::string page_flags(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  bool is_here = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t first = 0;
    std::uintptr_t last = 0;
    char dash = 0;
    std::istringstream fields(line);
    if (fields >> std::hex >> first >> dash >> last && dash == '-') {
      const auto place = reinterpret_cast<std::uintptr_t>(address);
      is_here = first <= place && place < last;
    }
    if (is_here && line.starts_with("VmFlags:")) return line;
  }
  return {};
}

/// Whether the system leaves pages out of core dumps when asked to, and shows it. QEMU does not for the programs that it emulates.
bool leaves_out_pages() {
  const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* page = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  const bool is_asked = ::madvise(page, size, MADV_DONTDUMP) == 0;
  const bool is_shown = page_flags(page).find(" dd") != std::string::npos;
  ::munmap(page, size);
  return is_asked && is_shown;
}

TEST(secret_key, lies_in_pages_that_core_dumps_leave_out) {
  if (!leaves_out_pages()) GTEST_SKIP() << "this system does not leave pages out of core dumps, or does not show it";
  const secret_key key = key_of(3);
  EXPECT_THAT(page_flags(key.bytes().data()), HasSubstr(" dd"));
  const std::vector<std::uint8_t> other(100'000);
  EXPECT_THAT(page_flags(other.data()), Not(HasSubstr(" dd")));
}

TEST(secret_key, is_read_from_bytes_and_from_digits) {
  const temporary_folder folder;
  const std::string path = folder.path() + "/key";
  const secret_key key = key_of(5);
  const std::string bytes(reinterpret_cast<const char*>(key.bytes().data()), secret_key::byte_count);
  const auto read = [&](const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
    return read_secret_key(path);
  };
  for (const std::string& content : {bytes, digits_of(key), digits_of(key) + "\n", digits_of(key) + "\r\n"}) {
    const auto read_key = read(content);
    ASSERT_TRUE(read_key.ok()) << read_key.error().message();
    EXPECT_TRUE(*read_key == key);
  }
  for (const std::string& content :
       {std::string(), bytes.substr(1), bytes + "x", digits_of(key).substr(1), digits_of(key) + "0",
        digits_of(key) + "\n\n", digits_of(key) + " \n", "x" + digits_of(key).substr(1)}) {
    const auto read_key = read(content);
    ASSERT_FALSE(read_key.ok()) << content.size();
    EXPECT_EQ(read_key.error().code(), status_code::invalid_argument);
    EXPECT_EQ(read_key.error().message(), path + ": a key is 32 bytes or 64 hexadecimal digits");
  }
  const auto none = read_secret_key(folder.path() + "/none");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code(), status_code::io_error);
  EXPECT_THAT(none.error().message(), HasSubstr("/none: No such file"));
}

TEST(secret_key, is_never_in_text) {
  const secret_key key = key_of(9);
  for (const std::string_view name : key_names) {
    const auto cuts = make_chunker(name, {}, key);
    ASSERT_TRUE(cuts.ok()) << cuts.error().message();
    EXPECT_TRUE(cuts->warnings.empty());
    EXPECT_THAT(cuts->chunker.canonical(), HasSubstr(",key=" + key.fingerprint() + ")"));
    EXPECT_THAT(cuts->chunker.canonical(), Not(HasSubstr(digits_of(key).substr(0, 8))));
    for (const std::optional<secret_key>& user_key : {std::optional<secret_key>(), std::optional(key)}) {
      const auto refused = make_chunker(name, settings_of("key=" + digits_of(key)), user_key);
      ASSERT_FALSE(refused.ok());
      EXPECT_THAT(refused.error().message(), HasSubstr("key is not the fingerprint of the key that was given"));
      EXPECT_THAT(refused.error().message(), Not(HasSubstr(digits_of(key))));
    }
  }
}

TEST(secret_key, is_needed_to_read_a_canonical_string) {
  const secret_key key = key_of(11);
  for (const std::string_view name : key_names) {
    const chunker cuts = make_chunker(name, settings_of("min_exp=6,mask_bits=8,max_exp=10"), key)->chunker;
    const auto again = parse_canonical(cuts.canonical(), key);
    ASSERT_TRUE(again.ok()) << again.error().message();
    EXPECT_EQ(again->canonical(), cuts.canonical());
    EXPECT_EQ(again->parameters(), cuts.parameters());
    for (const std::optional<secret_key>& other : {std::optional<secret_key>(), std::optional(key_of(12))}) {
      const auto refused = parse_canonical(cuts.canonical(), other);
      ASSERT_FALSE(refused.ok()) << name;
      EXPECT_EQ(refused.error().code(), status_code::invalid_argument);
      EXPECT_THAT(refused.error().message(), HasSubstr("key is not the fingerprint of the key that was given"));
    }
  }
}

TEST(secret_key, that_is_missing_is_a_warning_and_one_too_many_an_error) {
  for (const std::string_view name : key_names) {
    EXPECT_THAT(make_chunker(name, {})->warnings,
                testing::ElementsAre(std::string(name) + " has no key: its cuts hide nothing"));
  }
  for (const std::string_view name : {"gear", "borg2-fastcdc"}) {
    const auto refused = make_chunker(name, {}, key_of(1));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().message(), std::string(name) + ": the algorithm takes no secret key");
  }
}

TEST(secret_key, changes_the_cuts_by_each_of_its_bits) {
  seeded_choices random(13);
  const auto stream = make_stream(content::random, 20'000, random);
  for (const std::string_view name : key_names) {
    const auto lengths = [&](const secret_key& key) {
      return lengths_of(
          make_chunker(name, settings_of("min_exp=6,mask_bits=7,max_exp=10"), key)->chunker.find_cuts(stream));
    };
    const auto expected = lengths(secret_key());
    for (std::size_t bit = 0; bit < 256; bit += 15) {
      std::array<std::uint8_t, secret_key::byte_count> bytes = {};
      bytes[bit / 8] = static_cast<std::uint8_t>(1 << (bit % 8));
      EXPECT_NE(lengths(secret_key(bytes)), expected) << name << ", bit " << bit;
    }
  }
}

}  // namespace
}  // namespace cutpoint::tests
