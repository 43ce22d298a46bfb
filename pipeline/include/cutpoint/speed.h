// Measurement of speeds: test data in memory, functions that process it, and their rates in bytes a second.
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

/// A buffer of bytes that begins at an address that is a multiple of 64, the size of a cache line.
class aligned_bytes {
 public:
  /// Returns `size` pseudo-random bytes. They depend only on the seed, on every machine.
  [[nodiscard]] static aligned_bytes random(std::uint64_t size, std::uint64_t seed = 0);
  /// Reads the files one after the other until they end or `most_bytes` have been read. Allocates `most_bytes` at once.
  /// Errors: io_error, also for an empty file; cancelled.
  [[nodiscard]] static result<aligned_bytes> read_files(const std::vector<std::string>& paths, std::uint64_t most_bytes,
                                                        const cancellation& cancel);
  /// Returns a copy of `buffers`, one after the other.
  [[nodiscard]] static aligned_bytes copy(const std::vector<byte_span>& buffers);

  [[nodiscard]] byte_span view() const { return {reinterpret_cast<const std::uint8_t*>(lines_.data()), size_}; }

 private:
  struct alignas(64) line {
    std::array<std::uint8_t, 64> bytes;
  };
  explicit aligned_bytes(std::uint64_t size) : lines_((size + sizeof(line) - 1) / sizeof(line)), size_(size) {}

  std::vector<line> lines_;
  std::uint64_t size_;
};

/// The number of bytes, about, that a `timed_work` processes in one call. The engine fingerprints as many at a time.
inline constexpr std::uint64_t work_block_bytes = 512 * KiB;

/// A function that processes about `work_block_bytes` of its data from the offset `begin` on, and returns the offset at
/// which it stopped. The first call must have the offset 0. Each further call must have the offset that the call before
/// it returned, or 0 to start again; after the end of the data it must have 0.
using timed_work = std::function<std::uint64_t(std::uint64_t begin)>;

/// Returns a function that cuts `data`, which must outlive it.
[[nodiscard]] timed_work cutting_work(const chunker& cuts, byte_span data);

/// Returns a function that fingerprints `chunks`, which must cover `data`. `data` must outlive the function. `batch`
/// must not fail, so the caller should have made these fingerprints with it before.
[[nodiscard]] timed_work hashing_work(std::shared_ptr<batch_fingerprinter> batch, byte_span data,
                                      std::shared_ptr<const std::vector<chunk>> chunks);

/// How long a measurement takes, in seconds. It processes the data once, and again until `least_seconds` have passed.
/// After `most_seconds` it stops before the end of the data, but not before 16 MiB.
struct measuring_effort {
  double least_seconds = 0.005;
  double most_seconds = 0.25;
};

/// Returns the rate of `work` on its `data_bytes` in bytes a second, by the processor time of the calling thread.
[[nodiscard]] double rate_of(const timed_work& work, std::uint64_t data_bytes, const measuring_effort& effort = {});

/// What a GPU did with all of some data, by its own clock.
struct device_pass {
  std::vector<chunk> chunks;
  double copying_seconds = 0;  ///< of the data to the GPU
  double cutting_seconds = 0;  ///< of the kernels alone
};

/// Copies data to a GPU and cuts them there, in batches as those of a feed, one after the other. Errors: of the GPU; memory_limit, if
/// a batch has more chunks than the GPU has room for.
using device_cutting = std::function<result<device_pass>()>;

/// Returns a function that cuts `data`, which must outlive it, on the GPU that `gpus()` calls `device`. Batches have 32 MiB, or more
/// for long chunks, so the data may have more bytes than the GPU's memory. Errors: unavailable, for chunks without a maximum or with one
/// that is too long for a batch, or if the GPU cannot be used; invalid_argument, if there is no such GPU; memory_limit;
/// backend_failure.
[[nodiscard]] result<device_cutting> device_cutting_work(const chunker& cuts, byte_span data, int device = 0);

}  // namespace cutpoint
