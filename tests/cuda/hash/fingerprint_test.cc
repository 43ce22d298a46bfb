// Tests the fingerprint kernels on the host against the fingerprints of host/ and against published vectors.
#include <numeric>
#include <span>

#include <cutpoint/bytes.h>
#include <cutpoint/fingerprint.h>
#include <gtest/gtest.h>

#include "cuda/hash/blake3.h"
#include "cuda/hash/chunk_hash_kernel.h"
#include "cuda/hash/sha1.h"
#include "cuda/hash/sha256.h"
#include "cuda/host_double/host_block.h"
#include "tests/host/hash/blake3_vectors.h"

namespace cutpoint::cuda {

/// Chunks without gaps. The first begins `offset` bytes after position 0. The buffer ends at the next multiple of 16
/// after the last chunk; bytes outside chunks are 0xff.
class packed_chunks {
 public:
  packed_chunks(std::vector<std::uint32_t> lengths, std::size_t offset)
      : lengths_(std::move(lengths)), begins_(lengths_.size()), order_(lengths_.size()) {
    std::exclusive_scan(lengths_.begin(), lengths_.end(), begins_.begin(), std::uint64_t{offset});
    const std::uint64_t end = lengths_.empty() ? offset : begins_.back() + lengths_.back();
    memory_.assign((end + sizeof(bytes16) - 1) / sizeof(bytes16), bytes16{{~0u, ~0u, ~0u, ~0u}});
    std::iota(order_.begin(), order_.end(), std::uint32_t{0});
    std::ranges::stable_sort(order_, std::greater(), [&](std::uint32_t i) { return lengths_[i]; });
    std::mt19937_64 random(size());
    fill([&](std::size_t) { return static_cast<std::uint8_t>(random()); });
  }

  /// Shuffles the order in which chunks are hashed. By default it is by descending length.
  void shuffle_order(std::uint64_t seed) { std::shuffle(order_.begin(), order_.end(), std::mt19937_64(seed)); }

  /// Fills each chunk with byte_at(0), byte_at(1), ... At first they have random bytes.
  template <class ByteAt>
  void fill(ByteAt byte_at) {
    for (std::size_t i = 0; i < size(); ++i) {
      std::uint8_t* const begin = reinterpret_cast<std::uint8_t*>(memory_.data()) + begins_[i];
      for (std::size_t index = 0; index < lengths_[i]; ++index) begin[index] = byte_at(index);
    }
  }

  [[nodiscard]] std::size_t size() const { return lengths_.size(); }
  [[nodiscard]] std::span<const std::uint32_t> lengths() const { return lengths_; }
  [[nodiscard]] byte_span chunk(std::size_t i) const { return {bytes() + begins_[i], lengths_[i]}; }

  /// Returns the arguments of a hash kernel. `chunk_count` must be the number of chunks and outlive the kernel.
  [[nodiscard]] hash_args args(const std::uint32_t& chunk_count, std::uint8_t* digests) const {
    return {bytes(), begins_.data(), lengths_.data(), order_.data(), &chunk_count, digests};
  }

 private:
  [[nodiscard]] const std::uint8_t* bytes() const { return reinterpret_cast<const std::uint8_t*>(memory_.data()); }

  std::vector<std::uint32_t> lengths_;
  std::vector<std::uint64_t> begins_;
  std::vector<std::uint32_t> order_;
  std::vector<bytes16> memory_;
};

/// Returns the digests that host/ makes, one after the other.
inline std::vector<std::uint8_t> host_digests(const fingerprint_recipe& recipe, const packed_chunks& chunks) {
  auto fingerprint = fingerprinter::make(recipe).value();
  std::vector<std::uint8_t> digests;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const digest value = fingerprint(chunks.chunk(i)).value();
    digests.insert(digests.end(), value.view().begin(), value.view().end());
  }
  return digests;
}

/// Returns lengths near 0, a word, a message block with its padding, a leaf, and the steps in which messages are
/// staged.
inline std::vector<std::uint32_t> edge_chunk_lengths() {
  return {0,   1,   3,   4,   15,  16,  17,  55,   56,   57,   63,   64,   65,   111,  112,   119,    120,  127,
          128, 129, 183, 184, 191, 192, 255, 1023, 1024, 1025, 2047, 2048, 2049, 3072, 65536, 100001, 5000, 0};
}

namespace {

template <class Kernel>
void run_kernel(const typename Kernel::arguments& args, host_launch launch) {
  launch.shared_bytes = Kernel::shared_bytes(launch.thread_count);
  const auto faults = run_on_host(launch, [&](auto& block) { Kernel{}(block, args); });
  for (const std::string& fault : faults) ADD_FAILURE() << fault;
}

/// A fingerprint and the kernels that make its digests.
struct hash {
  std::string name;
  fingerprint_recipe recipe;
  std::uint32_t threads_per_block;  // on a device
  std::uint32_t digest_bytes;
  void (*run)(const hash& which, const packed_chunks& chunks, const hash_args& args, const host_launch& launch);
};

template <class Kernel>
void run_sha(const hash&, const packed_chunks&, const hash_args& args, const host_launch& launch) {
  run_kernel<Kernel>(args, launch);
}

void run_blake3(const hash& which, const packed_chunks& chunks, const hash_args& args, const host_launch& launch) {
  constexpr std::uint32_t garbage = 0xbadbadba;
  std::vector<std::uint32_t> first_leaves{0};
  for (const std::uint32_t length : chunks.lengths()) {
    first_leaves.push_back(first_leaves.back() + blake3_leaf_count(length));
  }
  std::vector<std::uint32_t> chaining_values(std::size_t{first_leaves.back()} * 8, garbage);
  blake3_args all{.chunks = args, .first_leaves = first_leaves.data(), .chaining_values = chaining_values.data()};
  all.chunks.order = nullptr;
  const blake3::start start_state = blake3::start_of(which.recipe.key);
  std::copy(start_state.key.begin(), start_state.key.end(), all.key);
  all.flags = start_state.flags;
  run_kernel<blake3_leaves_kernel>(all, launch);
  run_kernel<blake3_parents_kernel>(all, launch);
}

fingerprint_key vector_key() {
  fingerprint_key key = {};
  std::copy(tests::blake3_vector_key.begin(), tests::blake3_vector_key.end(), key.begin());
  return key;
}

const hash sha1_hash{"sha1", fingerprint_kind::sha1, sha1_kernel::threads_per_block, sha1_kernel::digest_bytes,
                     run_sha<sha1_kernel>};
const hash sha256_hash{"sha256", fingerprint_kind::sha256, sha256_kernel::threads_per_block,
                       sha256_kernel::digest_bytes, run_sha<sha256_kernel>};
const hash blake3_hash{"blake3", fingerprint_kind::blake3, blake3_leaves_kernel::threads_per_block,
                       blake3::digest_bytes, run_blake3};
const hash keyed_blake3_hash{"keyed_blake3",
                             {fingerprint_kind::blake3, vector_key()},
                             blake3_leaves_kernel::threads_per_block,
                             blake3::digest_bytes,
                             run_blake3};

/// Makes digests with the kernels. Fills the memory with garbage before, and checks that no byte around the digests
/// changes.
std::vector<std::uint8_t> kernel_digests(const hash& which, const packed_chunks& chunks, const host_launch& launch) {
  constexpr std::size_t margin = 64;
  constexpr std::uint8_t garbage = 0x5b;
  const auto chunk_count = static_cast<std::uint32_t>(chunks.size());
  const std::size_t size = chunks.size() * which.digest_bytes;
  std::vector<std::uint8_t> memory(margin + size + margin, garbage);
  which.run(which, chunks, chunks.args(chunk_count, memory.data() + margin), launch);
  const std::vector<std::uint8_t> untouched(margin, garbage);
  EXPECT_TRUE(std::equal(untouched.begin(), untouched.end(), memory.begin()));
  EXPECT_TRUE(std::equal(untouched.begin(), untouched.end(), memory.end() - margin));
  return {memory.begin() + margin, memory.end() - margin};
}

void expect_host_digests(const hash& which, const packed_chunks& chunks, const host_launch& launch) {
  const auto expected = host_digests(which.recipe, chunks);
  const auto actual = kernel_digests(which, chunks, launch);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const auto begin = static_cast<std::ptrdiff_t>(i * which.digest_bytes);
    EXPECT_TRUE(
        std::equal(actual.begin() + begin, actual.begin() + begin + which.digest_bytes, expected.begin() + begin))
        << "chunk " << i << " of " << chunks.lengths()[i] << " bytes";
  }
}

/// Returns mostly short lengths; one in 64 is up to 20000 bytes.
std::vector<std::uint32_t> random_lengths(std::size_t count) {
  std::mt19937_64 random(count);
  std::vector<std::uint32_t> lengths(count);
  for (std::uint32_t& length : lengths)
    length = static_cast<std::uint32_t>(random() % (random() % 64 == 0 ? 20000 : 400));
  return lengths;
}

class fingerprint_kernels : public testing::TestWithParam<hash> {};

TEST_P(fingerprint_kernels, equal_the_host_in_any_thread_order) {
  const packed_chunks chunks(edge_chunk_lengths(), 0);
  for (const thread_order& order : {thread_order::forward(), thread_order::reversed(), thread_order::shuffled(1),
                                    thread_order::shuffled(2), thread_order::shuffled(3)}) {
    expect_host_digests(GetParam(), chunks, {.thread_count = GetParam().threads_per_block, .order = order});
  }
}

TEST_P(fingerprint_kernels, ignore_block_size_and_block_count) {
  const packed_chunks chunks(edge_chunk_lengths(), 5);
  for (const std::uint32_t threads : {32u, 64u, 96u, 256u}) {
    for (const std::uint32_t blocks : {1u, 3u, 40u}) {
      expect_host_digests(GetParam(), chunks,
                          {.block_count = blocks, .thread_count = threads, .order = thread_order::shuffled(threads)});
    }
  }
}

TEST_P(fingerprint_kernels, ignore_alignment) {
  for (std::size_t offset = 0; offset <= 17; ++offset) {
    for (const std::uint32_t length : edge_chunk_lengths()) {
      if (length > 5000) continue;
      expect_host_digests(GetParam(), packed_chunks({length}, offset), {.thread_count = 32});
    }
  }
}

TEST_P(fingerprint_kernels, equal_the_host_over_thousands_of_chunks) {
  const packed_chunks chunks(random_lengths(5000), 3);
  for (const thread_order& order : {thread_order::forward(), thread_order::reversed(), thread_order::shuffled(4)}) {
    expect_host_digests(GetParam(), chunks,
                        {.block_count = 7, .thread_count = GetParam().threads_per_block, .order = order});
  }
}

TEST_P(fingerprint_kernels, ignore_the_order_of_the_chunks) {
  packed_chunks chunks(random_lengths(1000), 9);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    chunks.shuffle_order(seed);
    expect_host_digests(GetParam(), chunks, {.block_count = 2, .thread_count = 64});
  }
}

TEST_P(fingerprint_kernels, write_nothing_where_there_is_no_chunk) {
  for (const std::uint32_t blocks : {1u, 3u}) {
    EXPECT_TRUE(kernel_digests(GetParam(), packed_chunks({}, 0), {.block_count = blocks}).empty());
  }
}

INSTANTIATE_TEST_SUITE_P(, fingerprint_kernels, testing::Values(sha1_hash, sha256_hash, blake3_hash, keyed_blake3_hash),
                         [](const auto& each) { return each.param.name; });

TEST(blake3_kernels, equal_the_published_vectors) {
  std::vector<std::uint32_t> lengths;
  for (const auto& vector : tests::blake3_vectors) lengths.push_back(static_cast<std::uint32_t>(vector.size));
  packed_chunks chunks(lengths, 0);
  chunks.fill([](std::size_t index) { return static_cast<std::uint8_t>(index % 251); });
  for (const hash& which : {blake3_hash, keyed_blake3_hash}) {
    const auto digests = kernel_digests(which, chunks, {.block_count = 2, .thread_count = 64});
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      digest value;
      value.size = blake3::digest_bytes;
      std::copy_n(digests.begin() + static_cast<std::ptrdiff_t>(i * value.size), value.size, value.bytes.begin());
      const auto& vector = tests::blake3_vectors[i];
      EXPECT_EQ(to_hex(value), which.recipe.key ? vector.keyed_hash : vector.hash) << vector.size << " bytes";
    }
  }
}

TEST(blake3_kernels, find_the_chunks_of_leaves_among_chunks_of_any_number) {
  for (const std::uint32_t count : {1u, 2u, 31u, 32u, 33u, 63u, 65u, 1023u, 1024u, 1025u, 1500u}) {
    std::vector<std::uint32_t> lengths(count, 1);
    lengths[count / 2] = 40 * blake3::leaf_bytes + 1;  // more leaves than a warp has lanes
    expect_host_digests(blake3_hash, packed_chunks(lengths, 1), {.block_count = 2, .thread_count = 64});
  }
}

// Hashing a message of gigabytes takes too long here, so this tests only its padding.

TEST(sha_padding, of_the_longest_message_has_its_length_in_bits) {
  constexpr std::uint32_t longest = 0xffffffff;
  EXPECT_EQ(sha1_kernel::block_count(longest), (std::uint32_t{1} << 26) + 1);
  message_words words;
  std::fill(std::begin(words), std::end(words), 0x61626364);
  sha1_kernel::pad(words, longest / 64, longest);
  EXPECT_EQ(std::vector(words, words + 15), std::vector<std::uint32_t>(15, 0x61626364));
  EXPECT_EQ(words[15], 0x61626380u);
  sha1_kernel::pad(words, longest / 64 + 1, longest);
  EXPECT_EQ(std::vector(words, words + 14), std::vector<std::uint32_t>(14, 0));
  EXPECT_EQ(std::uint64_t{words[14]} << 32 | words[15], std::uint64_t{longest} * 8);
}

TEST(blake3_leaf_count, covers_every_length) {
  EXPECT_EQ(blake3_leaf_count(0), 1u);
  EXPECT_EQ(blake3_leaf_count(1), 1u);
  EXPECT_EQ(blake3_leaf_count(1024), 1u);
  EXPECT_EQ(blake3_leaf_count(1025), 2u);
  EXPECT_EQ(blake3_leaf_count(0xffffffff), std::uint32_t{1} << 22);
}

}  // namespace
}  // namespace cutpoint::cuda
