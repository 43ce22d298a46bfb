// Reads of files that are under way at the same time, many of them from one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

#include <cutpoint/status.h>

namespace cutpoint {

/// A read of a file at an offset. The bytes are the caller's, and the kernel's until the outcome is there.
struct read_request {
  int descriptor = -1;
  std::uint64_t offset = 0;
  std::span<std::uint8_t> into = {};
  std::uint64_t token = 0;  ///< of the caller; no two under way have the same, and none is the largest number
};

struct read_outcome {
  std::uint64_t token = 0;
  std::int64_t count = 0;  ///< bytes, 0 at the end of the file; less than 0: -errno
};

/// One thread at a time. Whoever pushes a request collects its outcome before the queue or the request's bytes go.
class read_queue {
 public:
  virtual ~read_queue() = default;

  /// Most requests that may be pushed and not collected.
  [[nodiscard]] virtual std::size_t depth() const noexcept = 0;
  /// Takes a request, for the next `submit`; false when the queue takes no more, ever.
  [[nodiscard]] virtual bool push(const read_request& next) = 0;
  /// Hands to the kernel what was pushed. What it does not take is tried again, or comes out with an error.
  virtual void submit() = 0;
  /// What is done, each once, after waiting for the first of them for a time at most, or until a signal comes. Valid
  /// until the next call.
  [[nodiscard]] virtual std::span<const read_outcome> collect(std::chrono::milliseconds at_most) = 0;
  /// Wishes that a request ended soon; its outcome comes as ever.
  virtual void cancel(std::uint64_t token) = 0;
};

/// The kernel's io_uring. Errors: unavailable, where this build or this system has none, or does not grant it.
[[nodiscard]] result<std::shared_ptr<read_queue>> make_uring_queue(std::size_t depth);

}  // namespace cutpoint
