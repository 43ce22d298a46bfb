// The interface of a queue that keeps many reads of files in flight from one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

#include <cutpoint/status.h>

namespace cutpoint {

/// A read of a file at an offset. The caller owns the bytes, and must not use them until it has collected the outcome.
struct read_request {
  int descriptor = -1;
  std::uint64_t offset = 0;
  std::span<std::uint8_t> into = {};
  std::uint64_t token = 0;  ///< chosen by the caller; unique among the requests in flight, and never the largest 64-bit
                            ///< number
};

struct read_outcome {
  std::uint64_t token = 0;
  std::int64_t count = 0;  ///< number of bytes, 0 at the end of the file, or -errno
};

/// A queue of reads. Not thread-safe. Whoever pushes a request must collect its outcome before it destroys the queue or
/// the request's bytes.
class read_queue {
 public:
  virtual ~read_queue() = default;

  /// Returns how many requests may be pushed before any of them is collected.
  [[nodiscard]] virtual std::size_t depth() const noexcept = 0;
  /// Adds a request to those of the next `submit`. Returns false if the queue will never take a request again.
  [[nodiscard]] virtual bool push(const read_request& next) = 0;
  /// Passes the pushed requests to the kernel. A request that the kernel refuses is retried, or its outcome is an
  /// error.
  virtual void submit() = 0;
  /// Returns the outcomes that have not been returned yet. If there are none, waits for the first one until `at_most`
  /// has passed or a signal arrives. The outcomes are valid until the next call.
  [[nodiscard]] virtual std::span<const read_outcome> collect(std::chrono::milliseconds at_most) = 0;
  /// Asks the kernel to end a request early. Its outcome is collected as usual.
  virtual void cancel(std::uint64_t token) = 0;
};

/// Makes a queue that uses io_uring. Errors: unavailable, if this build or this system has no io_uring or does not
/// grant it.
[[nodiscard]] result<std::shared_ptr<read_queue>> make_uring_queue(std::size_t depth);

}  // namespace cutpoint
