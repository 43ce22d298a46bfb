// Fingerprints of many chunks by a hash that takes its message block by block (SHA-1, SHA-256): a thread a chunk.
#pragma once

#include "cuda/hash/message_stage.h"
#include "cuda/kernel/block.h"
#include "cuda/kernel/words.h"

namespace cutpoint::cuda {

/// Chunks to fingerprint, and where the fingerprints go. Pointers are to the memory of whoever runs the kernel: device
/// or host. The chunks may lie anywhere in the buffer, packed or not, in any order.
struct hash_args {
  /// Position 0, aligned to 16. Readable as far as the 16-byte boundary at or past the end of the last chunk: what lies
  /// between the two is not part of any fingerprint.
  const std::uint8_t* bytes = nullptr;
  /// Position of each chunk's first byte, of any alignment, and the chunk's bytes, from none to 2^32 - 1.
  const std::uint64_t* begins = nullptr;
  const std::uint32_t* lengths = nullptr;
  /// The chunks' numbers, each once; by descending length, so that the threads of a warp are done at about the same
  /// time. Any other order gives the same fingerprints. BLAKE3 does not read it.
  const std::uint32_t* order = nullptr;
  /// In memory, since the host need not know it when it launches the kernel.
  const std::uint32_t* chunk_count = nullptr;
  /// Output: the digests one after the other, in the order of the chunks. Aligned to 4.
  std::uint8_t* digests = nullptr;
};

/// A kernel that hashes any number of chunks with any number of blocks. `Hash` has `words` (the state), `start()`,
/// `absorb(words&, message_words&)` and `digest_bytes`; big-endian, and padded as in FIPS 180-4, 5.1.1.
template <class Hash>
struct chunk_hash_kernel {
  using arguments = hash_args;
  static constexpr std::uint32_t digest_bytes = Hash::digest_bytes;
  /// A block goes on until its longest chunk is done, so it is a single warp: no warp waits for the chunks of another,
  /// and the barriers cost next to nothing. On compute capability 9.0 a multiprocessor's shared memory holds 21 blocks,
  /// five for each scheduler; neighbouring rounds of a hash overlap, so that one or two keep a scheduler busy.
  static constexpr std::uint32_t threads_per_block = warp_size;

  [[nodiscard]] static constexpr std::size_t shared_bytes(std::uint32_t thread_count) {
    return message_stage_bytes(thread_count);
  }

  /// Writes every digest once.
  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block, const hash_args& args) const {
    message_stage<byte_order::big, Block> stage(block);
    auto jobs = block.template per_thread<job>({});
    const std::uint32_t chunk_count = *args.chunk_count;
    const std::uint64_t threads = block.thread_count();
    for (std::uint64_t first = block.index() * threads; first < chunk_count; first += block.count() * threads) {
      block.for_each_thread([&](auto thread) {
        message taken;
        if (first + thread.index() < chunk_count) {
          const std::uint32_t chunk = args.order[first + thread.index()];
          const std::uint32_t length = args.lengths[chunk];
          taken = message{args.bytes + args.begins[chunk], length, block_count(length)};
          jobs[thread] = job{Hash::start(), chunk, length};
        }
        stage.set(thread, taken);
      });
      stage.absorb_all(block, [&](auto thread, message_words& words, std::uint32_t number) {
        job& mine = jobs[thread];
        const bool ends = number >= mine.length / message_block_bytes;
        if (ends) pad(words, number, mine.length);
        Hash::absorb(mine.state, words);
        if (ends && number + 1 == block_count(mine.length)) write(mine, args.digests);
      });
    }
  }

  /// Blocks of a padded message: 0x80 and 8 bytes of length are added.
  [[nodiscard]] CUTPOINT_HOST_DEVICE static constexpr std::uint32_t block_count(std::uint32_t length) {
    return length / message_block_bytes + (length % message_block_bytes < message_block_bytes - 8 ? 1 : 2);
  }

  /// Pads block `number`, the one with the message's end or the one after it.
  CUTPOINT_DEVICE static void pad(message_words& words, std::uint32_t number, std::uint32_t length) {
    const bool has_end = number == length / message_block_bytes;
    end_message<byte_order::big>(words, has_end ? length % message_block_bytes : 0, has_end ? 0x80 : 0);
    if (number + 1 < block_count(length)) return;
    words[14] = length >> 29;  // the message's bits
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
