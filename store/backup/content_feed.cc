#include "store/backup/content_feed.h"

#include <algorithm>
#include <utility>

#include "store/session/work_timer.h"

namespace cutpoint::store {

content_feed::content_feed(engine& threads, const feed_options& options, write_session& session)
    : engine_(threads),
      options_(options),
      session_(session),
      receiver_(
          session, [this](std::uint64_t stream, const stored_extent& extent) { return take_extent(stream, extent); },
          [this](std::uint64_t stream, const status&) { return end_stream(stream); }) {}

status content_feed::begin(fed_stream next) {
  if (!feed_) {
    auto feed = engine_.open(options_, receiver_);
    if (!feed) return feed.error();
    feed_.emplace(std::move(*feed));
  }
  return feed_->begin(streams_.add(std::move(next)), rule_);
}

status content_feed::take_extent(std::uint64_t stream, const stored_extent& extent) {
  return streams_.find(stream).entry->add(extent, session_);
}

status content_feed::end_stream(std::uint64_t stream) {
  const fed_stream ended = streams_.remove(stream);
  if (ended.hole_bytes != 0) {
    if (status added = ended.entry->add({extent_kind::hole, {}, ended.hole_bytes}, session_); !added.ok()) return added;
  }
  if (ended.is_repeated) ended.entry->restart();
  return ended.is_last ? ended.entry->complete() : status();
}

void content_feed::begin_content(std::shared_ptr<pending_entry> entry) {
  content_ = std::move(entry);
  rule_ = session_.context().rule_of(content_->entry.name);
  is_in_data_ = false;
  hole_bytes_ = 0;
}

/// Begins a stream for the data that follow, unless one is open and no hole has come since.
status content_feed::begin_data() {
  if (is_in_data_ && hole_bytes_ == 0) return {};
  if (status ended = is_in_data_ ? feed_->end() : status(); !ended.ok()) return ended;
  if (hole_bytes_ != 0) {
    if (status begun = begin({content_, std::exchange(hole_bytes_, 0)}); !begun.ok()) return begun;
    if (status ended = feed_->end(); !ended.ok()) return ended;
  }
  is_in_data_ = false;
  const status begun = begin({content_});
  is_in_data_ = begun.ok();
  return begun;
}

status content_feed::write(byte_span bytes) {
  if (status begun = begin_data(); !begun.ok()) return begun;
  return feed_->write(bytes);
}

status content_feed::end_content(bool is_repeated) {
  if (status begun = begin_data(); !begun.ok()) return begun;
  streams_.change_last([&](fed_stream& last) {
    last.is_last = !is_repeated;
    last.is_repeated = is_repeated;
  });
  is_in_data_ = false;
  return feed_->end();
}

result<std::size_t> content_feed::read(file_stream& file, std::span<std::uint8_t> destination) {
  const work_timer timer(reading_);
  const auto count = file.read(destination);
  if (count) reading_.bytes += *count;
  return count;
}

/// Feeds data and holes. Returns the length of the file.
result<std::uint64_t> content_feed::feed_file(file_stream& file, status& failure) {
  std::uint64_t bytes = 0;
  const auto add = [&](std::uint64_t count) {
    bytes += count;
    if (watcher_) watcher_(count);
  };
  for (;;) {
    const auto hole = file.skip_hole();
    if (!hole) failure = hole.error();
    if (!hole) return bytes;
    if (*hole != 0) {
      write_hole(*hole);
      add(*hole);
      continue;
    }
    if (status begun = begin_data(); !begun.ok()) return begun;
    const auto room = feed_->space();
    if (!room) return room.error();
    const std::uint64_t most_bytes = throttle_ != nullptr ? throttle_->block_bytes() : UINT64_MAX;
    const auto count = read(file, room->first(std::min<std::uint64_t>(room->size(), most_bytes)));
    if (count && throttle_ != nullptr) failure = throttle_->wait(*count);
    if (!failure.ok()) return bytes;
    if (!count) failure = count.error();
    if (!count || *count == 0) return bytes;
    if (status committed = feed_->commit(*count); !committed.ok()) return committed;
    add(*count);
  }
}

status content_feed::store_file(const std::shared_ptr<pending_entry>& entry, file_stream& file, status& failure) {
  begin_content(entry);
  for (bool is_first = true;; is_first = false) {
    failure = {};
    const auto bytes = feed_file(file, failure);
    if (!bytes) return bytes.error();
    entry->is_left_out = !failure.ok();
    entry->entry.size = *bytes;
    const status unchanged = failure.ok() ? file.check_unchanged() : status();
    const bool is_repeated = !unchanged.ok() && is_first && file.restart_unmodified();
    if (failure.ok()) failure = unchanged;
    if (status ended = end_content(is_repeated); !ended.ok() || !is_repeated) return ended;
  }
}

status content_feed::finish() {
  if (!feed_) return {};
  const status finished = feed_->finish();
  cutpoint::add_work(work_, feed_->statistics());
  feed_.reset();
  return finished;
}

void content_feed::add_work(store_work& sum) const {
  add(sum.reading, reading_);
  cutpoint::add_work(sum.feed, work_);
}

}  // namespace cutpoint::store
