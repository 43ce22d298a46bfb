// What a receiver knows of the streams of a feed, by their numbers.
#pragma once

#include <cassert>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>

namespace cutpoint {

/// Values of streams, which are numbered from 0 in the order in which they are added. The feeding thread adds the value of a
/// stream before it begins the stream. The receiver looks it up, and removes it when the stream has ended. Memory: that
/// of the streams that have not ended. Thread-safe.
template <class Value>
class stream_table {
 public:
  /// Adds the value of the next stream, and returns the stream's number.
  std::uint64_t add(Value value) {
    const std::lock_guard lock(mutex_);
    values_.push_back(std::move(value));
    return first_ + values_.size() - 1;
  }
  /// Calls `change` with the value that was added last. Its stream must not have ended.
  template <class Change>
  void change_last(Change change) {
    const std::lock_guard lock(mutex_);
    change(values_.back());
  }
  /// Returns a copy of the value of a stream that was not removed.
  [[nodiscard]] Value find(std::uint64_t stream) const {
    const std::lock_guard lock(mutex_);
    assert(stream >= first_ && stream - first_ < values_.size());
    return values_[stream - first_];
  }
  /// Removes the values of a stream and of all streams before it. Returns the value of the stream.
  Value remove(std::uint64_t stream) {
    const std::lock_guard lock(mutex_);
    assert(stream >= first_ && stream - first_ < values_.size());
    for (; first_ < stream; ++first_) values_.pop_front();
    Value value = std::move(values_.front());
    values_.pop_front();
    ++first_;
    return value;
  }

 private:
  mutable std::mutex mutex_;
  std::deque<Value> values_;
  std::uint64_t first_ = 0;  ///< number of the stream of the first value
};

}  // namespace cutpoint
