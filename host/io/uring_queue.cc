// The read queue that uses io_uring.
//
// Requests are kept here until `submit`. The kernel may take an entry of the submission queue whenever it is entered
// later, so a request that has failed must not be in that queue.
#include <algorithm>
#include <cerrno>
#include <limits>
#include <vector>

#include "host/io/read_ahead.h"
#ifdef CUTPOINT_HAS_URING
#include <liburing.h>
#endif

namespace cutpoint {

#ifdef CUTPOINT_HAS_URING

namespace {

constexpr std::uint64_t token_of_none = std::numeric_limits<std::uint64_t>::max();

/// The number of consecutive refusals after which the queue gives up. A kernel that is short of memory refuses for a
/// while.
constexpr int most_refusals = 1000;

class uring_queue final : public read_queue {
 public:
  /// Allocates all memory in advance, for `depth` requests and as many cancellations, so that requests can be cancelled
  /// and collected when memory has run out.
  explicit uring_queue(std::size_t depth) : depth_(depth) {
    pushed_.reserve(depth);
    prepared_.reserve(2 * depth);
    failed_.reserve(2 * depth);
    collected_.reserve(2 * depth);
  }
  uring_queue(const uring_queue&) = delete;
  uring_queue& operator=(const uring_queue&) = delete;
  ~uring_queue() override {
    if (is_set_up_) ::io_uring_queue_exit(&ring_);
  }

  /// Sets up the ring. Returns 0 or an errno.
  int set_up() {
    const int outcome = ::io_uring_queue_init(static_cast<unsigned>(depth_), &ring_, 0);
    is_set_up_ = outcome == 0;
    return -outcome;
  }

  std::size_t depth() const noexcept override { return depth_; }

  bool push(const read_request& next) override {
    if (!is_broken_) pushed_.push_back(next);
    return !is_broken_;
  }

  void submit() override {
    std::size_t prepared = 0;
    for (io_uring_sqe* entry = nullptr; prepared < pushed_.size() && (entry = ::io_uring_get_sqe(&ring_)); ++prepared) {
      const read_request& next = pushed_[prepared];
      ::io_uring_prep_read(entry, next.descriptor, next.into.data(), static_cast<unsigned>(next.into.size()),
                           next.offset);
      ::io_uring_sqe_set_data64(entry, next.token);
      prepared_.push_back(next.token);
    }
    pushed_.erase(pushed_.begin(), pushed_.begin() + static_cast<std::ptrdiff_t>(prepared));
    enter();
  }

  std::span<const read_outcome> collect(std::chrono::milliseconds at_most) override {
    collected_.clear();
    collected_.swap(failed_);
    io_uring_cqe* first = nullptr;
    if (at_most > at_most.zero()) submit();
    if (at_most > at_most.zero() && collected_.empty() && failed_.empty()) {
      __kernel_timespec limit = {.tv_sec = at_most.count() / 1000, .tv_nsec = at_most.count() % 1000 * 1'000'000};
      ::io_uring_wait_cqe_timeout(&ring_, &first, &limit);  // on a signal or a timeout nothing is collected
    }
    unsigned head = 0;
    unsigned seen = 0;
    io_uring_for_each_cqe(&ring_, head, first) {
      if (first->user_data != token_of_none) collected_.push_back({first->user_data, first->res});
      ++seen;
    }
    ::io_uring_cq_advance(&ring_, seen);
    collected_.insert(collected_.end(), failed_.begin(), failed_.end());
    failed_.clear();
    return collected_;
  }

  void cancel(std::uint64_t token) override {
    if (is_broken_) return;
    submit();
    io_uring_sqe* entry = ::io_uring_get_sqe(&ring_);
    if (entry == nullptr) return;
    ::io_uring_prep_cancel64(entry, token, 0);
    ::io_uring_sqe_set_data64(entry, token_of_none);
    prepared_.push_back(token_of_none);
    enter();
  }

 private:
  void enter() {
    if (is_broken_ || prepared_.empty()) return;
    const int count = ::io_uring_submit(&ring_);
    if (count > 0) {
      refusals_ = 0;
      prepared_.erase(prepared_.begin(), prepared_.begin() + count);
    } else if ((count != -EAGAIN && count != -EBUSY && count != -EINTR) || ++refusals_ == most_refusals) {
      break_off(count == 0 ? -EAGAIN : count);
    }
  }

  /// Fails all requests that the kernel has not taken, and does not enter it again.
  void break_off(int error) {
    is_broken_ = true;
    for (const std::uint64_t token : prepared_) {
      if (token != token_of_none) failed_.push_back({token, error});
    }
    for (const read_request& next : pushed_) failed_.push_back({next.token, error});
    prepared_.clear();
    pushed_.clear();
  }

  std::size_t depth_;
  io_uring ring_ = {};
  bool is_set_up_ = false;
  bool is_broken_ = false;
  int refusals_ = 0;
  std::vector<read_request> pushed_;
  std::vector<std::uint64_t> prepared_;  ///< the tokens of the submission queue
  std::vector<read_outcome> failed_;
  std::vector<read_outcome> collected_;
};

}  // namespace

result<std::shared_ptr<read_queue>> make_uring_queue(std::size_t depth) {
  auto queue = std::make_shared<uring_queue>(depth);
  if (const int error = queue->set_up(); error != 0) {
    const status why = system_failure("io_uring", "set up", error);
    return status(status_code::unavailable, why.message(), error);
  }
  return std::shared_ptr<read_queue>(std::move(queue));
}

#else

result<std::shared_ptr<read_queue>> make_uring_queue(std::size_t) {
  return status(status_code::unavailable, "this build reads without io_uring: liburing was not found");
}

#endif

}  // namespace cutpoint
