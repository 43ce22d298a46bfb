// Reads files ahead of their consumer, with many reads in flight at once and within a memory budget.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <cutpoint/bytes.h>
#include <cutpoint/source.h>
#include <cutpoint/status.h>

namespace cutpoint {

/// How regular files are read. It changes only the speed.
enum class file_access {
  automatic,  ///< what is cached as with `pread`; the rest of large files as with `direct`, else as with `uring`
  pread,      ///< in their turn, on the thread that consumes them
  uring,      ///< ahead, with io_uring, through the page cache
  direct,     ///< ahead, with io_uring, past the page cache if the file system supports that
};

/// A queue of reads in flight. Only the reader's own tests use an implementation other than io_uring.
class read_queue;

struct file_reader_options {
  file_access access = file_access::automatic;
  /// The largest number of bytes that are held of files read ahead. If it is less than `least_budget_bytes`, files are
  /// not read ahead.
  std::uint64_t budget_bytes = 16 * MiB;
  /// The largest number of files that are opened ahead. Fewer are where the limit of open files is low, or if the process runs out
  /// of descriptors.
  std::uint64_t most_files = 64;
  /// Requests that reads stop. It is checked between system calls, and ten times a second during a wait. It may be null
  /// and must outlive the reader.
  const cancellation* cancel = nullptr;
  /// Options for files that are opened in their turn.
  file_options opening = {};
  /// The queue for reads; null means io_uring.
  std::shared_ptr<read_queue> reads = nullptr;
};

/// The smallest budget with which files are read ahead.
inline constexpr std::uint64_t least_budget_bytes = 1 * MiB;

/// Statistics of a reader. They exclude holes and the bytes that were read in their turn.
struct file_reader_statistics {
  std::uint64_t read_count = 0;       ///< number of requests
  std::uint64_t read_bytes = 0;       ///< bytes that the requests read
  std::uint64_t direct_bytes = 0;     ///< bytes of these that bypassed the page cache
  std::uint64_t most_in_flight = 0;   ///< largest number of requests in flight at once
  std::uint64_t most_held_bytes = 0;  ///< largest number of bytes of the budget in use at once
};

/// Reads files in the order in which they were added. It keeps reads of the first files in flight, as many as the
/// budget allows, and they proceed even while no member is called. Readers are independent of each other. Not
/// thread-safe.
///
/// An entry that is not a regular file is opened in its turn, as by `file_source`.
class file_reader {
 public:
  /// Makes a reader. Errors: unavailable, if the access is `uring` or `direct` and the system does not grant io_uring;
  /// invalid_argument, if it is one of these and the budget is below `least_budget_bytes`. With `automatic` neither is
  /// an error; the files are then read as with `pread`.
  [[nodiscard]] static result<file_reader> make(const file_reader_options& options = {});

  file_reader(file_reader&&) noexcept;
  file_reader& operator=(file_reader&&) = delete;
  /// Cancels the requests in flight and waits until they have ended.
  ~file_reader();

  /// Adds the next file. If it cannot be opened, `next` returns the error.
  void add(const std::string& path);
  /// Adds a file that the caller has opened, or the error that `next` returns.
  void add(result<file_source> file);
  /// Returns whether the caller should take a file before it adds the next one, so that files are not kept open for
  /// longer than it takes to read them. Files can be added nevertheless.
  [[nodiscard]] bool is_full() const;

  /// Returns the file that was added first and not taken yet; there must be one. The caller must destroy it before it
  /// takes the next, and before the reader. Errors: as for `file_source::open`.
  ///
  /// `read` of this file stops at the end of a block. `skip_hole` finds the holes that a file of 64 KiB or more had
  /// when it was read ahead. `check_unchanged` reports changes that happened before the file had been read to its end.
  [[nodiscard]] result<std::unique_ptr<file_stream>> next();

  /// Returns whether files are read ahead.
  [[nodiscard]] bool reads_ahead() const noexcept;
  /// Returns why files are not read ahead although the access is `automatic`; otherwise an empty string.
  [[nodiscard]] const std::string& fallback_reason() const noexcept;
  [[nodiscard]] file_reader_statistics statistics() const;

 private:
  class queued_files;
  explicit file_reader(std::unique_ptr<queued_files> own) noexcept;

  std::unique_ptr<queued_files> implementation_;
};

}  // namespace cutpoint
