// Where streams come from: something that is read once from front to back, and the files of this machine.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
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

/// What work that a caller has cancelled comes to.
[[nodiscard]] inline status stopped_as_asked() { return {status_code::cancelled, "stopped as asked"}; }

/// A stream of bytes. One thread at a time.
class source {
 public:
  virtual ~source() = default;

  /// Reads up to `into.size()` bytes, at least one of them, and waits until there is one; 0 is the end of the stream.
  /// Errors: io_error; cancelled.
  [[nodiscard]] virtual result<std::size_t> read(std::span<std::uint8_t> destination) = 0;

  /// Passes over the zeros that the source knows to come next without reading them (a hole of a sparse file), and says
  /// how many bytes of the stream they are; 0 where it knows of none. Asked before each read, it finds every hole;
  /// asked less often, or never, `read` gives the zeros. Errors: as for read.
  [[nodiscard]] virtual result<std::uint64_t> skip_hole();
};

/// Bytes in memory that the caller owns and keeps.
class memory_source final : public source {
 public:
  explicit memory_source(byte_span bytes) noexcept : rest_(bytes) {}
  [[nodiscard]] result<std::size_t> read(std::span<std::uint8_t> destination) override;

 private:
  byte_span rest_;
};

/// A stream that may be a file, and what there is to say of it at its end.
class file_stream : public source {
 public:
  /// For after the end: whether a regular file still has the size, mtime and ctime that it was opened with, so that what
  /// was read is one state of it, as far as the file system's clock can tell. A new ctime alone is a change too, since
  /// whoever overwrites a file can set its mtime back, but not its ctime; so is, then, a file that was renamed or whose
  /// mode was set. A file that has lost its last name has a new ctime for that, which is no change. Everything that is
  /// no regular file is unchanged. Errors: io_error.
  [[nodiscard]] virtual status check_unchanged() const = 0;
};

/// A regular file as it was when it was opened.
struct file_state {
  std::uint64_t size;
  std::timespec modified;  ///< mtime
  std::timespec changed;   ///< ctime
};

/// How a file is opened.
struct file_options {
  /// The longest that a FIFO may be without a writer when it is opened; 0 asks for one that is there. Longer where its
  /// writer is started by hand.
  std::chrono::milliseconds writer_wait{10'000};
};

/// A file, pipe, device or standard input, by its descriptor.
///
/// What waits (for bytes of a pipe, terminal or socket, for the writer of a FIFO) looks at `cancel`, which may be null
/// and must outlive the source, ten times a second and at every signal; the reads of regular files and block devices
/// between two system calls. A signal alone ends nothing.
///
/// A regular file is read at the source's own offset, so that others may use the descriptor's, and to where its reads
/// end, whatever its size is said to be. Its holes are those that the file system tells of, within the size that it was
/// opened with.
class file_source final : public file_stream {
 public:
  /// Opens a file for reading, and waits for the writer of a FIFO: one that came and went is an empty stream. Errors:
  /// io_error, also for a directory, or a FIFO that has no writer (ETIMEDOUT); cancelled.
  [[nodiscard]] static result<file_source> open(const std::string& path, const cancellation* cancel = nullptr,
                                                const file_options& options = {});

  /// Standard input from where it stands, which stays open when the source goes.
  [[nodiscard]] static file_source standard_input(const cancellation* cancel = nullptr);

  file_source(file_source&& other) noexcept;
  file_source& operator=(file_source&&) = delete;
  ~file_source() override;

  /// Stops short where a hole begins that skip_hole can pass over: those of files of 64 KiB and more.
  [[nodiscard]] result<std::size_t> read(std::span<std::uint8_t> destination) override;
  [[nodiscard]] result<std::uint64_t> skip_hole() override;

  /// Of a regular file that was opened here.
  [[nodiscard]] status check_unchanged() const override;

 private:
  friend class preopened_file;  // reads one at offsets of its own

  enum class ownership { borrowed, owned };

  /// Whether a read may wait inside the system call, where no cancellation is seen.
  enum class waiting { never, until_polled };

  /// A regular file that was opened here, and how far it is read.
  struct regular_file {
    file_state opened;
    std::uint64_t offset = 0;
    std::uint64_t data_end = 0;  ///< no hole from `offset` to here, if that is before
  };

  file_source(int descriptor, ownership held, std::string name, const cancellation* cancel) noexcept;

  [[nodiscard]] static result<file_source> open_as(const std::string& path, bool is_fifo, const cancellation* cancel,
                                                   const file_options& options);
  [[nodiscard]] bool is_cancelled() const noexcept;
  [[nodiscard]] status await_writer(std::chrono::milliseconds writer_wait);
  [[nodiscard]] std::ptrdiff_t read_once(std::span<std::uint8_t> destination);

  int descriptor_;
  ownership held_;
  waiting waits_ = waiting::never;
  std::string name_;
  const cancellation* cancel_;
  std::optional<regular_file> regular_;
  std::optional<std::uint8_t> early_;  ///< what the wait for a writer read
};

}  // namespace cutpoint
