// Batches of fingerprints when there is no memory left: all that this program allocates, OpenSSL's too, can be refused from
// the n-th allocation on.
#include <algorithm>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <cutpoint/fingerprint.h>
#include <gtest/gtest.h>
#include <openssl/crypto.h>

#include "simd/fingerprints.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

/// How many allocations are granted before all are refused; nothing: all are granted.
std::optional<std::uint64_t> granted;
std::uint64_t refused_count = 0;

bool is_refused() noexcept {
  if (!granted) return false;
  if (*granted == 0) {
    ++refused_count;
    return true;
  }
  --*granted;
  return false;
}

void* allocate(std::size_t size, std::size_t alignment) noexcept {
  if (is_refused()) return nullptr;
  const std::size_t rounded = (std::max<std::size_t>(1, size) + alignment - 1) / alignment * alignment;
  return std::aligned_alloc(alignment, rounded);
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  void* const made = allocate(size, alignment);
  if (made == nullptr) throw std::bad_alloc();
  return made;
}

/// While there is one, allocations after the first `count` are refused.
class short_memory {
 public:
  explicit short_memory(std::uint64_t count) {
    refused_count = 0;
    granted = count;
  }
  ~short_memory() { granted.reset(); }
  short_memory(const short_memory&) = delete;
  short_memory& operator=(const short_memory&) = delete;

  [[nodiscard]] static bool has_refused() { return refused_count > 0; }
};

}  // namespace
}  // namespace cutpoint::tests

using cutpoint::tests::allocate;
using cutpoint::tests::allocate_or_throw;
constexpr std::size_t usual_alignment = alignof(std::max_align_t);

void* operator new(std::size_t size) { return allocate_or_throw(size, usual_alignment); }
void* operator new[](std::size_t size) { return allocate_or_throw(size, usual_alignment); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, usual_alignment); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, usual_alignment); }
void* operator new(std::size_t size, std::align_val_t to) { return allocate_or_throw(size, std::size_t(to)); }
void* operator new[](std::size_t size, std::align_val_t to) { return allocate_or_throw(size, std::size_t(to)); }
void operator delete(void* bytes) noexcept { std::free(bytes); }
void operator delete[](void* bytes) noexcept { std::free(bytes); }
void operator delete(void* bytes, std::size_t) noexcept { std::free(bytes); }
void operator delete[](void* bytes, std::size_t) noexcept { std::free(bytes); }
void operator delete(void* bytes, std::align_val_t) noexcept { std::free(bytes); }
void operator delete[](void* bytes, std::align_val_t) noexcept { std::free(bytes); }
void operator delete(void* bytes, std::size_t, std::align_val_t) noexcept { std::free(bytes); }
void operator delete[](void* bytes, std::size_t, std::align_val_t) noexcept { std::free(bytes); }

namespace cutpoint::tests {
namespace {

using simd::instruction_set;

using batch_case = std::tuple<fingerprint_kind, instruction_set>;

std::string case_name(const testing::TestParamInfo<batch_case>& info) {
  const auto [kind, set] = info.param;
  return std::string(fingerprints()[static_cast<std::size_t>(kind)].name) + "_" + std::string(to_string(set));
}

class batches_without_memory : public testing::TestWithParam<batch_case> {
 protected:
  void SetUp() override {
    if (!simd::runs_here(set())) GTEST_SKIP() << "this machine does not run " << to_string(set());
    seeded_choices random(1);
    bytes_ = make_stream(content::random, 3'000'000, random);
    for (int i = 0; i < 300; ++i) add(random.between(0, 20'000));
    if (kind() == fingerprint_kind::blake3) {  // trees that are joined from pieces
      add(1'500'000);
      add(3'000'000);
    }
    for (int i = 0; i < 50; ++i) add(random.between(0, 3000));
    add(1'000'000);  // as long as all the others: the library makes it, since most lanes would idle
    fingerprinter one_by_one = *fingerprinter::make(kind());
    for (const byte_span& m : messages_) expected_.push_back(*one_by_one(m));
  }

  std::unique_ptr<fingerprint_batch> make() const { return simd::make_fingerprint_batch(kind(), set()); }

  /// Submits all that memory is there for, and gives how many these are.
  std::size_t submit_to(fingerprint_batch& batch, std::vector<digest>& into) const {
    std::size_t count = 0;
    try {
      for (; count < messages_.size(); ++count) batch.submit(messages_[count], into[count]);
    } catch (const std::bad_alloc&) {
    }
    return count;
  }

  void expect_right(fingerprint_batch& batch) const {
    std::vector<digest> made(messages_.size());
    EXPECT_EQ(submit_to(batch, made), messages_.size());
    EXPECT_TRUE(batch.flush().ok());
    EXPECT_EQ(made, expected_);
  }

  fingerprint_kind kind() const { return std::get<0>(GetParam()); }
  instruction_set set() const { return std::get<1>(GetParam()); }

  std::vector<std::uint8_t> bytes_;
  std::vector<byte_span> messages_;
  std::vector<digest> expected_;

 private:
  void add(std::size_t size) { messages_.push_back(byte_span(bytes_).last(size)); }
};

INSTANTIATE_TEST_SUITE_P(all, batches_without_memory,
                         testing::Combine(testing::Values(fingerprint_kind::sha1, fingerprint_kind::sha256,
                                                          fingerprint_kind::blake3),
                                          testing::ValuesIn(simd::instruction_sets)),
                         case_name);

TEST_P(batches_without_memory, make_what_was_submitted_and_are_right_later) {
  bool was_refused = true;
  for (std::uint64_t count = 0; was_refused; ++count) {
    const auto batch = make();
    std::vector<digest> made(messages_.size());
    std::size_t submitted = 0;
    status flushed;
    bool has_thrown = false;
    {
      const short_memory none_after(count);
      submitted = submit_to(*batch, made);
      try {
        flushed = batch->flush();
      } catch (...) {
        has_thrown = true;
      }
      was_refused = short_memory::has_refused();
    }
    ASSERT_FALSE(has_thrown) << "from allocation " << count << " on";
    EXPECT_TRUE(flushed.ok()) << flushed.message();
    EXPECT_TRUE(std::equal(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(submitted), expected_.begin()))
        << "from allocation " << count << " on";
    expect_right(*batch);
  }
}

TEST_P(batches_without_memory, are_made_whole_or_not_at_all) {
  std::unique_ptr<fingerprint_batch> batch;
  for (std::uint64_t count = 0; batch == nullptr; ++count) {
    const short_memory none_after(count);
    try {
      batch = make();
    } catch (const std::bad_alloc&) {
    }
  }
  expect_right(*batch);
}

}  // namespace
}  // namespace cutpoint::tests

namespace {

void* openssl_allocate(std::size_t size, const char*, int) { return allocate(size, usual_alignment); }
void* openssl_reallocate(void* bytes, std::size_t size, const char*, int) {
  return cutpoint::tests::is_refused() ? nullptr : std::realloc(bytes, size);
}
void openssl_free(void* bytes, const char*, int) { std::free(bytes); }

}  // namespace

int main(int argc, char** argv) {
  if (CRYPTO_set_mem_functions(openssl_allocate, openssl_reallocate, openssl_free) != 1) return 2;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
