// The fingerprints of a batch's chunks, on a machine.
#pragma once

#include <algorithm>
#include <utility>

#include <cutpoint/fingerprint.h>

#include "cuda/blake3.h"
#include "cuda/return_if_failed.h"
#include "cuda/sha1.h"
#include "cuda/sha256.h"
#include "cuda/slices.h"

namespace cutpoint::cuda {

/// A kernel of fingerprints with its arguments, for a launch with up to `most` threads that have something to do.
template <class Kernel>
struct hashing_launch {
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

/// Leaves of each chunk; none of those past the last.
struct leaf_count_kernel {
  static constexpr std::uint32_t threads_per_block = 128;
  const std::uint32_t* lengths = nullptr;
  const std::uint32_t* chunk_count = nullptr;
  std::uint64_t most_chunks = 0;
  std::uint32_t* leaves = nullptr;  ///< [most_chunks], written

  [[nodiscard]] std::uint64_t blocks(std::uint32_t threads) const { return (most_chunks + threads - 1) / threads; }
  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block) const {
    block.for_each_thread([&](auto thread) {
      const std::uint64_t stride = std::uint64_t{block.count()} * block.thread_count();
      std::uint64_t i = std::uint64_t{block.index()} * block.thread_count() + thread.index();
      for (; i < most_chunks; i += stride) leaves[i] = i < *chunk_count ? blake3_leaf_count(lengths[i]) : 0;
    });
  }
};

template <class Machine>
class chunk_hasher {
 public:
  /// Makes none.
  chunk_hasher() = default;

  /// Takes the memory for batches of up to `most_bytes` and `most_chunks`. Makes nothing where the kind is none of the
  /// device's.
  [[nodiscard]] static result<chunk_hasher> make(Machine& on, const fingerprint_recipe& recipe,
                                                 std::uint64_t most_bytes, std::uint64_t most_chunks) {
    chunk_hasher made(recipe);
    if (made.digest_bytes() == 0) return result<chunk_hasher>(std::move(made));
    const bool is_blake3 = recipe.kind == fingerprint_kind::blake3;
    const std::uint64_t most_leaves = is_blake3 ? most_bytes / blake3::leaf_bytes + most_chunks : 0;
    CUTPOINT_RETURN_IF_FAILED(
        keep(on.template allocate<std::uint8_t>(most_chunks * made.digest_bytes()), made.digests_));
    CUTPOINT_RETURN_IF_FAILED(keep(on.template allocate<std::uint32_t>(is_blake3 ? 0 : most_chunks), made.order_));
    CUTPOINT_RETURN_IF_FAILED(keep(on.template allocate<std::uint32_t>(is_blake3 ? 0 : most_chunks), made.sorted_));
    CUTPOINT_RETURN_IF_FAILED(keep(on.template allocate<std::uint32_t>(is_blake3 ? most_chunks : 0), made.leaves_));
    CUTPOINT_RETURN_IF_FAILED(
        keep(on.template allocate<std::uint32_t>(is_blake3 ? most_chunks + 1 : 0), made.first_leaves_));
    CUTPOINT_RETURN_IF_FAILED(keep(on.template allocate<std::uint32_t>(8 * most_leaves), made.chaining_values_));
    return result<chunk_hasher>(std::move(made));
  }

  /// 0 where it makes none.
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

  /// Puts the fingerprints of up to `most_chunks` chunks into the machine's stream. Lengths past the last chunk are 0.
  [[nodiscard]] status enqueue(Machine& on, const std::uint8_t* bytes, const chunk_list& chunks,
                               std::uint64_t byte_count, std::uint64_t most_chunks) {
    const hash_args args{.bytes = bytes,
                         .begins = chunks.begins,
                         .lengths = chunks.lengths,
                         .order = order_.data(),
                         .chunk_count = chunks.count,
                         .digests = digests_.data()};
    switch (recipe_.kind) {
      case fingerprint_kind::sha1:
        CUTPOINT_RETURN_IF_FAILED(on.order_by_length(chunks.lengths, sorted_.data(), order_.data(), most_chunks));
        return on.launch(hashing_launch<sha1_kernel>{args, most_chunks});
      case fingerprint_kind::sha256:
        CUTPOINT_RETURN_IF_FAILED(on.order_by_length(chunks.lengths, sorted_.data(), order_.data(), most_chunks));
        return on.launch(hashing_launch<sha256_kernel>{args, most_chunks});
      case fingerprint_kind::blake3:
        return enqueue_blake3(on, args, byte_count, most_chunks);
      default:
        return {};
    }
  }

  /// In the machine's memory, in the order of the chunks.
  [[nodiscard]] const std::uint8_t* digests() const { return digests_.data(); }

 private:
  template <class T>
  using array = typename Machine::template array<T>;

  explicit chunk_hasher(const fingerprint_recipe& recipe) : recipe_(recipe) {}

  [[nodiscard]] status enqueue_blake3(Machine& on, const hash_args& chunks, std::uint64_t byte_count,
                                      std::uint64_t most_chunks) {
    const leaf_count_kernel count{chunks.lengths, chunks.chunk_count, most_chunks, leaves_.data()};
    CUTPOINT_RETURN_IF_FAILED(on.launch(count));
    CUTPOINT_RETURN_IF_FAILED(on.running_sum(leaves_.data(), first_leaves_.data(), most_chunks));
    const auto start = blake3::start_of(recipe_.key);
    blake3_args args{.chunks = chunks,
                     .first_leaves = first_leaves_.data(),
                     .flags = start.flags,
                     .chaining_values = chaining_values_.data()};
    std::copy_n(start.key.begin(), start.key.size(), args.key);
    const std::uint64_t most_leaves = byte_count / blake3::leaf_bytes + most_chunks;
    CUTPOINT_RETURN_IF_FAILED(on.launch(hashing_launch<blake3_leaves_kernel>{args, most_leaves}));
    return on.launch(hashing_launch<blake3_parents_kernel>{args, 4 * most_chunks});  // threads of a block for each tree
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
