#include "store/backup/content_feed.h"

#include <utility>

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
  return feed_->begin(streams_.add(std::move(next)));
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

/// Feeds data and holes. Returns the length of the file. The last stream is still open then.
result<std::uint64_t> content_feed::feed_file(const std::shared_ptr<pending_entry>& entry, file_stream& file,
                                              status& failure) {
  std::uint64_t bytes = 0;
  is_in_data_ = false;
  for (;;) {
    const auto hole = file.skip_hole();
    if (!hole) {
      failure = hole.error();
      break;
    }
    if (*hole != 0) {
      if (status ended = std::exchange(is_in_data_, false) ? feed_->end() : status(); !ended.ok()) return ended;
      if (status begun = begin({entry, *hole}); !begun.ok()) return begun;
      if (status ended = feed_->end(); !ended.ok()) return ended;
      bytes += *hole;
      if (watcher_) watcher_(*hole);
      continue;
    }
    if (!is_in_data_) {
      if (status begun = begin({entry}); !begun.ok()) return begun;
      is_in_data_ = true;
    }
    const auto room = feed_->space();
    if (!room) return room.error();
    const auto count = file.read(*room);
    if (!count) failure = count.error();
    if (!count || *count == 0) break;
    if (status committed = feed_->commit(*count); !committed.ok()) return committed;
    bytes += *count;
    if (watcher_) watcher_(*count);
  }
  if (!is_in_data_) {
    if (status begun = begin({entry}); !begun.ok()) return begun;
  }
  return bytes;
}

status content_feed::store_file(std::shared_ptr<pending_entry> entry, file_stream& file, status& failure) {
  for (bool is_first = true;; is_first = false) {
    failure = {};
    const auto bytes = feed_file(entry, file, failure);
    if (!bytes) return bytes.error();
    entry->is_left_out = !failure.ok();
    entry->entry.size = *bytes;
    const status unchanged = failure.ok() ? file.check_unchanged() : status();
    const bool is_repeated = !unchanged.ok() && is_first && file.restart_unmodified();
    if (failure.ok()) failure = unchanged;
    streams_.change_last([&](fed_stream& last) {
      last.is_last = !is_repeated;
      last.is_repeated = is_repeated;
    });
    if (status ended = feed_->end(); !ended.ok() || !is_repeated) return ended;
  }
}

status content_feed::finish() {
  if (!feed_) return {};
  const status finished = feed_->finish();
  feed_.reset();
  return finished;
}

}  // namespace cutpoint::store
