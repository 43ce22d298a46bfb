// Plans, requests, completes and consumes file ranges.
#include "host/io/read_ahead.h"

#include <cerrno>
#include <cstring>

namespace cutpoint {

namespace {

using std::chrono::milliseconds;

/// The longest time until a request to stop is seen.
constexpr milliseconds longest_wait{100};

constexpr std::uint64_t block_granule = 64 * KiB;
/// Measured at 256 KiB and 2 MiB on a tree of small files: the differences were noise.
constexpr std::uint64_t smallest_direct_file = 1 * MiB;

constexpr std::size_t most_ranges = 256;
/// Blocks that are cached now may not be cached later.
constexpr std::uint64_t most_in_their_turn = 32;

/// Of a block whether it is cached is asked of its beginning alone: the system looks at each page, at a thirtieth of the time that
/// copying it takes.
constexpr std::uint64_t most_probed_bytes = 64 * KiB;

/// Requests are submitted when this many of them, or this many bytes, have been pushed.
constexpr std::uint64_t submitted_together = 16;
constexpr std::uint64_t submitted_bytes_together = 64 * KiB;

constexpr int most_repeats = 8;
constexpr std::uint64_t anywhere = std::uint64_t{1} << 62;

std::uint64_t block_of(std::uint64_t budget) {
  return std::clamp(budget / 16 / block_granule * block_granule, block_granule, 512 * KiB);
}

std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t granule) {
  return (bytes + granule - 1) / granule * granule;
}

}  // namespace

/// Returns more than the length only at the end of a file that has grown since it was opened.
std::uint64_t read_ahead::file_range::ready() const { return is_last ? filled : std::min(filled, length); }

read_ahead::read_ahead(const file_reader_options& options, std::shared_ptr<read_queue> queue)
    : access_(options.access),
      block_bytes_(block_of(options.budget_bytes)),
      queue_(std::move(queue)),
      window_(options.budget_bytes) {}

read_ahead::~read_ahead() {
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    if (ranges_[i].is_in_flight && !ranges_[i].of->is_dropped) queue_->cancel(first_token_ + i);
  }
  for (file_range& each : ranges_) each.of->is_dropped = true;
  while (in_flight_ > 0) wait();
}

void read_ahead::add(std::shared_ptr<file_progress> next) {
  if (next->file->size() > 0) unplanned_.push_back(std::move(next));
  advance();
}

// --- Consuming -------------------------------------------------------------------------------------------------------

/// Returns the first range if it belongs to `file`, else null. First waits for ranges of dropped files that are still
/// in flight before it.
read_ahead::file_range* read_ahead::front_of(const file_progress& file) {
  for (release(); !ranges_.empty() && ranges_.front().of->is_dropped; release()) wait();
  return !ranges_.empty() && ranges_.front().of.get() == &file ? &ranges_.front() : nullptr;
}

result<std::size_t> read_ahead::read_in_turn(file_progress& file, std::uint64_t end,
                                             std::span<std::uint8_t> destination) {
  auto count = file.file->read_at(file.consumed, end, destination);
  if (count) file.consumed += *count;
  return count;
}

result<std::size_t> read_ahead::read(file_progress& file, std::span<std::uint8_t> destination) {
  for (;;) {
    CUTPOINT_RETURN_IF_FAILED(file.file->cancelled());
    if (file.file->is_stream()) return read_in_turn(file, anywhere, destination);
    advance();
    file_range* next = front_of(file);
    if (next == nullptr) {
      if (file.planned < file.file->size()) continue;
      return file.is_end_seen ? result<std::size_t>(std::size_t{0}) : read_in_turn(file, anywhere, destination);
    }
    if (next->kind == file_range_kind::hole && next->consumed < next->length) {
      const std::size_t count = std::min<std::uint64_t>(destination.size(), next->length - next->consumed);
      std::memset(destination.data(), 0, count);
      next->consumed += count;
      file.consumed += count;
      return count;
    }
    if (next->consumed < next->ready()) {
      const std::size_t count = std::min<std::uint64_t>(destination.size(), next->ready() - next->consumed);
      std::memcpy(destination.data(), next->block.room.data() + next->consumed, count);
      next->consumed += count;
      file.consumed += count;
      if (next->consumed == next->ready() && !next->is_in_flight && next->consumed >= next->length) pop();
      return count;
    }
    if (next->is_in_flight) {
      wait();
    } else if (next->consumed < next->length) {
      const auto count = read_in_turn(file, next->offset + next->length, destination);
      if (count) next->consumed += *count;
      return count;
    } else {
      pop();
    }
  }
}

result<std::uint64_t> read_ahead::skip_hole(file_progress& file) {
  CUTPOINT_RETURN_IF_FAILED(file.file->cancelled());
  if (file.file->is_stream()) return std::uint64_t{0};
  advance();
  file_range* next = front_of(file);
  while (next != nullptr && !next->is_in_flight && next->consumed >= std::max(next->length, next->ready())) {
    pop();
    next = front_of(file);
  }
  if (next == nullptr || next->kind != file_range_kind::hole) return std::uint64_t{0};
  const std::uint64_t count = next->length - next->consumed;
  file.consumed += count;
  pop();
  return count;
}

shared_range read_ahead::readable_range(file_progress& file) {
  if (file.file->is_stream()) return {};
  shared_range range = {.reader = &file.file->reader(), .offset = file.consumed, .length = 0};
  for (const file_range& next : ranges_) {
    if (next.of.get() != &file || next.kind != file_range_kind::in_its_turn) break;
    range.length += next.length - next.consumed;
  }
  return range;
}

void read_ahead::pass(file_progress& file, std::uint64_t count) {
  file.consumed += count;
  while (count != 0) {
    file_range& first = ranges_.front();
    const std::uint64_t passed = std::min(count, first.length - first.consumed);
    first.consumed += passed;
    count -= passed;
    if (first.consumed == first.length) pop();
  }
}

void read_ahead::drop(file_progress& file) {
  file.is_dropped = true;
  std::erase_if(unplanned_, [&](const auto& other) { return other.get() == &file; });
  for (std::size_t i = 0; file.unread > 0 && i < ranges_.size(); ++i) {
    if (ranges_[i].of.get() == &file && ranges_[i].is_in_flight) queue_->cancel(first_token_ + i);
  }
  release();
}

void read_ahead::pop() {
  file_range& first = ranges_.front();
  if (first.kind == file_range_kind::in_its_turn) --in_their_turn_;
  window_.give_back(first.block);
  ranges_.pop_front();
  ++first_token_;
}

void read_ahead::release() {
  while (!ranges_.empty() && ranges_.front().of->is_dropped && !ranges_.front().is_in_flight) pop();
}

// --- Planning --------------------------------------------------------------------------------------------------------

void read_ahead::advance() {
  for (const read_outcome& done : queue_->collect(milliseconds::zero())) complete(done);
  while (plan_next_range()) {
  }
  submit_if_worth_it();
}

bool read_ahead::plan_next_range() {
  if (unplanned_.empty() || ranges_.size() >= most_ranges || in_flight_ >= queue_->depth() ||
      in_their_turn_ >= most_in_their_turn) {
    return false;
  }
  const std::shared_ptr<file_progress> file = unplanned_.front();
  const std::uint64_t size = file->file->size();
  if (file->planned >= file->data_end) {
    const file_extent next = file->file->extent_from(file->planned);
    if (next.hole_bytes != 0) {
      ranges_.push_back(
          {.of = file, .kind = file_range_kind::hole, .offset = file->planned, .length = next.hole_bytes});
      file->planned += next.hole_bytes;
    }
    file->data_end = std::max(next.data_end, file->planned);
  } else {
    const std::uint64_t length = std::min(block_bytes_, file->data_end - file->planned);
    if (!plan_data(file, length)) return false;
    file->planned += length;
  }
  if (file->planned >= size) unplanned_.pop_front();
  return true;
}

bool read_ahead::plan_data(const std::shared_ptr<file_progress>& file, std::uint64_t length) {
  preopened_file& source = *file->file;
  file_range next = {.of = file, .kind = file_range_kind::ahead, .offset = file->planned, .length = length};
  next.is_last = next.offset + length >= source.size();
  next.descriptor = source.descriptor();
  const bool is_probed = access_ == file_access::automatic;
  if (is_probed && is_mostly_cached(source.descriptor(), next.offset, std::min(length, most_probed_bytes))) {
    next.kind = file_range_kind::in_its_turn;
    file->is_all_ahead = false;
    ranges_.push_back(std::move(next));
    ++in_their_turn_;
    return true;
  }
  std::uint64_t asked = length + (next.is_last ? 1 : 0);
  const bool wants_direct = access_ == file_access::direct || (is_probed && source.size() >= smallest_direct_file);
  if (wants_direct) {
    const direct_descriptor& direct = source.direct();
    next.is_direct = direct.descriptor >= 0 && next.offset % direct.alignment == 0;
    if (next.is_direct) next.descriptor = direct.descriptor;
    if (next.is_direct) asked = rounded_up(length, direct.alignment);
  }
  const auto block = window_.take(asked);
  if (!block) return false;
  next.block = *block;
  ranges_.push_back(std::move(next));
  ++file->unread;
  request(ranges_.back(), first_token_ + ranges_.size() - 1);
  return true;
}

// --- Requests --------------------------------------------------------------------------------------------------------

void read_ahead::request(file_range& which, std::uint64_t token) {
  const std::span<std::uint8_t> rest = which.block.room.subspan(which.filled);
  const bool is_taken = queue_->push({which.descriptor, which.offset + which.filled, rest, token});
  if (!is_taken) return deliver_outcome(which);
  which.is_in_flight = true;
  ++in_flight_;
  ++unsubmitted_;
  unsubmitted_bytes_ += rest.size();
  ++statistics_.read_count;
  statistics_.most_in_flight = std::max(statistics_.most_in_flight, in_flight_);
}

void read_ahead::submit_if_worth_it() {
  if (unsubmitted_ == 0) return;
  const bool is_worth_it = unsubmitted_ >= submitted_together || unsubmitted_bytes_ >= submitted_bytes_together;
  if (!is_worth_it) return;
  queue_->submit();
  unsubmitted_ = 0;
  unsubmitted_bytes_ = 0;
}

void read_ahead::wait() {
  for (const read_outcome& done : queue_->collect(longest_wait)) complete(done);
  unsubmitted_ = 0;
  unsubmitted_bytes_ = 0;
}

void read_ahead::complete(const read_outcome& done) {
  file_range& which = ranges_[done.token - first_token_];
  which.is_in_flight = false;
  --in_flight_;
  if (which.of->is_dropped) return;
  bool is_repeated = done.count == -EINTR || done.count == -EAGAIN;
  if (done.count > 0) {
    which.filled += static_cast<std::uint64_t>(done.count);
    statistics_.read_bytes += static_cast<std::uint64_t>(done.count);
    if (which.is_direct) statistics_.direct_bytes += static_cast<std::uint64_t>(done.count);
    const bool is_aligned = !which.is_direct || which.filled % which.of->file->direct().alignment == 0;
    is_repeated = which.filled < which.block.room.size() && which.filled < which.length && is_aligned;
  }
  const bool is_read = done.count >= 0 && which.is_last && which.filled == which.length;
  if (is_read && which.filled < which.block.room.size()) which.of->is_end_seen = true;
  if (is_repeated && which.repeated++ < most_repeats) return request(which, done.token);
  deliver_outcome(which);
}

/// Finishes a range for which no request is in flight any more. If the whole file is in the window now, checks that
/// what was read is one state of it, so that later changes do not matter.
void read_ahead::deliver_outcome(file_range& which) {
  file_progress& file = *which.of;
  --file.unread;
  file.is_all_ahead = file.is_all_ahead && which.filled >= which.length;
  if (file.is_all_ahead && file.is_end_seen && file.unread == 0) file.checked = file.file->check_unchanged();
}

file_reader_statistics read_ahead::statistics() const {
  file_reader_statistics now = statistics_;
  now.most_held_bytes = window_.most_held();
  return now;
}

}  // namespace cutpoint
