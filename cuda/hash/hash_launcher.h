// Puts the kernels that fingerprint a batch's chunks into an executor's stream.
#pragma once

#include <algorithm>
#include <utility>

#include <cutpoint/fingerprint.h>

#include "cuda/cut/cut_kernels.h"
#include "cuda/hash/blake3.h"
#include "cuda/hash/sha1.h"
#include "cuda/hash/sha256.h"
#include "cuda/return_if_failed.h"

namespace cutpoint::cuda {

/// A kernel of fingerprints with its arguments, for a launch with work for up to `most` threads.
template <class Kernel>
struct hash_kernel_launch {
  static constexpr std::uint32_t threads_per_block = Kernel::threads_per_block;
  typename Kernel::arguments args;
  std::uint64_t most = 0;

  [[nodiscard]] static std::size_t shared_bytes(std::uint32_t threads) { return Kernel::shared_bytes(threads); }
  [[nodiscard]] std::uint64_t blocks(std::uint32_t threads) const { return (most + threads - 1) / threads; }
  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block) const {
    Kernel{}(block, args);
  }
};

/// Counts the leaves of each chunk; 0 past the last chunk.
struct count_leaves_kernel {
  static constexpr std::uint32_t threads_per_block = 128;
  const std::uint32_t* lengths = nullptr;
  const std::uint32_t* chunk_count = nullptr;
  std::uint64_t max_chunks = 0;
  std::uint32_t* leaves = nullptr;  ///< [max_chunks], written

  [[nodiscard]] std::uint64_t blocks(std::uint32_t threads) const { return (max_chunks + threads - 1) / threads; }
  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block) const {
    block.for_each_thread([&](auto thread) {
      const std::uint64_t stride = std::uint64_t{block.count()} * block.thread_count();
      std::uint64_t i = std::uint64_t{block.index()} * block.thread_count() + thread.index();
      for (; i < max_chunks; i += stride) leaves[i] = i < *chunk_count ? blake3_leaf_count(lengths[i]) : 0;
    });
  }
};

template <class Executor>
class hash_launcher {
 public:
  /// A launcher that makes no digests.
  hash_launcher() = default;

  /// Allocates memory for batches of up to `max_bytes` and `max_chunks`. If devices do not make this kind of fingerprint, the
  /// launcher makes no digests.
  [[nodiscard]] static result<hash_launcher> make(Executor& executor, const fingerprint_recipe& recipe,
                                                  std::uint64_t max_bytes, std::uint64_t max_chunks) {
    hash_launcher made(recipe);
    if (made.digest_bytes() == 0) return result<hash_launcher>(std::move(made));
    const bool is_blake3 = recipe.kind == fingerprint_kind::blake3;
    const std::uint64_t max_leaves = is_blake3 ? max_bytes / blake3::leaf_bytes + max_chunks : 0;
    CUTPOINT_RETURN_IF_FAILED(
        store_result(executor.template allocate<std::uint8_t>(max_chunks * made.digest_bytes()), made.digests_));
    CUTPOINT_RETURN_IF_FAILED(
        store_result(executor.template allocate<std::uint32_t>(is_blake3 ? 0 : max_chunks), made.order_));
    CUTPOINT_RETURN_IF_FAILED(
        store_result(executor.template allocate<std::uint32_t>(is_blake3 ? 0 : max_chunks), made.sorted_));
    CUTPOINT_RETURN_IF_FAILED(
        store_result(executor.template allocate<std::uint32_t>(is_blake3 ? max_chunks : 0), made.leaves_));
    CUTPOINT_RETURN_IF_FAILED(
        store_result(executor.template allocate<std::uint32_t>(is_blake3 ? max_chunks + 1 : 0), made.first_leaves_));
    CUTPOINT_RETURN_IF_FAILED(
        store_result(executor.template allocate<std::uint32_t>(8 * max_leaves), made.chaining_values_));
    return result<hash_launcher>(std::move(made));
  }

  /// 0 if it makes no digests.
  [[nodiscard]] std::size_t digest_bytes() const noexcept {
    switch (recipe_.kind) {
      case fingerprint_kind::sha1:
        return sha1::digest_bytes;
      case fingerprint_kind::sha256:
        return sha256::digest_bytes;
      case fingerprint_kind::blake3:
        return blake3::digest_bytes;
      default:
        return 0;
    }
  }

  /// Puts the fingerprints of up to `max_chunks` chunks into the executor's stream. Lengths past the last chunk are 0.
  [[nodiscard]] status enqueue(Executor& executor, const std::uint8_t* bytes, const chunk_list& chunks,
                               std::uint64_t byte_count, std::uint64_t max_chunks) {
    const hash_args args{.bytes = bytes,
                         .begins = chunks.begins,
                         .lengths = chunks.lengths,
                         .order = order_.data(),
                         .chunk_count = chunks.count,
                         .digests = digests_.data()};
    switch (recipe_.kind) {
      case fingerprint_kind::sha1:
        CUTPOINT_RETURN_IF_FAILED(executor.sort_by_length(chunks.lengths, sorted_.data(), order_.data(), max_chunks));
        return executor.launch(hash_kernel_launch<sha1_kernel>{args, max_chunks});
      case fingerprint_kind::sha256:
        CUTPOINT_RETURN_IF_FAILED(executor.sort_by_length(chunks.lengths, sorted_.data(), order_.data(), max_chunks));
        return executor.launch(hash_kernel_launch<sha256_kernel>{args, max_chunks});
      case fingerprint_kind::blake3:
        return enqueue_blake3(executor, args, byte_count, max_chunks);
      default:
        return {};
    }
  }

  /// The digests in the executor's memory, in the order of the chunks.
  [[nodiscard]] const std::uint8_t* digests() const { return digests_.data(); }

 private:
  template <class T>
  using array = typename Executor::template array<T>;

  explicit hash_launcher(const fingerprint_recipe& recipe) : recipe_(recipe) {}

  [[nodiscard]] status enqueue_blake3(Executor& executor, const hash_args& chunks, std::uint64_t byte_count,
                                      std::uint64_t max_chunks) {
    const count_leaves_kernel count{chunks.lengths, chunks.chunk_count, max_chunks, leaves_.data()};
    CUTPOINT_RETURN_IF_FAILED(executor.launch(count));
    CUTPOINT_RETURN_IF_FAILED(executor.prefix_sum(leaves_.data(), first_leaves_.data(), max_chunks));
    const auto start = blake3::start_of(recipe_.key);
    blake3_args args{.chunks = chunks,
                     .first_leaves = first_leaves_.data(),
                     .flags = start.flags,
                     .chaining_values = chaining_values_.data()};
    std::copy_n(start.key.begin(), start.key.size(), args.key);
    const std::uint64_t max_leaves = byte_count / blake3::leaf_bytes + max_chunks;
    CUTPOINT_RETURN_IF_FAILED(executor.launch(hash_kernel_launch<blake3_leaves_kernel>{args, max_leaves}));
    return executor.launch(
        hash_kernel_launch<blake3_parents_kernel>{args, 4 * max_chunks});  // 128 threads for 32 trees
  }

  fingerprint_recipe recipe_ = fingerprint_kind::none;
  array<std::uint8_t> digests_;
  array<std::uint32_t> order_;
  array<std::uint32_t> sorted_;
  array<std::uint32_t> leaves_;
  array<std::uint32_t> first_leaves_;
  array<std::uint32_t> chaining_values_;
};

}  // namespace cutpoint::cuda
