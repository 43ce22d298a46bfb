// Measuring speeds: bytes in memory, work that goes over them, and what the work does a second.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <cutpoint/batch_fingerprinter.h>
#include <cutpoint/bytes.h>
#include <cutpoint/chunker.h>
#include <cutpoint/source.h>
#include <cutpoint/status.h>
#include <cutpoint/timing.h>

namespace cutpoint {

/// Bytes that begin where a cache line does.
class aligned_bytes {
 public:
  /// Pseudo-random bytes, the same everywhere for one seed.
  [[nodiscard]] static aligned_bytes random(std::uint64_t size, std::uint64_t seed = 0);
  /// The first bytes of files one after the other, all of them where they have fewer. Errors: io_error, also for an empty
  /// file; cancelled.
  [[nodiscard]] static result<aligned_bytes> read_files(const std::vector<std::string>& paths, std::uint64_t most_bytes,
                                                        const cancellation& cancel);
  /// A copy of these, one after the other.
  [[nodiscard]] static aligned_bytes copy(const std::vector<byte_span>& pieces);

  [[nodiscard]] byte_span view() const { return {reinterpret_cast<const std::uint8_t*>(lines_.data()), size_}; }

 private:
  struct alignas(64) line {
    std::array<std::uint8_t, 64> bytes;
  };
  explicit aligned_bytes(std::uint64_t size) : lines_((size + sizeof(line) - 1) / sizeof(line)), size_(size) {}

  std::vector<line> lines_;
  std::uint64_t size_;
};

/// How many bytes work does before it returns, about: as much as the engine fingerprints at a time.
inline constexpr std::uint64_t work_piece_bytes = 512 * KiB;

/// Does about `work_piece_bytes` of a job on data, from this offset on, and returns where it stopped. It is called with 0
/// and then always with what it returned, until that is the end of the data or it is called with 0 again.
using timed_work = std::function<std::uint64_t(std::uint64_t begin)>;

/// Cuts `data`, which must stay where it is.
[[nodiscard]] timed_work cutting_work(chunker cuts, byte_span data);

/// Fingerprints these chunks of `data`, which must stay where it is. The batch must not fail.
[[nodiscard]] timed_work hashing_work(std::shared_ptr<batch_fingerprinter> batch, byte_span data,
                                      std::shared_ptr<const std::vector<chunk>> chunks);

/// How much of the work is measured: all of the data, again and again until `least_seconds` have passed; but after
/// `most_seconds` it ends within the data.
struct measuring_effort {
  double least_seconds = 0.005;
  double most_seconds = 0.25;
};

/// Bytes a second, by the processor time of this thread.
[[nodiscard]] double rate_of(const timed_work& work, std::uint64_t data_bytes, const measuring_effort& effort = {});

}  // namespace cutpoint
