// The plan of what is read ahead: files in order, in ranges, as far as the window holds them.
//
//     consumed ◄── [file_range][file_range under way][file_range][hole][file_range in its turn] ◄── planned ◄── files that were added
//
// A file_range is a block of a file on its way into the window, a hole, or a block that is better read in its turn, straight
// to where the consumer wants it: because it is in the page cache, or because a request for it failed. So everything
// that goes wrong is found again, told and placed by file_source. Pieces are planned, held and consumed in one order,
// so that whoever consumes waits for nothing that waits for the window.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <cutpoint/file_reader.h>

#include "host/io/preopened_file.h"
#include "host/io/read_queue.h"
#include "host/io/read_window.h"

namespace cutpoint {

/// A file, how far it is planned and how far it is consumed. Of read_ahead.
struct file_progress {
  explicit file_progress(std::unique_ptr<preopened_file> opened) : file(std::move(opened)) {}

  std::unique_ptr<preopened_file> file;
  std::uint64_t planned = 0;      ///< bytes, of its size
  std::uint64_t data_end = 0;     ///< no hole from `planned` to here
  std::uint64_t consumed = 0;     ///< bytes
  std::uint64_t unread = 0;       ///< ranges that were planned and are not in the window yet
  bool is_end_seen = false;       ///< a read came to it, where the size is
  bool is_all_ahead = true;       ///< no file_range is read in its turn
  bool is_dropped = false;        ///< nobody consumes it any more
  std::optional<status> checked;  ///< whether it was unchanged when all of it was in the window
};

/// One thread at a time.
class read_ahead {
 public:
  read_ahead(const file_reader_options& options, std::shared_ptr<read_queue> queue);
  read_ahead(const read_ahead&) = delete;
  read_ahead& operator=(const read_ahead&) = delete;
  ~read_ahead();

  /// The file that follows all others. Consumed in that order: each is dropped before the next is read.
  void add(std::shared_ptr<file_progress> next);
  /// Whether the window does not reach to the end of the files.
  [[nodiscard]] bool is_full() const { return !unplanned_.empty(); }

  /// As those of a source.
  [[nodiscard]] result<std::size_t> read(file_progress& file, std::span<std::uint8_t> destination);
  [[nodiscard]] result<std::uint64_t> skip_hole(file_progress& file);
  void drop(file_progress& file);

  [[nodiscard]] file_reader_statistics statistics() const;

 private:
  enum class file_range_kind { hole, ahead, in_its_turn };

  struct file_range {
    std::shared_ptr<file_progress> of;
    file_range_kind kind;
    std::uint64_t offset;
    std::uint64_t length;  ///< of the file's bytes that it stands for
    bool is_direct = false;
    bool is_under_way = false;
    bool is_last = false;  ///< ends where the file did when it was opened
    int descriptor = -1;
    int repeated = 0;
    read_window::block held = {};  ///< room for more than `length` at the file's end, to see that it is the end
    std::uint64_t filled = 0;      ///< bytes of the room
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
  std::deque<std::shared_ptr<file_progress>> unplanned_;  ///< files of which there is more to plan
  std::deque<file_range> ranges_;
  std::uint64_t first_token_ = 0;  ///< of the first file_range; they count up
  std::uint64_t under_way_ = 0;    ///< requests
  std::uint64_t unsubmitted_ = 0;  ///< of them
  std::uint64_t unsubmitted_bytes_ = 0;
  std::uint64_t in_their_turn_ = 0;  ///< ranges
  file_reader_statistics statistics_;
};

}  // namespace cutpoint
