// Files read ahead of whoever consumes them: many reads under way at once, within a budget of memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <cutpoint/bytes.h>
#include <cutpoint/source.h>
#include <cutpoint/status.h>

namespace cutpoint {

/// How regular files are read. Changes no byte that comes out.
enum class file_access {
  automatic,  ///< as `direct` what is not in the page cache, where files are large, else as `uring`; `pread` what is in it
  pread,      ///< in their turn, by the thread that consumes them
  uring,      ///< ahead, by io_uring, through the page cache
  direct,     ///< ahead, by io_uring, past the page cache where the file system can do that
};

/// Requests under way. Only this reader's own tests have others than the kernel's.
class read_queue;

struct file_reader_options {
  file_access access = file_access::automatic;
  /// Most bytes that are held of what was read ahead. With less than `least_budget_bytes` nothing is.
  std::uint64_t budget_bytes = 16 * MiB;
  /// Most files that are open ahead; fewer where descriptors are short.
  std::uint64_t most_files = 64;
  /// Seen between two system calls, and while reads are waited for ten times a second; may be null; must outlive the
  /// reader.
  const cancellation* cancel = nullptr;
  /// Of what is opened in its turn.
  file_options opening = {};
  /// Null: io_uring.
  std::shared_ptr<read_queue> reads = nullptr;
};

inline constexpr std::uint64_t least_budget_bytes = 1 * MiB;

/// What a reader has done so far. Bytes that came by `pread`, and holes, are not in it.
struct file_reader_statistics {
  std::uint64_t read_count = 0;       ///< requests
  std::uint64_t read_bytes = 0;       ///< by them
  std::uint64_t direct_bytes = 0;     ///< of them, past the page cache
  std::uint64_t most_under_way = 0;   ///< requests at once
  std::uint64_t most_held_bytes = 0;  ///< of the budget
};

/// Reads files in the order in which they were added: as many blocks of the first ones as the budget holds are under
/// way at a time, also while nobody calls. Any number of readers share nothing but the disk. One thread at a time.
///
/// What is not a regular file is opened in its turn, as by `file_source`.
class file_reader {
 public:
  /// Errors: unavailable, with the access `uring` or `direct` where the system grants no io_uring; invalid_argument,
  /// with them and less than the least budget. With `automatic` neither is an error: then files are read by `pread`.
  [[nodiscard]] static result<file_reader> make(const file_reader_options& options = {});

  file_reader(file_reader&&) noexcept;
  file_reader& operator=(file_reader&&) = delete;
  /// Ends what is under way, and waits for it.
  ~file_reader();

  /// The next file. What goes wrong with it is told in its turn.
  void add(const std::string& path);
  /// Whether to take a file before the next is added: more would be open for longer than it is read. Nothing is lost
  /// where one is added all the same.
  [[nodiscard]] bool is_full() const;

  /// The file that was added first and not taken yet; there must be one. It must go before the next is taken, and
  /// before the reader. Errors: as file_source::open.
  ///
  /// Its `read` stops short at the end of a block. Its `skip_hole` finds the holes of a file of 64 KiB and more that it
  /// had when it was read ahead. Its `check_unchanged` tells of changes until it had been read to its end.
  [[nodiscard]] result<std::unique_ptr<file_stream>> next();

  /// Whether files are read ahead.
  [[nodiscard]] bool reads_ahead() const noexcept;
  /// Empty, or why files are not read ahead though `automatic` was asked for.
  [[nodiscard]] const std::string& fallback_reason() const noexcept;
  [[nodiscard]] file_reader_statistics statistics() const;

 private:
  class implementation;
  explicit file_reader(std::unique_ptr<implementation> held) noexcept;

  std::unique_ptr<implementation> implementation_;
};

}  // namespace cutpoint
