// Where streams come from: something that is read once from front to back, and the files of this machine.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <cutpoint/bytes.h>
#include <cutpoint/status.h>

namespace cutpoint {

/// A wish to stop, made once from any thread or from a signal handler, and seen by the work that it was handed to.
class cancellation {
 public:
  /// Async-signal-safe.
  void request() noexcept { requested_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool is_requested() const noexcept { return requested_.load(std::memory_order_relaxed); }

 private:
  static_assert(std::atomic<bool>::is_always_lock_free);
  std::atomic<bool> requested_ = false;
};

/// A stream of bytes. One thread at a time.
class source {
 public:
  virtual ~source() = default;

  /// Reads up to `into.size()` bytes, at least one of them, and waits until there is one; 0 is the end of the stream.
  /// Errors: io_error; cancelled.
  [[nodiscard]] virtual result<std::size_t> read(std::span<std::uint8_t> into) = 0;
};

/// Bytes in memory that the caller owns and keeps.
class memory_source final : public source {
 public:
  explicit memory_source(byte_span bytes) noexcept : rest_(bytes) {}
  [[nodiscard]] result<std::size_t> read(std::span<std::uint8_t> into) override;

 private:
  byte_span rest_;
};

/// A file, pipe, device or standard input, by its descriptor.
class file_source final : public source {
 public:
  /// Opens a file for reading. Opening a FIFO waits for its writer. A read or the opening that a signal interrupts is
  /// taken up again unless `cancel` (which may be null, and must outlive the source) is requested. Errors: io_error,
  /// also for a directory; cancelled.
  [[nodiscard]] static result<file_source> open(const std::string& path, const cancellation* cancel = nullptr);

  /// Standard input, which stays open when the source goes.
  [[nodiscard]] static file_source standard_input(const cancellation* cancel = nullptr);

  file_source(file_source&& other) noexcept;
  file_source& operator=(file_source&&) = delete;
  ~file_source() override;

  [[nodiscard]] result<std::size_t> read(std::span<std::uint8_t> into) override;

 private:
  enum class ownership { borrowed, owned };

  file_source(int descriptor, ownership held, std::string name, const cancellation* cancel) noexcept;

  int descriptor_;
  ownership held_;
  std::string name_;
  const cancellation* cancel_;
};

}  // namespace cutpoint
