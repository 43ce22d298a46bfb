// A feed of one stream whose lanes take, perform and hand back tasks one by one, as the test says.
#pragma once

#include <memory>
#include <variant>

#include "tests/host/support/streams.h"
#include "tests/pipeline/support/recorder.h"
#include "tests/pipeline/support/stepped_feed.h"

namespace cutpoint::tests {

/// Lane 0 feeds.
class lanes_by_hand {
 public:
  lanes_by_hand(const feed_options& options, std::uint64_t lane_count) : lanes_by_hand(options, lane_count, out) {}
  lanes_by_hand(const feed_options& options, std::uint64_t lane_count, chunk_receiver& receiver)
      : feed_(stepped_feed::make(options, lane_count, receiver, [&] {
                return make_one_by_one_fingerprinter(fingerprinter::make(options.fingerprint).value());
              }).value()) {
    feed_->begin(0);
  }

  void put_random(std::uint64_t count) {
    seeded_choices random(count);
    feed_->put(make_stream(content::random, count, random));
    feed_->publish();
  }
  [[nodiscard]] bool take(std::size_t lane) { return feed_->take(lane, 0); }
  void hand_back(std::size_t lane) {
    feed_->perform(lane);
    feed_->hand_back(lane, 0);
  }
  template <class Task>
  [[nodiscard]] bool takes(std::size_t lane) {
    return take(lane) && std::holds_alternative<Task>(feed_->current_task(lane).work);
  }
  template <class Task>
  [[nodiscard]] const Task* current_task(std::size_t lane) const {
    return feed_->is_busy(lane) ? std::get_if<Task>(&feed_->current_task(lane).work) : nullptr;
  }
  stepped_feed& operator*() { return *feed_; }
  stepped_feed* operator->() { return feed_.get(); }

  recorder out;  ///< the receiver if no other is given

 private:
  std::unique_ptr<stepped_feed> feed_;
};

}  // namespace cutpoint::tests
