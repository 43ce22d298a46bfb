// A kernel that fingerprints many chunks with a hash of 64-byte blocks (SHA-1, SHA-256), one chunk in each thread.
#pragma once

#include "cuda/hash/message_stage.h"
#include "cuda/kernel/block.h"
#include "cuda/kernel/words.h"

namespace cutpoint::cuda {

/// The chunks to fingerprint, and the place for their digests. Pointers are to the memory of the executor, device or
/// host. The chunks may lie anywhere in the buffer, in any order, with or without gaps.
struct hash_args {
  /// The bytes of the buffer, aligned to 16; null if begins are addresses. They must be readable up to the next multiple of 16 after the last chunk;
  /// these bytes do not change the digests.
  const std::uint8_t* bytes = nullptr;
  /// Position of each chunk's first byte, with any alignment, and the length of each chunk, 0 to 2^32 - 1 bytes.
  const std::uint64_t* begins = nullptr;
  const std::uint32_t* lengths = nullptr;
  /// The indices of the chunks, each once, by descending length, so that the threads of a warp finish at about the same
  /// time. Any other order gives the same digests. BLAKE3 does not read it.
  const std::uint32_t* order = nullptr;
  /// The number of chunks, in memory because the host may not know it when it launches the kernel.
  const std::uint32_t* chunk_count = nullptr;
  /// Output: the digests in the order of the chunks, without gaps, aligned to 4.
  std::uint8_t* digests = nullptr;
  std::uint32_t one = 1;  ///< for `sum_by_multiplier`
};

/// Hashes any number of chunks with any number of blocks. `Hash` has `words` (the state), `start()`, `absorb(words&,
/// message_words&, one)` and `digest_bytes`. It is big-endian and pads as in FIPS 180-4, section 5.1.1.
template <class Hash>
struct chunk_hash_kernel {
  using arguments = hash_args;
  static constexpr std::uint32_t digest_bytes = Hash::digest_bytes;
  /// A block runs until its longest chunk is done, so it is a single warp. Then no warp waits for the chunks of
  /// another, and barriers cost almost no time. With compute capability 9.0 the shared memory of a multiprocessor is
  /// enough for 21 blocks, five for each scheduler. Neighbouring rounds of a hash overlap, so one or two blocks keep a
  /// scheduler busy.
  static constexpr std::uint32_t threads_per_block = warp_size;

  [[nodiscard]] static constexpr std::size_t shared_bytes(std::uint32_t thread_count) {
    return message_stage_bytes(thread_count);
  }

  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block, const hash_args& args) const {
    message_stage<byte_order::big, Block> stage(block);
    auto jobs = block.template per_thread<job>({});
    const std::uint32_t chunk_count = *args.chunk_count;
    const std::uint64_t threads = block.thread_count();
    for (std::uint64_t first = block.index() * threads; first < chunk_count; first += block.count() * threads) {
      block.for_each_thread([&](auto thread) {
        message next;
        if (first + thread.index() < chunk_count) {
          const std::uint32_t chunk = args.order[first + thread.index()];
          const std::uint32_t length = args.lengths[chunk];
          next = message{address_at(args.bytes, args.begins[chunk]), length, block_count(length)};
          jobs[thread] = job{Hash::start(), chunk, length};
        }
        stage.set(thread, next);
      });
      stage.absorb_all(block, [&](auto thread, message_words& words, std::uint32_t number) {
        job& mine = jobs[thread];
        const bool ends = number >= mine.length / message_block_bytes;
        if (ends) pad(words, number, mine.length);
        Hash::absorb(mine.state, words, args.one);
        if (ends && number + 1 == block_count(mine.length)) write(mine, args.digests);
      });
    }
  }

  /// Returns the number of blocks of a padded message: 0x80 and 8 bytes of length are added.
  [[nodiscard]] CUTPOINT_HOST_DEVICE static constexpr std::uint32_t block_count(std::uint32_t length) {
    return length / message_block_bytes + (length % message_block_bytes < message_block_bytes - 8 ? 1 : 2);
  }

  /// Pads block `number`, which has the message's end or follows it.
  CUTPOINT_DEVICE static void pad(message_words& words, std::uint32_t number, std::uint32_t length) {
    const bool has_end = number == length / message_block_bytes;
    end_message<byte_order::big>(words, has_end ? length % message_block_bytes : 0, has_end ? 0x80 : 0);
    if (number + 1 < block_count(length)) return;
    words[14] = length >> 29;  // the length of the message in bits
    words[15] = length << 3;
  }

 private:
  struct job {
    typename Hash::words state = {};
    std::uint32_t chunk = 0;
    std::uint32_t length = 0;
  };

  CUTPOINT_DEVICE static void write(const job& done, std::uint8_t* digests) {
    auto* const digest = reinterpret_cast<std::uint32_t*>(digests + std::uint64_t{done.chunk} * digest_bytes);
    CUTPOINT_UNROLL
    for (std::uint32_t i = 0; i < digest_bytes / sizeof(std::uint32_t); ++i) {
      digest[i] = pick_bytes(done.state.values[i], 0, byte_numbers<byte_order::big>(0));
    }
  }
};

}  // namespace cutpoint::cuda
