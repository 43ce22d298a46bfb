// The chunks of the listing are consumed as the chunks of the inputs are delivered.
#include "cli/chunk/listing_checker.h"

#include <utility>

#include <cutpoint/text.h>
#include <fmt/format.h>

namespace cutpoint::cli {

status listing_checker::advance() {
  auto next = listing_.next();
  if (!next) return next.error();
  next_ = *std::move(next);
  return {};
}

bool listing_checker::is_next_of_input() const {
  return next_ && next_->path == path_ && (!is_inside_ || next_->where.offset != 0);
}

status listing_checker::skip_input() {
  while (is_next_of_input()) {
    is_inside_ = true;
    if (status read = advance(); !read.ok()) return read;
  }
  return {};
}

status listing_checker::find_input(const std::string& path) {
  while (next_ && next_->path != path) {
    path_ = next_->path;
    is_inside_ = false;
    ++missing_count_;
    say_.error(fmt::format("{}: is in the listing, but is no file here", path_));
    if (status skipped = skip_input(); !skipped.ok()) return skipped;
  }
  path_ = path;
  is_inside_ = false;
  return {};
}

status listing_checker::begin_input(std::uint64_t, const std::string& path) {
  difference_.reset();
  return find_input(path);
}

status listing_checker::take_chunk(const delivered_chunk& c) {
  for (std::uint64_t i = 0; i < c.count && !difference_; ++i) {
    const chunk where{c.offset + i * c.length, c.length};
    if (!is_next_of_input() || next_->where.offset != where.offset || next_->where.length != where.length ||
        next_->digest != to_hex(c.fingerprint)) {
      difference_ = where.offset;
      break;
    }
    is_inside_ = true;
    if (status read = advance(); !read.ok()) return read;
  }
  return {};
}

status listing_checker::end_input(std::uint64_t, const status& outcome) {
  if (!difference_ && is_next_of_input()) difference_ = next_->where.offset;
  if (status skipped = skip_input(); !skipped.ok()) return skipped;
  count_ = !outcome.ok() ? nullptr : difference_ ? &different_count_ : &equal_count_;
  has_ended_ = true;
  if (!outcome.ok()) return {};
  ++*count_;
  if (difference_) {
    say_.error(fmt::format("{}: differs from the listing in the chunk at byte {}", path_, *difference_));
  } else {
    say_.note(fmt::format("{}: is equal", path_));
  }
  return {};
}

status listing_checker::input_failed(const std::string& path, const status& why) {
  say_.error(why.message());
  if (std::exchange(has_ended_, false) && path == path_) {  // it failed while it was read, or changed meanwhile
    if (count_ != nullptr) --*count_;
    return {};
  }
  if (status moved = find_input(path); !moved.ok()) return moved;
  return skip_input();
}

status listing_checker::finish() {
  while (next_) {
    if (status moved = find_input({}); !moved.ok()) return moved;
  }
  return {};
}

std::string listing_checker::summary() const {
  return fmt::format("{} equal, {} different, {} missing or failed\n", equal_count_, different_count_,
                     missing_count_ + failed_count());
}

}  // namespace cutpoint::cli
