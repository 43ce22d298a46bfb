// The public members of a feed, and feeding from a source.
#include <algorithm>

#include <cutpoint/engine.h>

#include "pipeline/engine/feed_next_block.h"
#include "pipeline/engine/threaded_feed.h"

namespace cutpoint {

feed::feed(std::unique_ptr<threaded_feed> inside) noexcept : implementation_(std::move(inside)) {}
feed::feed(feed&&) noexcept = default;
feed::~feed() = default;

status feed::begin(std::uint64_t stream, std::size_t rule) {
  return implementation_->guarded([&] { return implementation_->begin(stream, rule); });
}
result<std::span<std::uint8_t>> feed::space() {
  return implementation_->guarded([&] { return implementation_->space(); });
}
std::uint64_t feed::room() { return implementation_->room(); }
status feed::commit(std::uint64_t count) {
  return implementation_->guarded([&] { return implementation_->commit(count); });
}
status feed::write_zeros(std::uint64_t count) {
  return implementation_->guarded([&] { return implementation_->write_zeros(count); });
}
status feed::end(status outcome) {
  return implementation_->guarded([&] { return implementation_->end(std::move(outcome)); });
}
status feed::finish() {
  return implementation_->guarded([&] { return implementation_->finish(); });
}
status feed::failure() const { return implementation_->failure(); }
feed_statistics feed::statistics() const { return implementation_->statistics(); }

status feed::write(byte_span bytes) {
  while (!bytes.empty()) {
    const auto room = space();
    if (!room) return room.error();
    const std::size_t count = std::min(room->size(), bytes.size());
    if (room->data() != bytes.data()) std::copy_n(bytes.begin(), count, room->begin());
    if (status outcome = commit(count); !outcome.ok()) return outcome;
    bytes = bytes.subspan(count);
  }
  return {};
}

result<bool> feed_next_block(feed& feed, source& source) {
  const auto ended_by = [&feed](const status& failure) -> status {
    return feed.end(failure).ok() ? failure : feed.failure();
  };
  const auto hole = source.skip_hole();
  if (!hole) return ended_by(hole.error());
  if (*hole != 0) {
    if (status outcome = feed.write_zeros(*hole); !outcome.ok()) return outcome;
    return true;
  }
  const auto room = feed.space();
  if (!room) return room.error();
  const auto count = source.read(*room);
  if (!count) return ended_by(count.error());
  if (*count == 0) {
    if (status ended = feed.end(); !ended.ok()) return ended;
    return false;
  }
  if (status outcome = feed.commit(*count); !outcome.ok()) return outcome;
  return true;
}

status feed_source(feed& feed, std::uint64_t stream, source& source, std::size_t rule) {
  if (status begun = feed.begin(stream, rule); !begun.ok()) return begun;
  for (;;) {
    const auto goes_on = feed_next_block(feed, source);
    if (!goes_on) return goes_on.error();
    if (!*goes_on) return {};
  }
}

}  // namespace cutpoint
