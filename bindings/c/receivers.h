// Where the chunks of a feed go in C: to callbacks, or into a queue until they are taken.
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

/// What every feed has of its chunks.
class c_receiver : public chunk_receiver {
 public:
  /// Whether the calling thread is in a callback.
  [[nodiscard]] virtual bool is_calling() const noexcept { return false; }
  /// What a callback failed with, for the feeding thread; nothing where none did.
  [[nodiscard]] virtual std::optional<outcome> callback_failure() { return std::nullopt; }
  /// Whether no bytes should be taken in.
  [[nodiscard]] virtual bool is_full() { return false; }
  /// Moves chunks to the caller; nothing where they go to callbacks.
  [[nodiscard]] virtual std::optional<std::size_t> move_to(std::span<cutpoint_chunk>) { return std::nullopt; }

  [[nodiscard]] std::uint64_t chunk_count() const noexcept { return chunk_count_.load(std::memory_order_relaxed); }

 protected:
  void count(const delivered_chunk& chunks) noexcept {
    chunk_count_.fetch_add(chunks.count, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> chunk_count_ = 0;
};

/// Hands all to the caller's functions. Nothing that they throw goes further.
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
  /// No exception of the callback's goes through the engine.
  template <class Call>
  status called(std::string_view name, Call&& call);
  status failed(std::string_view name, const std::string& how);

  const cutpoint_receiver receiver_;
  std::atomic<std::thread::id> caller_ = std::thread::id();  ///< relaxed: a thread asks for its own alone
  std::mutex mutex_;
  std::optional<outcome> failure_;
};

/// Keeps chunks until they are taken, by any thread.
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
