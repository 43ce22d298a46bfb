// Plans reads ahead: the ranges of all files in order, as far as they fit into the window, and the queue of their requests.
//
//     consumed ◄── [block][block in flight][block][hole][block read in its turn] ◄── planned ◄── files that were added
//
// A file range is a block that is read into the window, a hole, or a block that is read in its turn, directly to the
// consumer's memory, because it is in the page cache or a request for it failed. So file_source repeats every read that
// failed, and reports and places its errors. Ranges are planned, held and consumed in one order. Therefore the range
// that the consumer waits for never waits for memory that later ranges hold.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <utility>

#include <cutpoint/file_reader.h>
#include <cutpoint/status.h>
#include <sys/mman.h>

#include "host/io/regular_file.h"

namespace cutpoint {

/// A read of a file at an offset. The caller owns the bytes, and must not use them until it has collected the outcome.
struct read_request {
  int descriptor = -1;
  std::uint64_t offset = 0;
  std::span<std::uint8_t> into = {};
  std::uint64_t token = 0;  ///< chosen by the caller; unique among the requests in flight, and never the largest 64-bit
                            ///< number
};

struct read_outcome {
  std::uint64_t token = 0;
  std::int64_t count = 0;  ///< number of bytes, 0 at the end of the file, or -errno
};

/// A queue of reads. Not thread-safe. Whoever pushes a request must collect its outcome before it destroys the queue or
/// the request's bytes.
class read_queue {
 public:
  virtual ~read_queue() = default;

  /// Returns how many requests may be pushed before any of them is collected.
  [[nodiscard]] virtual std::size_t depth() const noexcept = 0;
  /// Adds a request to those of the next `submit`. Returns false if the queue will never take a request again.
  [[nodiscard]] virtual bool push(const read_request& next) = 0;
  /// Passes the pushed requests to the kernel. A request that the kernel refuses is retried, or its outcome is an
  /// error.
  virtual void submit() = 0;
  /// Returns the outcomes that have not been returned yet. If there are none, waits for the first one until `at_most`
  /// has passed or a signal arrives. The outcomes are valid until the next call.
  [[nodiscard]] virtual std::span<const read_outcome> collect(std::chrono::milliseconds at_most) = 0;
  /// Asks the kernel to end a request early. Its outcome is collected as usual.
  virtual void cancel(std::uint64_t token) = 0;
};

/// Makes a queue that uses io_uring. Errors: unavailable, if this build or this system has no io_uring or does not
/// grant it.
[[nodiscard]] result<std::shared_ptr<read_queue>> make_uring_queue(std::size_t depth);

/// Allocates page-aligned blocks from a ring. They are given back in the order in which they were taken. Not
/// thread-safe.
class read_window {
 public:
  /// Reserves the memory without touching its pages. Throws std::bad_alloc.
  explicit read_window(std::uint64_t bytes) : size_(bytes / page * page) {
    void* mapped = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    begin_ = static_cast<std::uint8_t*>(mapped);
  }
  read_window(const read_window&) = delete;
  read_window& operator=(const read_window&) = delete;
  ~read_window() { ::munmap(begin_, size_); }

  /// A block of memory, and the bytes of the ring that it occupies.
  struct block {
    std::span<std::uint8_t> room;
    std::uint64_t held_bytes = 0;
  };

  /// Takes a block of `bytes` bytes. Returns nullopt if the ring has too little free memory.
  [[nodiscard]] std::optional<block> take(std::uint64_t bytes) {
    const std::uint64_t size = (bytes + page - 1) / page * page;
    const std::uint64_t at = end_ % size_;
    const std::uint64_t passed = at + size > size_ ? size_ - at : 0;  // the unused bytes at the ring's end
    if (size > size_ || used_bytes() + passed + size > size_) return std::nullopt;
    end_ += passed + size;
    most_held_ = std::max(most_held_, used_bytes());
    return block{{begin_ + (end_ - size) % size_, bytes}, passed + size};
  }

  void give_back(const block& oldest) { given_back_ += oldest.held_bytes; }

  [[nodiscard]] std::uint64_t used_bytes() const { return end_ - given_back_; }
  [[nodiscard]] std::uint64_t most_held() const { return most_held_; }

 private:
  static constexpr std::uint64_t page = 4096;

  std::uint64_t size_;
  std::uint8_t* begin_ = nullptr;
  std::uint64_t end_ = 0;         ///< bytes taken in total; modulo the size, the position in the ring
  std::uint64_t given_back_ = 0;  ///< bytes of these that were given back
  std::uint64_t most_held_ = 0;
};

/// A file, with how far it has been planned and how far it has been consumed. Used by read_ahead.
struct file_progress {
  explicit file_progress(std::unique_ptr<preopened_file> source) : file(std::move(source)) {}

  std::unique_ptr<preopened_file> file;
  std::uint64_t planned = 0;      ///< bytes of the file that have been planned
  std::uint64_t data_end = 0;     ///< end of the bytes from `planned` on that are known to contain no hole
  std::uint64_t consumed = 0;     ///< bytes of the file that have been consumed
  std::uint64_t unread = 0;       ///< planned ranges that are not in the window yet
  bool is_end_seen = false;       ///< whether a read found the end of the file where its size says
  bool is_all_ahead = true;       ///< whether no range is read in its turn
  bool is_dropped = false;        ///< whether the consumer has abandoned the file
  std::optional<status> checked;  ///< whether it was unchanged when all of it was in the window
};

/// Reads files ahead through a queue. Not thread-safe.
class read_ahead {
 public:
  read_ahead(const file_reader_options& options, std::shared_ptr<read_queue> queue);
  read_ahead(const read_ahead&) = delete;
  read_ahead& operator=(const read_ahead&) = delete;
  ~read_ahead();

  /// Adds a file after all others. Files are consumed in this order, and each must be dropped before the next is read.
  void add(std::shared_ptr<file_progress> next);
  /// Returns whether the window has too little memory for the rest of the files.
  [[nodiscard]] bool is_full() const { return !unplanned_.empty(); }

  /// As the functions of `source`.
  [[nodiscard]] result<std::size_t> read(file_progress& file, std::span<std::uint8_t> destination);
  [[nodiscard]] result<std::uint64_t> skip_hole(file_progress& file);
  /// As the functions of `file_stream`: the first ranges, if they are read in their turn.
  [[nodiscard]] shared_range readable_range(file_progress& file);
  void pass(file_progress& file, std::uint64_t count);
  void drop(file_progress& file);

  [[nodiscard]] file_reader_statistics statistics() const;

 private:
  enum class file_range_kind { hole, ahead, in_its_turn };

  struct file_range {
    std::shared_ptr<file_progress> of;
    file_range_kind kind;
    std::uint64_t offset;
    std::uint64_t length;  ///< bytes of the file in this range
    bool is_direct = false;
    bool is_in_flight = false;
    bool is_last = false;  ///< whether it ends where the file did when it was opened
    int descriptor = -1;
    int repeated = 0;
    read_window::block block = {};  ///< larger than `length` at the end of the file, so that the read detects the end
    std::uint64_t filled = 0;       ///< bytes of `block.room` that have been read
    std::uint64_t consumed = 0;

    [[nodiscard]] std::uint64_t ready() const;
  };

  [[nodiscard]] file_range* front_of(const file_progress& file);
  [[nodiscard]] result<std::size_t> read_in_turn(file_progress& file, std::uint64_t end,
                                                 std::span<std::uint8_t> destination);
  void advance();
  [[nodiscard]] bool plan_next_range();
  [[nodiscard]] bool plan_data(const std::shared_ptr<file_progress>& file, std::uint64_t length);
  void request(file_range& which, std::uint64_t token);
  void submit_if_worth_it();
  void wait();
  void complete(const read_outcome& done);
  void deliver_outcome(file_range& which);
  void pop();
  void release();

  file_access access_;
  std::uint64_t block_bytes_;
  std::shared_ptr<read_queue> queue_;
  read_window window_;
  std::deque<std::shared_ptr<file_progress>> unplanned_;  ///< files that have not been planned to their end
  std::deque<file_range> ranges_;
  std::uint64_t first_token_ = 0;  ///< token of the first range; the following ranges have the numbers after it
  std::uint64_t in_flight_ = 0;    ///< requests in flight
  std::uint64_t unsubmitted_ = 0;  ///< requests of these that have not been submitted
  std::uint64_t unsubmitted_bytes_ = 0;
  std::uint64_t in_their_turn_ = 0;  ///< ranges that are read in their turn
  file_reader_statistics statistics_;
};

}  // namespace cutpoint
