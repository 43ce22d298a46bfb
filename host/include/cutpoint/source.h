// Sources, which are streams that are read once from front to back, and the files of this machine as sources.
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
#include <cutpoint/tree_entry.h>

struct stat;

namespace cutpoint {

/// A request to stop. It is made once, from any thread or from a signal handler. The work that holds a pointer to it
/// checks it from time to time. Thread-safe.
class cancellation {
 public:
  /// Makes the request. Async-signal-safe. Only the first call has an effect.
  void request() noexcept {
    std::int64_t never = 0;
    requested_at_.compare_exchange_strong(never, now(), std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_requested() const noexcept { return requested_at_.load(std::memory_order_relaxed) != 0; }
  /// Returns whether the request was made at least `grace` ago. Reads the clock only after a request.
  [[nodiscard]] bool is_older(std::chrono::nanoseconds grace) const noexcept {
    const std::int64_t requested_at = requested_at_.load(std::memory_order_relaxed);
    return requested_at != 0 && now() - requested_at >= grace.count();
  }

 private:
  /// Returns the time of the steady clock in nanoseconds.
  static std::int64_t now() noexcept {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  static_assert(std::atomic<std::int64_t>::is_always_lock_free);
  std::atomic<std::int64_t> requested_at_ = 0;  ///< 0 before the request
};

/// Returns the status of work that was cancelled.
[[nodiscard]] inline status stopped_as_asked() { return {status_code::cancelled, "stopped as asked"}; }

/// A stream of bytes. Not thread-safe.
class source {
 public:
  virtual ~source() = default;

  /// Reads between 1 and `destination.size()` bytes, and waits until at least one is available. Returns the number of
  /// bytes, or 0 at the end of the stream. Errors: io_error; cancelled.
  [[nodiscard]] virtual result<std::size_t> read(std::span<std::uint8_t> destination) = 0;

  /// Skips the hole of a sparse file that begins at the current offset, without reading its zeros. Returns the number
  /// of bytes skipped, or 0 if the source knows of no hole there. A caller finds every hole if it calls this before
  /// each `read`; zeros that are not skipped are read. Errors: as for `read`.
  [[nodiscard]] virtual result<std::uint64_t> skip_hole();
};

/// A stream over memory that the caller owns and that must outlive the source.
class memory_source final : public source {
 public:
  explicit memory_source(byte_span bytes) noexcept : rest_(bytes) {}
  [[nodiscard]] result<std::size_t> read(std::span<std::uint8_t> destination) override;

 private:
  byte_span rest_;
};

/// Bytes that threads may read at any offset, several at once. Thread-safe.
class offset_reader {
 public:
  virtual ~offset_reader() = default;

  /// Reads between 1 and `destination.size()` bytes from `offset` on. Returns the number of bytes, or 0 where there are none. Errors:
  /// io_error; cancelled.
  [[nodiscard]] virtual result<std::size_t> read_at(std::uint64_t offset,
                                                    std::span<std::uint8_t> destination) const = 0;
};

/// Bytes in memory, which the caller owns and which must outlive the reader.
class memory_reader final : public offset_reader {
 public:
  explicit memory_reader(byte_span bytes) noexcept : bytes_(bytes) {}
  [[nodiscard]] result<std::size_t> read_at(std::uint64_t offset, std::span<std::uint8_t> destination) const override;

 private:
  byte_span bytes_;
};

/// `length` bytes of a reader, from `offset` on.
struct shared_range {
  const offset_reader* reader = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

/// A stream that may be a file, whose changes can be detected at its end.
class file_stream : public source {
 public:
  /// Returns the next bytes as far as several threads may read them, without a hole; of length 0 where only `read` reads them. The
  /// file may have fewer bytes, which `read` then reports. The range is valid until the stream is destroyed. Call `skip_hole` before.
  [[nodiscard]] virtual shared_range readable_range() { return {}; }
  /// Passes the first `count` bytes of the range, which were read.
  virtual void pass(std::uint64_t count) { static_cast<void>(count); }

  /// Checks, after the end of the stream, that a regular file still has the size, mtime and ctime that it was opened
  /// with, and that its reads did not end before that size. If so, the bytes that were read are one state of the file, as
  /// far as the resolution of its timestamps can tell. Returns success for a stream that is not a regular file, and for
  /// files of the kernel's own file systems, such as sysfs, that end early.
  ///
  /// A changed ctime alone counts as a change, because a program that overwrites a file can restore its mtime but not
  /// its ctime. Therefore renaming a file or setting its mode counts as a change too; see `restart_unmodified`. Removing
  /// its last name does not. Errors: io_error, also if the file has changed.
  [[nodiscard]] virtual status check_unchanged() const = 0;

  /// Starts a regular file again at its first byte if it has the size and the mtime that it was opened with, and returns
  /// whether it does. Call it when `check_unchanged` has failed: if only the mode or a name was changed, the bytes are the
  /// same as before, and the caller can compare them; a file that ended early may not do so again. From then on
  /// `check_unchanged` compares with the present state.
  [[nodiscard]] virtual bool restart_unmodified() { return false; }
};

/// The state of a regular file when it was opened.
struct file_state {
  std::uint64_t size;
  std::timespec modified;  ///< mtime
  std::timespec changed;   ///< ctime
};

/// Options for opening a file.
struct file_options {
  /// How long to wait for the writer of a FIFO. 0 requires that one is there already. Raise it if the writer is started
  /// by hand.
  std::chrono::milliseconds writer_wait{10'000};
};

/// A file, pipe, device or standard input, read through its descriptor.
///
/// Waiting for the bytes of a pipe, terminal or socket, or for the writer of a FIFO, checks `cancel` ten times a second
/// and at every signal. Reads of regular files and block devices check it between system calls. `cancel` may be null
/// and must outlive the source. A signal alone does not end a wait.
///
/// A regular file is read at an offset that belongs to the source, so other code may use the offset of the descriptor.
/// The stream ends where reads of the file end, even if that differs from its reported size. Holes are those that the
/// file system reports within the size that the file was opened with.
class file_source final : public file_stream, public offset_reader {
 public:
  /// Opens a file for reading. Waits for the writer of a FIFO; if a writer has come and gone, the stream is empty.
  /// Errors: io_error, also if `path` is a directory or a FIFO whose writer does not come in time (ETIMEDOUT);
  /// cancelled.
  [[nodiscard]] static result<file_source> open(const std::string& path, const cancellation* cancel = nullptr,
                                                const file_options& options = {});

  /// Opens a regular file or a block device that a walk has found, during the walk's call: in the folder that it was found
  /// in, without following a link that the walk did not follow. Errors: io_error; ESTALE, if the name belongs to another
  /// file now; cancelled.
  [[nodiscard]] static result<file_source> open(const tree_entry& entry, const cancellation* cancel = nullptr);

  /// Returns standard input from its current offset. The descriptor stays open when the source is destroyed.
  [[nodiscard]] static file_source standard_input(const cancellation* cancel = nullptr);

  file_source(file_source&& other) noexcept;
  file_source& operator=(file_source&&) = delete;
  ~file_source() override;

  /// Reads as `source::read` does, but not past the beginning of a hole that `skip_hole` can skip. Holes are looked for
  /// in files of 64 KiB and more.
  [[nodiscard]] result<std::size_t> read(std::span<std::uint8_t> destination) override;
  [[nodiscard]] result<std::uint64_t> skip_hole() override;

  [[nodiscard]] shared_range readable_range() override;
  void pass(std::uint64_t count) override { regular_->offset += count; }
  [[nodiscard]] result<std::size_t> read_at(std::uint64_t offset, std::span<std::uint8_t> destination) const override;

  /// Checks a regular file that this source opened; returns success for any other.
  [[nodiscard]] status check_unchanged() const override;
  [[nodiscard]] bool restart_unmodified() override;

  /// Returns the descriptor, which belongs to the source.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  friend class preopened_file;  // reads the file at offsets of its own

  enum class ownership { borrowed, owned };

  /// Whether a read may wait inside the system call, in which it cannot see a cancellation.
  enum class waiting { never, until_polled };

  /// A regular file that was opened here, and how far it has been read.
  struct regular_file {
    explicit regular_file(const file_state& state) noexcept;

    file_state state_at_opening;
    std::uint64_t offset = 0;
    std::uint64_t data_end = 0;  ///< end of the bytes from `offset` on that are known to contain no hole
  };

  file_source(int descriptor, ownership owns, std::string name, const cancellation* cancel) noexcept;

  [[nodiscard]] static result<file_source> open_as(const std::string& path, bool is_fifo, const cancellation* cancel,
                                                   const file_options& options);
  [[nodiscard]] static file_source of_descriptor(int descriptor, std::string name, const struct ::stat& facts,
                                                 const cancellation* cancel);
  [[nodiscard]] bool is_cancelled() const noexcept;
  [[nodiscard]] status await_writer(std::chrono::milliseconds writer_wait);
  [[nodiscard]] std::ptrdiff_t read_once(std::span<std::uint8_t> destination);

  int descriptor_;
  ownership ownership_;
  waiting waits_ = waiting::never;
  std::string name_;
  const cancellation* cancel_;
  std::optional<regular_file> regular_;
  std::optional<std::uint8_t> early_;  ///< the byte that the wait for a writer read
};

}  // namespace cutpoint
