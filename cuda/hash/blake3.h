// BLAKE3 with digests of 32 bytes, with or without a key, of many chunks: first the leaves of all chunks, then the
// trees above them. https://github.com/BLAKE3-team/BLAKE3-specs
//
// A thread hashes a leaf of 1024 bytes, so a chunk of 64 KiB occupies 64 threads. The leaves of all chunks are numbered
// in one sequence. The chaining value of a subtree is stored at the number of its leftmost leaf. So two neighbours are
// replaced by their parent in place, and a subtree without a neighbour stays where it is until the next level:
//
//     leaves of a chunk     0   1   2   3   4   5   6        root at the last pair
//     level 0               0 ──┘   2 ──┘   4 ──┘   6
//     level 1               0 ──────┘       4 ──────┘
//     level 2               0 ──────────────┘
#pragma once

#include <utility>

#include "cuda/hash/chunk_hash_kernel.h"
#include "cuda/hash/message_stage.h"
#include "cuda/kernel/words.h"
#include "host/hash/blake3.h"

namespace cutpoint::cuda {
// The compression function of BLAKE3, with all rounds in registers. https://github.com/BLAKE3-team/BLAKE3-specs

namespace blake3_detail {

/// A chaining value.
struct words {
  std::uint32_t values[8];
};

/// The index of the message word that a round uses as its I-th word.
template <std::size_t Round, std::size_t I>
inline constexpr std::size_t word_order = blake3::message_orders[Round][I];

CUTPOINT_DEVICE void mix(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c, std::uint32_t& d, std::uint32_t x,
                         std::uint32_t y, std::uint32_t one) {
  a = sum_by_multiplier(x, sum_by_multiplier(b, a, one), one);
  d = rotate_right(d ^ a, 16);
  c += d;
  b = rotate_right(b ^ c, 12);
  a = sum_by_multiplier(y, sum_by_multiplier(b, a, one), one);
  d = rotate_right(d ^ a, 8);
  c += d;
  b = rotate_right(b ^ c, 7);
}

/// Mixes the columns and then the diagonals.
template <std::size_t Round, std::size_t... I>
CUTPOINT_DEVICE void round(std::uint32_t (&v)[16], const message_words& w, std::uint32_t one,
                           std::index_sequence<I...>) {
  (mix(v[I], v[4 + I], v[8 + I], v[12 + I], w[word_order<Round, 2 * I>], w[word_order<Round, 2 * I + 1>], one), ...);
  (mix(v[I], v[4 + (I + 1) % 4], v[8 + (I + 2) % 4], v[12 + (I + 3) % 4], w[word_order<Round, 8 + 2 * I>],
       w[word_order<Round, 9 + 2 * I>], one),
   ...);
}

template <std::size_t... Round>
CUTPOINT_DEVICE void all_rounds(std::uint32_t (&v)[16], const message_words& w, std::uint32_t one,
                                std::index_sequence<Round...>) {
  (round<Round>(v, w, one, std::make_index_sequence<4>()), ...);
}

/// The compression of the definition. `leaf` is the number of the leaf in its chunk, or 0 for a parent. CUDA 13.0
/// compiles it to 802 instructions for sm_90.
CUTPOINT_DEVICE void compress(words& chaining, const message_words& w, std::uint32_t leaf, std::uint32_t length,
                              std::uint32_t flags, std::uint32_t one) {
  std::uint32_t v[16] = {chaining.values[0],
                         chaining.values[1],
                         chaining.values[2],
                         chaining.values[3],
                         chaining.values[4],
                         chaining.values[5],
                         chaining.values[6],
                         chaining.values[7],
                         entry<blake3::initial_words, 0>,
                         entry<blake3::initial_words, 1>,
                         entry<blake3::initial_words, 2>,
                         entry<blake3::initial_words, 3>,
                         leaf,
                         0,
                         length,
                         flags};
  all_rounds(v, w, one, std::make_index_sequence<blake3::round_count>());
  CUTPOINT_UNROLL
  for (std::uint32_t i = 0; i < 8; ++i) chaining.values[i] = v[i] ^ v[8 + i];
}

}  // namespace blake3_detail

/// Returns the number of leaves of a chunk. An empty chunk has one.
[[nodiscard]] CUTPOINT_HOST_DEVICE constexpr std::uint32_t blake3_leaf_count(std::uint32_t length) {
  constexpr std::uint32_t leaf = blake3::leaf_bytes;
  return length == 0 ? 1 : length / leaf + (length % leaf == 0 ? 0 : 1);
}

/// The arguments of both kernels. All chunks together must have fewer than 2^32 leaves.
struct blake3_args {
  hash_args chunks;
  /// The number of each chunk's first leaf, followed by the number of all leaves: chunk_count + 1 entries, the
  /// exclusive sums of `blake3_leaf_count`.
  const std::uint32_t* first_leaves = nullptr;
  /// The result of `blake3::start_of` for the key, or for no key.
  std::uint32_t key[8] = {};
  std::uint32_t flags = 0;
  /// Scratch memory of 8 words for each leaf, aligned to 16. The kernel for leaves writes it and the kernel for parents
  /// reads it; both need it.
  std::uint32_t* chaining_values = nullptr;
};

namespace blake3_detail {

/// Returns the place for the chaining value of a subtree, or for the digest if the subtree is the whole chunk.
[[nodiscard]] CUTPOINT_DEVICE std::uint32_t* output(const blake3_args& args, std::uint32_t flags, std::uint32_t chunk,
                                                    std::uint32_t leaf) {
  if ((flags & blake3::root) == 0) return args.chaining_values + std::uint64_t{leaf} * 8;
  return reinterpret_cast<std::uint32_t*>(args.chunks.digests + std::uint64_t{chunk} * blake3::digest_bytes);
}

CUTPOINT_DEVICE void store(const words& value, std::uint32_t* destination) {
  CUTPOINT_UNROLL
  for (std::uint32_t i = 0; i < 8; ++i) destination[i] = value.values[i];
}

[[nodiscard]] CUTPOINT_DEVICE words start(const blake3_args& args) {
  words key;
  CUTPOINT_UNROLL
  for (std::uint32_t i = 0; i < 8; ++i) key.values[i] = args.key[i];
  return key;
}

/// Finds the chunk of a leaf with a warp. In each step the lanes examine 32 chunks, evenly distributed over the
/// remaining ones.
template <class Warp>
[[nodiscard]] CUTPOINT_DEVICE std::uint32_t chunk_of(const Warp& warp, const blake3_args& args,
                                                     std::uint32_t chunk_count, std::uint64_t leaf) {
  std::uint32_t chunk = 0;
  for (std::uint32_t left = chunk_count; left > 1;) {
    const std::uint32_t step = (left - 1) / warp_size + 1;
    const std::uint32_t begun = warp.ballot(
        [&](std::uint32_t lane) { return lane * step < left && args.first_leaves[chunk + lane * step] <= leaf; });
    const std::uint32_t skipped = highest_bit(begun) * step;
    chunk += skipped;
    left = left - skipped < step ? left - skipped : step;
  }
  return chunk;
}

/// Finds the chunk of a leaf that is fewer than 32 leaves, and therefore fewer than 32 chunks, after a leaf of chunk
/// `candidate`.
[[nodiscard]] CUTPOINT_DEVICE std::uint32_t chunk_near(const blake3_args& args, std::uint32_t chunk_count,
                                                       std::uint32_t leaf, std::uint32_t candidate) {
  for (std::uint32_t step = warp_size / 2; step > 0; step /= 2) {
    if (chunk_count - candidate > step && args.first_leaves[candidate + step] <= leaf) candidate += step;
  }
  return candidate;
}

}  // namespace blake3_detail

/// The first kernel, for leaves. It writes the digests of chunks with one leaf, and the chaining values of the leaves
/// of all others.
struct blake3_leaves_kernel {
  using arguments = blake3_args;
  /// A block is a single warp, whose barriers cost little, as for the other hashes. All leaves but a chunk's last one
  /// have the same length.
  static constexpr std::uint32_t threads_per_block = warp_size;

  [[nodiscard]] static constexpr std::size_t shared_bytes(std::uint32_t thread_count) {
    return message_stage_bytes(thread_count) + shared_size<std::uint32_t>(thread_count / warp_size);
  }

  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block, const blake3_args& args) const {
    using namespace blake3_detail;
    message_stage<byte_order::little, Block> stage(block);
    const auto chunk_of_warp = block.template shared<std::uint32_t>(block.thread_count() / warp_size);
    auto jobs = block.template per_thread<job>({});
    const std::uint32_t chunk_count = *args.chunks.chunk_count;
    const std::uint64_t leaf_count = args.first_leaves[chunk_count];
    const std::uint64_t threads = block.thread_count();
    for (std::uint64_t first = block.index() * threads; first < leaf_count; first += block.count() * threads) {
      block.for_each_warp([&](auto warp) {
        const std::uint32_t chunk = chunk_of(warp, args, chunk_count, first + warp.index() * warp_size);
        warp.for_each_lane([&](std::uint32_t lane) {
          if (lane == 0) chunk_of_warp[warp.index()] = chunk;
        });
      });
      block.for_each_thread([&](auto thread) {
        message next;
        if (first + thread.index() < leaf_count) {
          const auto leaf = static_cast<std::uint32_t>(first + thread.index());
          const std::uint32_t chunk = chunk_near(args, chunk_count, leaf, chunk_of_warp[thread.index() / warp_size]);
          jobs[thread] = job_of(args, chunk, leaf);
          const std::uint64_t begin =
              args.chunks.begins[chunk] + jobs[thread].number * std::uint64_t{blake3::leaf_bytes};
          next = message{address_at(args.chunks.bytes, begin), jobs[thread].length, block_count(jobs[thread].length)};
        }
        stage.set(thread, next);
      });
      stage.absorb_all(block, [&](auto thread, message_words& w, std::uint32_t number) {
        job& mine = jobs[thread];
        const std::uint32_t left = mine.length - number * message_block_bytes;
        const bool last = left <= message_block_bytes;
        if (left < message_block_bytes) end_message<byte_order::little>(w, left, 0);
        const std::uint32_t flags = args.flags | (number == 0 ? blake3::leaf_start : 0) | (last ? mine.end_flags : 0);
        compress(mine.chaining, w, mine.number, last ? left : message_block_bytes, flags, args.chunks.one);
        if (last) store(mine.chaining, mine.output);
      });
    }
  }

 private:
  struct job {
    blake3_detail::words chaining = {};
    std::uint32_t number = 0;  // number of the leaf in its chunk
    std::uint32_t length = 0;  // bytes of the leaf
    std::uint32_t end_flags = 0;
    std::uint32_t* output = nullptr;
  };

  [[nodiscard]] CUTPOINT_DEVICE static job job_of(const blake3_args& args, std::uint32_t chunk, std::uint32_t leaf) {
    using namespace blake3_detail;
    constexpr std::uint32_t leaf_bytes = blake3::leaf_bytes;
    const std::uint32_t first = args.first_leaves[chunk];
    const std::uint32_t left = args.chunks.lengths[chunk] - (leaf - first) * leaf_bytes;
    const bool alone = args.first_leaves[chunk + 1] - first == 1;
    const std::uint32_t flags = blake3::leaf_end | (alone ? blake3::root : 0);
    return {start(args), leaf - first, left < leaf_bytes ? left : leaf_bytes, flags, output(args, flags, chunk, leaf)};
  }

  [[nodiscard]] CUTPOINT_DEVICE static std::uint32_t block_count(std::uint32_t length) {
    return length == 0 ? 1 : (length + message_block_bytes - 1) / message_block_bytes;
  }
};

/// The second kernel, for parents. It writes the digests of the chunks with several leaves, and overwrites the chaining
/// values.
struct blake3_parents_kernel {
  using arguments = blake3_args;
  /// A block builds the trees of 32 chunks level by level. All pairs of a level are distributed over its threads, so
  /// that even chunks of 8 KiB, which have four pairs, occupy all threads. One block also builds the tree of a chunk of
  /// gigabytes.
  static constexpr std::uint32_t threads_per_block = 128;

  [[nodiscard]] static constexpr std::size_t shared_bytes(std::uint32_t) {
    return shared_size<tree>(trees) + shared_size<std::uint32_t>(trees + 1);
  }

  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block, const blake3_args& args) const {
    const auto group = block.template shared<tree>(trees);
    const auto first_pairs = block.template shared<std::uint32_t>(trees + 1);
    const std::uint32_t chunk_count = *args.chunks.chunk_count;
    const std::uint32_t threads = block.thread_count();
    for (std::uint64_t first = std::uint64_t{block.index()} * trees; first < chunk_count;
         first += std::uint64_t{block.count()} * trees) {
      block.for_each_thread([&](auto thread) {
        for (std::uint32_t i = thread.index(); i < trees; i += threads) {
          group[i] = first + i < chunk_count ? tree_of(args, static_cast<std::uint32_t>(first + i)) : tree{};
        }
      });
      for (std::uint32_t level = 0;; ++level) {
        block.for_each_thread([&](auto thread) {
          for (std::uint32_t i = thread.index(); i <= trees; i += threads) {
            std::uint32_t before = 0;
            for (std::uint32_t j = 0; j < i; ++j) before += nodes_of(group[j], level) / 2;
            first_pairs[i] = before;
          }
        });
        const std::uint32_t pair_count = first_pairs[trees];
        if (pair_count == 0) break;
        block.for_each_thread([&](auto thread) {
          for (std::uint32_t pair = thread.index(); pair < pair_count; pair += threads) {
            std::uint32_t i = 0;
            for (std::uint32_t step = trees / 2; step > 0; step /= 2) {
              if (first_pairs[i + step] <= pair) i += step;
            }
            join(args, group[i], static_cast<std::uint32_t>(first + i), level, pair - first_pairs[i]);
          }
        });
      }
    }
  }

 private:
  static constexpr std::uint32_t trees = 32;
  struct tree {
    std::uint32_t first_leaf = 0;
    std::uint32_t leaf_count = 0;
  };

  [[nodiscard]] CUTPOINT_DEVICE static tree tree_of(const blake3_args& args, std::uint32_t chunk) {
    const std::uint32_t first = args.first_leaves[chunk];
    return {first, args.first_leaves[chunk + 1] - first};
  }

  /// Returns the number of subtrees with up to 2^level leaves.
  [[nodiscard]] CUTPOINT_DEVICE static std::uint32_t nodes_of(const tree& subtree, std::uint32_t level) {
    return (subtree.leaf_count + (std::uint32_t{1} << level) - 1) >> level;
  }

  /// Combines the nodes 2 * pair and 2 * pair + 1 of a level into their parent.
  CUTPOINT_DEVICE static void join(const blake3_args& args, const tree& subtree, std::uint32_t chunk,
                                   std::uint32_t level, std::uint32_t pair) {
    using namespace blake3_detail;
    const std::uint32_t left = subtree.first_leaf + (2 * pair << level);
    message_words both;
    load(args, left, both, 0);
    load(args, left + (std::uint32_t{1} << level), both, 8);
    const std::uint32_t top = nodes_of(subtree, level) == 2 ? blake3::root : 0;
    words parent = start(args);
    compress(parent, both, 0, blake3::block_bytes, args.flags | blake3::parent | top, args.chunks.one);
    store(parent, output(args, top, chunk, left));
  }

  CUTPOINT_DEVICE static void load(const blake3_args& args, std::uint32_t leaf, message_words& message,
                                   std::uint32_t first_word) {
    const auto* const source = reinterpret_cast<const bytes16*>(args.chaining_values) + std::uint64_t{leaf} * 2;
    CUTPOINT_UNROLL
    for (std::uint32_t i = 0; i < 8; ++i) message[first_word + i] = source[i / 4].words[i % 4];
  }
};

}  // namespace cutpoint::cuda
