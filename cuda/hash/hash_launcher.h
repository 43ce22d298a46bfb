// Puts the kernels that fingerprint a batch's chunks into an executor's stream.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>
#include <variant>

#include <cutpoint/fingerprint.h>

#include "cuda/cut/cut_kernels.h"
#include "cuda/hash/blake3.h"
#include "cuda/hash/sha1.h"
#include "cuda/hash/sha256.h"

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

/// Bytes of a batch, the most chunks that it may have, and an upper bound of their lengths.
struct hash_limits {
  std::uint64_t bytes = 0;
  std::uint64_t chunks = 0;
  std::uint64_t longest = ~std::uint32_t{0};
};

/// Writes the indices of chunks in their order.
struct number_chunks_kernel {
  static constexpr std::uint32_t threads_per_block = 128;
  std::uint32_t* indices = nullptr;  ///< [count], written
  std::uint64_t count = 0;

  [[nodiscard]] std::uint64_t blocks(std::uint32_t threads) const { return (count + threads - 1) / threads; }
  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block) const {
    block.for_each_thread([&](auto thread) {
      const std::uint64_t stride = std::uint64_t{block.count()} * block.thread_count();
      std::uint64_t i = std::uint64_t{block.index()} * block.thread_count() + thread.index();
      for (; i < count; i += stride) indices[i] = static_cast<std::uint32_t>(i);
    });
  }
};

// Each kind of fingerprints has its arrays, which `lay_out` takes from a memory (cuda/batch/workspace.h). `write_once` writes
// what batches read and do not write.

/// Stands for fingerprints that no device makes.
template <class Executor>
struct no_fingerprints {
  static constexpr fingerprint_kind kind = fingerprint_kind::none;
  static constexpr std::size_t digest_bytes = 0;

  template <class Memory>
  void lay_out(Memory&, const fingerprint_recipe&, const hash_limits&) {}
  [[nodiscard]] status write_once(Executor&) { return {}; }
  [[nodiscard]] status enqueue(Executor&, hash_args, const hash_limits&) { return {}; }
};

/// A hash that gives each chunk a thread. The threads of a warp get chunks of about the same length.
template <class Executor, fingerprint_kind Kind, class Hash>
class chunk_hash_fingerprints {
 public:
  static constexpr fingerprint_kind kind = Kind;
  static constexpr std::size_t digest_bytes = Hash::digest_bytes;

  template <class Memory>
  void lay_out(Memory& memory, const fingerprint_recipe&, const hash_limits& limits) {
    chunks_ = limits.chunks;
    indices_ = memory.template add<std::uint32_t>(chunks_);
    order_ = memory.template add<std::uint32_t>(chunks_);
    sorted_ = memory.template add<std::uint32_t>(chunks_);
  }
  [[nodiscard]] status write_once(Executor& executor) {
    return executor.launch(number_chunks_kernel{indices_, chunks_});
  }
  [[nodiscard]] status enqueue(Executor& executor, hash_args args, const hash_limits& batch) {
    args.order = order_;
    CUTPOINT_RETURN_IF_FAILED(
        executor.sort_by_length(args.lengths, sorted_, indices_, order_, batch.chunks, varying_bits(batch.longest)));
    return executor.launch(hash_kernel_launch<chunk_hash_kernel<Hash>>{args, batch.chunks});
  }

 private:
  /// The bits of a length that say how many blocks a chunk has.
  [[nodiscard]] static bit_range varying_bits(std::uint64_t longest) {
    constexpr auto block_bits = static_cast<std::uint32_t>(std::countr_zero(message_block_bytes));
    const auto length_bits = static_cast<std::uint32_t>(std::bit_width(std::min<std::uint64_t>(longest, 0xffffffff)));
    return {.first = block_bits, .last = std::max(length_bits, block_bits + 1)};
  }

  std::uint64_t chunks_ = 0;
  std::uint32_t* indices_ = nullptr;
  std::uint32_t* order_ = nullptr;
  std::uint32_t* sorted_ = nullptr;
};

/// BLAKE3: leaves, then the trees above them.
template <class Executor>
class blake3_fingerprints {
 public:
  static constexpr fingerprint_kind kind = fingerprint_kind::blake3;
  static constexpr std::size_t digest_bytes = blake3::digest_bytes;

  template <class Memory>
  void lay_out(Memory& memory, const fingerprint_recipe& recipe, const hash_limits& limits) {
    start_ = blake3::start_of(recipe.key);
    leaves_ = memory.template add<std::uint32_t>(limits.chunks);
    first_leaves_ = memory.template add<std::uint32_t>(limits.chunks + 1);
    chaining_values_ = memory.template add<std::uint32_t>(8 * max_leaves(limits));
  }
  [[nodiscard]] status write_once(Executor& executor) { return executor.clear(first_leaves_, 1); }
  [[nodiscard]] status enqueue(Executor& executor, const hash_args& chunks, const hash_limits& batch) {
    const count_leaves_kernel count{chunks.lengths, chunks.chunk_count, batch.chunks, leaves_};
    CUTPOINT_RETURN_IF_FAILED(executor.launch(count));
    CUTPOINT_RETURN_IF_FAILED(executor.prefix_sum(leaves_, first_leaves_, batch.chunks));
    blake3_args args{
        .chunks = chunks, .first_leaves = first_leaves_, .flags = start_.flags, .chaining_values = chaining_values_};
    std::copy_n(start_.key.begin(), start_.key.size(), args.key);
    CUTPOINT_RETURN_IF_FAILED(executor.launch(hash_kernel_launch<blake3_leaves_kernel>{args, max_leaves(batch)}));
    return executor.launch(
        hash_kernel_launch<blake3_parents_kernel>{args, 4 * batch.chunks});  // 128 threads for 32 trees
  }

 private:
  [[nodiscard]] static std::uint64_t max_leaves(const hash_limits& limits) {
    return limits.bytes / blake3::leaf_bytes + limits.chunks;
  }

  blake3::start start_;
  std::uint32_t* leaves_ = nullptr;
  std::uint32_t* first_leaves_ = nullptr;
  std::uint32_t* chaining_values_ = nullptr;
};

/// The fingerprints that a device makes: a row for each.
template <class Executor>
using device_fingerprints = std::variant<no_fingerprints<Executor>,                                            //
                                         chunk_hash_fingerprints<Executor, fingerprint_kind::sha1, sha1>,      //
                                         chunk_hash_fingerprints<Executor, fingerprint_kind::sha256, sha256>,  //
                                         blake3_fingerprints<Executor>>;

template <class Executor>
class hash_launcher {
 public:
  hash_launcher() = default;

  /// Takes memory for batches within the limits. If devices do not make this kind of fingerprint, the launcher makes no
  /// digests.
  template <class Memory>
  [[nodiscard]] static hash_launcher lay_out(Memory& memory, const fingerprint_recipe& recipe,
                                             const hash_limits& limits) {
    hash_launcher launcher;
    if (launcher.choose_hash(recipe.kind, rows())) {
      std::visit([&](auto& hash) { hash.lay_out(memory, recipe, limits); }, launcher.hash_);
    }
    return launcher;
  }

  /// Puts the writing of what batches read and do not write into the executor's stream. Memory that nothing else uses needs
  /// it once.
  [[nodiscard]] status write_once(Executor& executor);

  /// Whether `device_fingerprints` has a row for the kind, as for `none`.
  [[nodiscard]] static bool has(fingerprint_kind kind) { return hash_launcher().choose_hash(kind, rows()); }

  /// 0 if it makes no digests.
  [[nodiscard]] std::size_t digest_bytes() const noexcept {
    return std::visit([](const auto& hash) { return hash.digest_bytes; }, hash_);
  }

  /// Puts the making of the digests of up to `batch.chunks` chunks into the executor's stream. Lengths past the last chunk
  /// are 0. The digests follow each other in the order of the chunks; they are aligned to 4.
  [[nodiscard]] status enqueue(Executor& executor, const std::uint8_t* bytes, const chunk_list& chunks,
                               const hash_limits& batch, std::uint8_t* digests);

 private:
  using rows = std::make_index_sequence<std::variant_size_v<device_fingerprints<Executor>>>;

  template <std::size_t... Row>
  bool choose_hash(fingerprint_kind kind, std::index_sequence<Row...>) {
    return ((kind == std::variant_alternative_t<Row, device_fingerprints<Executor>>::kind &&
             (static_cast<void>(hash_.template emplace<Row>()), true)) ||
            ...);
  }

  device_fingerprints<Executor> hash_;
};

// Not inline, as in cuda/cut/cut_launcher.h.
template <class Executor>
status hash_launcher<Executor>::write_once(Executor& executor) {
  return std::visit([&](auto& hash) { return hash.write_once(executor); }, hash_);
}

template <class Executor>
status hash_launcher<Executor>::enqueue(Executor& executor, const std::uint8_t* bytes, const chunk_list& chunks,
                                        const hash_limits& batch, std::uint8_t* digests) {
  const hash_args args{.bytes = bytes,
                       .begins = chunks.begins,
                       .lengths = chunks.lengths,
                       .chunk_count = chunks.count,
                       .digests = digests};
  return std::visit([&](auto& hash) { return hash.enqueue(executor, args, batch); }, hash_);
}

}  // namespace cutpoint::cuda
