// Tests `device_dedup` against a set that is filled digest by digest, and against the processor's index: over Thrust's C++ back end,
// where memory of the host stands for that of a device, and as `device_digest_table` on a device, interpreted or not.
#include <new>

#include <cutpoint/memory_index.h>
#include <cutpoint/status.h>
#include <gtest/gtest.h>

#ifdef THRUST_DEVICE_SYSTEM
#include <cutpoint/cuda_dedup.h>
#else
#include <cuda_runtime_api.h>
#include <cutpoint/cuda.h>

#include "tests/cuda/support/first_device.h"
#endif

#include "tests/cuda/support/counting_allocator.h"

namespace cutpoint::cuda {

// The table that is tested: `device_dedup` over Thrust's C++ back end, or the library's `device_digest_table`.

using raw_digest = std::string;
using batch = std::vector<raw_digest>;
using positions = std::vector<std::uint32_t>;

/// The digests one after the other, `lead` bytes after an aligned address.
inline std::vector<std::uint8_t> packed(const batch& digests, std::size_t lead) {
  std::vector<std::uint8_t> bytes(lead, 0xa5);
  for (const raw_digest& each : digests) bytes.insert(bytes.end(), each.begin(), each.end());
  return bytes;
}

#ifdef THRUST_DEVICE_SYSTEM

using device_dedup_test = testing::Test;

struct host_allocator {
  using value_type = char;

  char* allocate(std::ptrdiff_t size) {
    if (!count->add(size)) throw std::bad_alloc();
    return static_cast<char*>(::operator new(static_cast<std::size_t>(size)));
  }
  void deallocate(char* data, std::size_t size) {
    count->live_bytes -= static_cast<std::ptrdiff_t>(size);
    ::operator delete(data);
  }

  memory_count* count;
};

class tested_table {
 public:
  static result<tested_table> make(memory_count& memory, std::uint32_t digest_bytes) {
    auto allocator = std::make_unique<host_allocator>(host_allocator{&memory});
    auto table = device_dedup<policy>::make(thrust::device(*allocator), digest_bytes);
    if (!table) return table.error();
    return tested_table(std::move(allocator), *std::move(table));
  }
  result<positions> insert(const batch& digests, std::size_t lead = 0) {
    const std::vector<std::uint8_t> bytes = packed(digests, lead);
    positions new_chunks(digests.size(), 0xa5a5a5a5);
    const auto count =
        table_.insert(bytes.data() + lead, static_cast<std::uint32_t>(digests.size()), new_chunks.data());
    if (!count) return count.error();
    new_chunks.resize(*count);
    return new_chunks;
  }
  std::uint64_t size() const { return table_.size(); }

 private:
  using policy = decltype(thrust::device(std::declval<host_allocator&>()));

  tested_table(std::unique_ptr<host_allocator> allocator, device_dedup<policy> table)
      : allocator_(std::move(allocator)), table_(std::move(table)) {}

  std::unique_ptr<host_allocator> allocator_;
  device_dedup<policy> table_;
};

#else

using device_dedup_test = on_first_device;

/// Memory of the device, until the end of a scope.
class device_bytes {
 public:
  explicit device_bytes(std::size_t byte_count) { expect_ok(cudaMalloc(&data_, byte_count)); }
  device_bytes(const device_bytes&) = delete;
  device_bytes& operator=(const device_bytes&) = delete;
  ~device_bytes() { expect_ok(cudaFree(data_)); }
  [[nodiscard]] std::uint8_t* data() const { return static_cast<std::uint8_t*>(data_); }

 private:
  void* data_ = nullptr;
};

class tested_table {
 public:
  static result<tested_table> make(memory_count& memory, std::uint32_t digest_bytes) {
    auto allocator = std::make_unique<counting_allocator>(memory);
    auto table = device_digest_table::make(digest_bytes, nullptr, allocator.get());
    if (!table) return table.error();
    return tested_table(std::move(allocator), *std::move(table));
  }
  result<positions> insert(const batch& digests, std::size_t lead = 0) {
    const std::vector<std::uint8_t> bytes = packed(digests, lead);
    const device_bytes input(bytes.size());
    const device_bytes output(digests.size() * sizeof(std::uint32_t));
    // The copy is not waited for: the table has to wait.
    expect_ok(cudaMemcpyAsync(input.data(), bytes.data(), bytes.size(), cudaMemcpyDefault, nullptr));
    const auto count = table_.insert(input.data() + lead, static_cast<std::uint32_t>(digests.size()),
                                     reinterpret_cast<std::uint32_t*>(output.data()));
    expect_ok(cudaStreamSynchronize(nullptr));  // of an empty batch nobody waits
    if (!count) return count.error();
    positions new_chunks(*count);
    expect_ok(cudaMemcpy(new_chunks.data(), output.data(), *count * sizeof(std::uint32_t), cudaMemcpyDefault));
    return new_chunks;
  }
  std::uint64_t size() const { return table_.size(); }

 private:
  tested_table(std::unique_ptr<counting_allocator> allocator, device_digest_table table)
      : allocator_(std::move(allocator)), table_(std::move(table)) {}

  std::unique_ptr<counting_allocator> allocator_;
  device_digest_table table_;
};

#endif

namespace {

tested_table empty_table(memory_count& memory, std::uint32_t digest_bytes) {
  auto table = tested_table::make(memory, digest_bytes);
  EXPECT_TRUE(table.ok()) << table.error().message();
  return std::move(*table);
}

/// Inserts batches into a table and expects the answers of a set, and a table as large as the set.
void expect_answers_of_a_set(const std::vector<batch>& batches, std::uint32_t digest_bytes, std::size_t lead = 0) {
  memory_count memory;
  {
    tested_table table = empty_table(memory, digest_bytes);
    std::set<raw_digest> known;
    for (std::size_t i = 0; i < batches.size(); ++i) {
      positions expected;
      for (std::uint32_t at = 0; at < batches[i].size(); ++at) {
        if (known.insert(batches[i][at]).second) expected.push_back(at);
      }
      const auto inserted = table.insert(batches[i], lead);
      ASSERT_TRUE(inserted.ok()) << inserted.error().message();
      ASSERT_EQ(*inserted, expected) << "batch " << i << " of digests of " << digest_bytes << " bytes";
      ASSERT_EQ(table.size(), known.size());
    }
    EXPECT_EQ(memory.live_bytes, static_cast<std::int64_t>(32 * known.size()));
  }
  EXPECT_EQ(memory.live_bytes, 0);
}

std::vector<raw_digest> random_digests(std::size_t count, std::uint32_t digest_bytes, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<raw_digest> digests(count, raw_digest(digest_bytes, '\0'));
  for (raw_digest& each : digests) std::generate(each.begin(), each.end(), [&] { return static_cast<char>(random()); });
  return digests;
}

/// Draws `count` digests from a pool, so that many repeat.
batch drawn(const std::vector<raw_digest>& pool, std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  batch digests;
  for (std::size_t i = 0; i < count; ++i) digests.push_back(pool[random() % pool.size()]);
  return digests;
}

TEST_F(device_dedup_test, finds_the_first_of_random_digests_that_repeat) {
  for (const std::uint32_t digest_bytes : {20u, 32u, 16u, 1u}) {
    const auto pool = random_digests(3'000, digest_bytes, digest_bytes);
    std::vector<batch> batches;
    std::uint32_t seed = 0;
    for (const std::size_t count : {1u, 2u, 31u, 700u, 1u, 5'000u, 257u}) batches.push_back(drawn(pool, count, ++seed));
    ASSERT_NO_FATAL_FAILURE(expect_answers_of_a_set(batches, digest_bytes));
  }
}

TEST_F(device_dedup_test, reads_digests_at_any_address) {
  const auto pool = random_digests(40, 20, 1);
  for (std::size_t lead = 1; lead < 8; ++lead) {
    ASSERT_NO_FATAL_FAILURE(expect_answers_of_a_set({drawn(pool, 50, 2), drawn(pool, 50, 3)}, 20, lead));
  }
}

TEST_F(device_dedup_test, finds_one_of_equal_digests_and_all_of_distinct_ones_beside_empty_batches) {
  const batch equal(1'000, random_digests(1, 32, 1)[0]);
  expect_answers_of_a_set({equal, {}, equal, random_digests(2'000, 32, 2), random_digests(2'000, 32, 3), equal}, 32);
}

TEST_F(device_dedup_test, compares_every_byte) {
  for (const std::uint32_t digest_bytes : {20u, 32u}) {
    // Digests that differ in one byte alone, at every place: in pairs beside each other, in a batch, and against the table.
    const raw_digest base = random_digests(1, digest_bytes, 7)[0];
    batch digests{base};
    for (std::uint32_t at = 0; at < digest_bytes; ++at) {
      for (const int change : {0x01, 0x80}) {
        digests.push_back(base);
        digests.back()[at] = static_cast<char>(base[at] ^ change);
      }
    }
    batch twice = digests;
    twice.insert(twice.end(), digests.rbegin(), digests.rend());
    expect_answers_of_a_set({twice}, digest_bytes);
    const auto half = digests.begin() + static_cast<std::ptrdiff_t>(digests.size() / 2);
    expect_answers_of_a_set({batch(digests.begin(), half), twice}, digest_bytes);
  }
}

TEST_F(device_dedup_test, grows_over_batches) {
  const auto pool = random_digests(20'000, 20, 5);
  std::vector<batch> batches;
  for (std::uint32_t i = 0; i < 40; ++i) batches.push_back(drawn(pool, 100 * (1 + i % 7), i));
  expect_answers_of_a_set(batches, 20);
}

TEST_F(device_dedup_test, answers_as_the_index_of_the_processor) {
  for (const auto kind : {fingerprint_kind::sha1, fingerprint_kind::sha256, fingerprint_kind::blake3}) {
    auto print = *fingerprinter::make(kind);
    memory_index index(kind);
    memory_count memory;
    std::optional<tested_table> table;
    std::mt19937 random(1);
    for (int i = 0; i < 4; ++i) {
      std::vector<digest> digests;
      batch bytes;
      for (int n = 0; n < 800; ++n) {
        const auto content = static_cast<std::uint32_t>(random() % 2'000);
        digests.push_back(*print(byte_span(reinterpret_cast<const std::uint8_t*>(&content), sizeof content)));
        bytes.emplace_back(digests.back().view().begin(), digests.back().view().end());
      }
      std::vector<index_answer> answers(digests.size());
      ASSERT_TRUE(index.insert(digests, answers).ok());
      positions expected;
      for (std::uint32_t at = 0; at < answers.size(); ++at) {
        if (answers[at] == index_answer::absent) expected.push_back(at);
      }
      if (!table) table.emplace(empty_table(memory, digests[0].size));
      const auto inserted = table->insert(bytes);
      ASSERT_TRUE(inserted.ok()) << inserted.error().message();
      ASSERT_EQ(*inserted, expected);
      ASSERT_EQ(table->size(), index.size());
    }
  }
}

TEST_F(device_dedup_test, keeps_its_table_when_memory_runs_out) {
  const auto pool = random_digests(400, 32, 9);
  const batch first = drawn(pool, 200, 1);
  const batch second = drawn(pool, 300, 2);
  memory_count plenty;
  tested_table expected = empty_table(plenty, 32);
  ASSERT_TRUE(expected.insert(first).ok());
  const std::uint64_t size_before = expected.size();
  const positions new_chunks = *expected.insert(second);

  std::int64_t failures = 0;
  for (std::int64_t allocations = 0;; ++allocations) {
    memory_count memory;
    tested_table table = empty_table(memory, 32);
    ASSERT_TRUE(table.insert(first).ok());
    memory.allocations_left = allocations;
    const auto attempt = table.insert(second);
    memory.allocations_left = -1;
    if (attempt) {
      EXPECT_EQ(*attempt, new_chunks);
      break;
    }
    ++failures;
    EXPECT_EQ(attempt.error().code(), status_code::memory_limit);
    EXPECT_NE(attempt.error().message().find("300 digests"), std::string::npos) << attempt.error().message();
    ASSERT_EQ(table.size(), size_before);
    EXPECT_EQ(memory.live_bytes, static_cast<std::int64_t>(32 * size_before));
    const auto again = table.insert(second);
    ASSERT_TRUE(again.ok()) << again.error().message();
    ASSERT_EQ(*again, new_chunks);
  }
  EXPECT_GE(failures, 2);
}

TEST_F(device_dedup_test, refuses_digests_that_are_too_short_or_too_long) {
  memory_count memory;
  for (const std::uint32_t digest_bytes : {0u, 33u}) {
    const auto refused = tested_table::make(memory, digest_bytes);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code(), status_code::invalid_argument);
    EXPECT_EQ(refused.error().message(),
              "digest_bytes = " + std::to_string(digest_bytes) + " must be between 1 and 32");
  }
}

}  // namespace
}  // namespace cutpoint::cuda
