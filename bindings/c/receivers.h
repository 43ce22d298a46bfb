// The two receivers of the interface for C: one calls the caller's functions, the other is a queue.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>

#include <cutpoint/chunks.h>
#include <cutpoint/engine.h>

#include "bindings/c/callbacks.h"
#include "bindings/c/outcome.h"

namespace cutpoint::embed {

/// A receiver as `cutpoint_feed` uses it.
class c_receiver : public chunk_receiver {
 public:
  /// Returns whether the feed must refuse bytes until chunks are taken.
  [[nodiscard]] virtual bool is_full() { return false; }
  /// Moves waiting chunks into `room` and returns their number. Returns nullopt if chunks are passed to callbacks.
  [[nodiscard]] virtual std::optional<std::size_t> move_to(std::span<cutpoint_chunk>) { return std::nullopt; }

  /// Admits calls on the feed.
  [[nodiscard]] callbacks& calls() noexcept { return calls_; }
  [[nodiscard]] std::uint64_t chunk_count() const noexcept { return chunk_count_.load(std::memory_order_relaxed); }

 protected:
  void count(const delivered_chunk& chunks) noexcept {
    chunk_count_.fetch_add(chunks.count, std::memory_order_relaxed);
  }

 private:
  callbacks calls_;
  std::atomic<std::uint64_t> chunk_count_ = 0;
};

/// Passes all chunks to the caller's functions. An exception that they throw ends the feed.
class callback_receiver final : public c_receiver {
 public:
  explicit callback_receiver(const cutpoint_receiver& receiver) noexcept : receiver_(receiver) {}

  status begin_stream(std::uint64_t stream) override;
  status take(const delivered_chunk& chunks) override;
  status end_stream(std::uint64_t stream, const status& stream_outcome) override;

 private:
  const cutpoint_receiver receiver_;
};

/// Keeps chunks until any thread takes them.
class queue_receiver final : public c_receiver {
 public:
  explicit queue_receiver(std::uint64_t most_waiting) : most_waiting_(most_waiting) {}

  status begin_stream(std::uint64_t) override { return {}; }
  status end_stream(std::uint64_t, const status&) override { return {}; }
  status take(const delivered_chunk& chunks) override;

  [[nodiscard]] bool is_full() override { return waiting_.waiting() >= most_waiting_; }
  [[nodiscard]] std::optional<std::size_t> move_to(std::span<cutpoint_chunk> room) override;

 private:
  std::uint64_t most_waiting_;
  chunk_queue waiting_;
};

}  // namespace cutpoint::embed
