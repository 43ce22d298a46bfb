// Transfers messages of unequal length and any alignment from a packed buffer into registers, one message for each
// thread.
//
// If each thread read its own message, neighbouring threads would load from distant addresses. So eight neighbouring
// threads load 128 consecutive bytes of one thread's message, and shared memory stages the messages of a block:
//
//     buffer, vectors of 16     |....mmmm|mmmmmmmm| ... |mmmmmmmm|mmmmmmmm| ... |mmm.....|      m: the thread's message
//                              former    vector 0         vector 7   vector 8
//     staged, slot s       [former|step of thread 0][former|step of thread 1]...    rows of 9 vectors = 144 bytes
//
// A step is eight vectors. The first one is at or after the message's beginning, so a message that is not aligned
// begins in the vector before it. In every step the row begins with the last vector of the step before, which its
// thread copies. Two blocks of 64 bytes then begin 1 to 16 bytes after the beginning of the row, at the same place in
// all steps. While a step is hashed, the next one is loaded: two blocks of SHA-1 take a warp about 2400 cycles, longer
// than the latency of memory.
//
// The staged words are read one by one at the thread's own offset, so no instructions are needed to shift a block by
// whole words. Up to four lanes may then use the same bank, but 17 reads for each block are few compared with 600 to
// 1400 instructions.
#pragma once

#include <utility>

#include "cuda/kernel/block.h"
#include "cuda/kernel/words.h"

namespace cutpoint::cuda {

inline constexpr std::uint32_t message_block_bytes = 64;

/// A message: its bytes, and the number of its blocks with padding, which is 0 for a thread without a message. The
/// 16-byte vectors that it touches must be readable, and so must be the one in which an empty message lies, unless that
/// is aligned.
struct message {
  const std::uint8_t* bytes = nullptr;
  std::uint32_t length = 0;
  std::uint32_t block_count = 0;
};

namespace message_detail {

inline constexpr std::uint32_t stages = 2;
inline constexpr std::uint32_t vector_bytes = sizeof(bytes16);
inline constexpr std::uint32_t word_bytes = sizeof(std::uint32_t);
inline constexpr std::uint32_t step_vectors = 8;
inline constexpr std::uint32_t row_vectors = 1 + step_vectors;
inline constexpr std::uint32_t step_blocks = step_vectors * vector_bytes / message_block_bytes;
inline constexpr std::uint32_t vector_words = vector_bytes / word_bytes;
inline constexpr std::uint32_t block_words = message_block_bytes / word_bytes;

/// What the threads that load a message for its thread need to know.
struct alignas(16) staged_message {
  const std::uint8_t* vectors = nullptr;
  std::uint32_t vector_count = 0;
  std::uint32_t step_count = 0;
};

/// Where a thread finds its words.
struct view {
  std::uint32_t first_word = 0;  // of the thread's row
  std::uint32_t numbers = 0;     // selector of the bytes of a word from two words of memory
  std::uint32_t block_count = 0;
};

}  // namespace message_detail

/// Returns the size of the shared memory that a `message_stage` needs, in bytes.
[[nodiscard]] constexpr std::size_t message_stage_bytes(std::uint32_t thread_count) {
  using namespace message_detail;
  return shared_size<bytes16>(std::size_t{stages} * thread_count * row_vectors) +
         shared_size<staged_message>(thread_count);
}

/// A kernel makes one of these. For each group of messages, every thread sets its own message, and then all are
/// absorbed.
template <byte_order Order, class Block>
class message_stage {
 public:
  CUTPOINT_DEVICE explicit message_stage(Block& block)
      : threads_(block.thread_count()),
        staged_(block.template shared<bytes16>(std::size_t{message_detail::stages} * threads_ *
                                               message_detail::row_vectors)),
        staged_messages_(block.template shared<message_detail::staged_message>(threads_)),
        views_(block.template per_thread<message_detail::view>({})),
        pipeline_(block.template pipeline<bytes16>()) {}

  /// Sets the thread's message. Must be called in a phase.
  template <class Thread>
  CUTPOINT_DEVICE void set(Thread thread, const message& mine) {
    using namespace message_detail;
    const auto past = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(mine.bytes) % vector_bytes);
    const std::uint32_t begin = past == 0 ? vector_bytes : past;  // in the row
    const std::uint32_t before = vector_bytes - begin;            // bytes of it in the vector before
    const std::uint32_t staged_bytes = mine.length > before ? mine.length - before : 0;
    const std::uint32_t vector_count = staged_bytes / vector_bytes + (staged_bytes % vector_bytes == 0 ? 0 : 1);
    staged_messages_[thread.index()] =
        staged_message{mine.bytes + before, vector_count, (mine.block_count + step_blocks - 1) / step_blocks};
    const std::uint32_t first_word = (begin - 1) / word_bytes;
    const std::uint32_t first_byte = begin - first_word * word_bytes;  // the first byte within that word, 1 to 4
    views_[thread] = view{first_word, byte_numbers<Order>(first_byte), mine.block_count};
    if (before > 0) pipeline_.copy(thread, staged_, row_begin(0, thread.index()), mine.bytes - past);
  }

  /// Calls `absorb(thread, words, i)` for block i of each thread's message, from the first to the last. Must be called
  /// outside phases, after every thread's `set`. The bytes after a message's end have any value.
  template <class Absorb>
  CUTPOINT_DEVICE void absorb_all(Block& block, Absorb absorb) {
    block.for_each_thread([&](auto thread) {
      fetch(thread, 0);
      pipeline_.template wait<0>(thread);
    });
    std::uint32_t step_count = 0;
    for (std::uint32_t i = 0; i < threads_; ++i) {
      const std::uint32_t its = staged_messages_[i].step_count;
      step_count = its > step_count ? its : step_count;
    }
    for (std::uint32_t step = 0; step < step_count; ++step) {
      block.for_each_thread([&](auto thread) {
        if (step + 1 < step_count) fetch(thread, step + 1);
        absorb_step(thread, step, absorb);
        pipeline_.template wait<0>(thread);
      });
    }
  }

 private:
  [[nodiscard]] CUTPOINT_DEVICE std::uint32_t row_begin(std::uint32_t step, std::uint32_t index) const {
    return (step % message_detail::stages * threads_ + index) * message_detail::row_vectors;
  }

  template <class Thread>
  CUTPOINT_DEVICE void fetch(Thread thread, std::uint32_t step) {
    using namespace message_detail;
    const std::uint32_t in_step = thread.index() % step_vectors;
    const std::uint32_t vector = step * step_vectors + in_step;
    CUTPOINT_UNROLL
    for (std::uint32_t pass = 0; pass < step_vectors; ++pass) {
      const std::uint32_t index = pass * (threads_ / step_vectors) + thread.index() / step_vectors;
      const staged_message its = staged_messages_[index];
      if (vector >= its.vector_count) continue;
      pipeline_.copy(thread, staged_, row_begin(step, index) + 1 + in_step,
                     its.vectors + std::uint64_t{vector} * vector_bytes);
    }
    pipeline_.commit(thread);
  }

  template <class Thread, class Absorb>
  CUTPOINT_DEVICE void absorb_step(Thread thread, std::uint32_t step, Absorb& absorb) {
    using namespace message_detail;
    const view mine = views_[thread];
    const std::uint32_t begin = row_begin(step, thread.index());
    const auto* const words = reinterpret_cast<const std::uint32_t*>(staged_.data()) + begin * vector_words;
    for (std::uint32_t i = 0; i < step_blocks && step * step_blocks + i < mine.block_count; ++i) {
      const std::uint32_t* const memory = words + mine.first_word + i * block_words;
      message_words block;
      std::uint32_t low = memory[0];
      CUTPOINT_UNROLL
      for (std::uint32_t w = 0; w < block_words; ++w) {
        const std::uint32_t high = memory[w + 1];
        block[w] = pick_bytes(low, high, mine.numbers);
        low = high;
      }
      absorb(thread, block, step * step_blocks + i);
    }
    staged_[row_begin(step + 1, thread.index())] = staged_[begin + step_vectors];
  }

  std::uint32_t threads_;
  decltype(std::declval<Block&>().template shared<bytes16>(0)) staged_;
  decltype(std::declval<Block&>().template shared<message_detail::staged_message>(0)) staged_messages_;
  decltype(std::declval<Block&>().template per_thread<message_detail::view>({})) views_;
  decltype(std::declval<Block&>().template pipeline<bytes16>()) pipeline_;
};

}  // namespace cutpoint::cuda
