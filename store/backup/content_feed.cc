#include "store/backup/content_feed.h"

#include <algorithm>
#include <utility>

namespace cutpoint::store {

status content_feed::open() {
  if (feed_) return {};
  CUTPOINT_TRY(auto feed, engine_.open(options_, *this));
  feed_.emplace(std::move(feed));
  return {};
}

status content_feed::begin(fed_stream next) {
  CUTPOINT_RETURN_IF_FAILED(open());
  return feed_->begin(streams_.add(std::move(next)), rule_);
}

status content_feed::take(const delivered_chunk& chunk) {
  const auto extent = records_.store(chunk, selected_);
  return extent ? streams_.find(chunk.stream).entry->add(*extent, records_) : extent.error();
}

status content_feed::end_stream(std::uint64_t stream, const status&) {
  const fed_stream ended = streams_.remove(stream);
  if (ended.hole_bytes != 0) {
    CUTPOINT_RETURN_IF_FAILED(ended.entry->add({extent_kind::hole, {}, ended.hole_bytes}, records_));
  }
  if (ended.is_repeated) ended.entry->restart();
  return ended.is_last ? ended.entry->complete() : status();
}

void content_feed::begin_content(std::shared_ptr<pending_entry> entry) {
  content_ = std::move(entry);
  rule_ = records_.context().rule_of(content_->entry.name);
  is_in_data_ = false;
  hole_bytes_ = 0;
}

/// Begins a stream for the data that follow, unless one is open and no hole has come since.
status content_feed::begin_data() {
  if (is_in_data_ && hole_bytes_ == 0) return {};
  CUTPOINT_RETURN_IF_FAILED(is_in_data_ ? feed_->end() : status());
  if (hole_bytes_ != 0) {
    CUTPOINT_RETURN_IF_FAILED(begin({content_, std::exchange(hole_bytes_, 0)}));
    CUTPOINT_RETURN_IF_FAILED(feed_->end());
  }
  is_in_data_ = false;
  const status begun = begin({content_});
  is_in_data_ = begun.ok();
  return begun;
}

status content_feed::write(byte_span bytes) {
  CUTPOINT_RETURN_IF_FAILED(begin_data());
  return feed_->write(bytes);
}

status content_feed::end_streams(bool is_repeated) {
  CUTPOINT_RETURN_IF_FAILED(begin_data());
  streams_.change_last([&](fed_stream& last) {
    last.is_last = !is_repeated;
    last.is_repeated = is_repeated;
  });
  is_in_data_ = false;
  return feed_->end();
}

status content_feed::store_file(file_feeder& feeder, std::shared_ptr<pending_entry> entry, file_stream& file,
                                status& failure) {
  begin_content(std::move(entry));
  file_bytes_ = 0;
  return feeder.feed(file, *this, failure);
}

result<content_receiver::destination> content_feed::next_destination() {
  CUTPOINT_RETURN_IF_FAILED(begin_data());
  return destination{.into = &*feed_, .most_bytes = throttle_ != nullptr ? throttle_->block_bytes() : unlimited};
}

status content_feed::commit(byte_span bytes) {
  CUTPOINT_RETURN_IF_FAILED(throttle_ != nullptr ? throttle_->wait(bytes.size()) : status());
  CUTPOINT_RETURN_IF_FAILED(feed_->commit(bytes.size()));
  count(bytes.size());
  return {};
}

status content_feed::skip(std::uint64_t hole_bytes) {
  write_hole(hole_bytes);
  count(hole_bytes);
  return {};
}

void content_feed::count(std::uint64_t bytes) {
  file_bytes_ += bytes;
  if (watcher_) watcher_(bytes);
}

status content_feed::end_content(const content_end& end) {
  content_->is_left_out = !end.outcome.ok();
  content_->entry.size = std::exchange(file_bytes_, 0);
  return end_streams(end.is_repeated);
}

status content_feed::finish() {
  if (!feed_) return {};
  const status finished = feed_->finish();
  cutpoint::add_work(work_, feed_->statistics());
  feed_.reset();
  return finished;
}

void content_feed::add_work(store_work& sum) const { cutpoint::add_work(sum.feed, work_); }

}  // namespace cutpoint::store
