// The two receivers of the interface for C: one calls the caller's functions, the other is a queue.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>

#include <cutpoint/chunks.h>
#include <cutpoint/engine.h>

#include "bindings/c/outcome.h"

namespace cutpoint::embed {

/// A receiver as `cutpoint_feed` uses it.
class c_receiver : public chunk_receiver {
 public:
  /// Returns whether the calling thread is in a callback.
  [[nodiscard]] virtual bool is_calling() const noexcept { return false; }
  /// Returns the failure of a callback, or nullopt if none has failed.
  [[nodiscard]] virtual std::optional<outcome> callback_failure() { return std::nullopt; }
  /// Returns whether the feed must refuse bytes until chunks are taken.
  [[nodiscard]] virtual bool is_full() { return false; }
  /// Moves waiting chunks into `room` and returns their number. Returns nullopt if chunks are passed to callbacks.
  [[nodiscard]] virtual std::optional<std::size_t> move_to(std::span<cutpoint_chunk>) { return std::nullopt; }

  [[nodiscard]] std::uint64_t chunk_count() const noexcept { return chunk_count_.load(std::memory_order_relaxed); }

 protected:
  void count(const delivered_chunk& chunks) noexcept {
    chunk_count_.fetch_add(chunks.count, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> chunk_count_ = 0;
};

/// Passes all chunks to the caller's functions. An exception that they throw ends the feed.
class callback_receiver final : public c_receiver {
 public:
  explicit callback_receiver(const cutpoint_receiver& receiver) noexcept : receiver_(receiver) {}

  status begin_stream(std::uint64_t stream) override;
  status take(const delivered_chunk& chunks) override;
  status end_stream(std::uint64_t stream, const status& stream_outcome) override;

  [[nodiscard]] bool is_calling() const noexcept override {
    return caller_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }

  [[nodiscard]] std::optional<outcome> callback_failure() override {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

 private:
  /// Calls a function and returns its failure. Catches exceptions, which must not pass through the engine.
  template <class Call>
  status called(std::string_view name, Call&& call);
  status failed(std::string_view name, const std::string& how);

  const cutpoint_receiver receiver_;
  std::atomic<std::thread::id> caller_ =
      std::thread::id();  ///< relaxed, because a thread compares it only with its own
  std::mutex mutex_;
  std::optional<outcome> failure_;
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
