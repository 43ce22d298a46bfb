// Measures data in host memory: by lanes of a device, and by the whole engine.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "bench/device/resident.h"
#include "cuda/batch/offload.h"

namespace cutpoint::bench {

/// Pseudo-random bytes in pinned host memory.
class pinned_bytes {
 public:
  /// Copies the first `size` bytes of `source`. Errors: memory_limit; backend_failure.
  [[nodiscard]] static result<pinned_bytes> copy_of(const device_bytes& source, std::uint64_t size, int device);

  pinned_bytes(pinned_bytes&&) = default;
  pinned_bytes& operator=(pinned_bytes&&) = delete;
  ~pinned_bytes() {
    if (offload_) offload_->unpin(bytes_.data());
  }
  [[nodiscard]] byte_span view() const { return bytes_; }

 private:
  pinned_bytes(std::vector<std::uint8_t> bytes, std::unique_ptr<cuda::offload> offload)
      : bytes_(std::move(bytes)), offload_(std::move(offload)) {}

  std::vector<std::uint8_t> bytes_;
  std::unique_ptr<cuda::offload> offload_;
};

/// The numbers of lanes and sizes of batches to measure.
struct lane_sweep {
  std::vector<std::uint64_t> lanes = {1, 2, 3, 4};
  std::vector<std::uint64_t> batch_sizes = {8 * MiB, 16 * MiB, 32 * MiB, 64 * MiB, 128 * MiB};
  double seconds = 0.08;  ///< length of a sample
  int samples = 5;
};

/// Measures cuts and SHA-1: compares the answer for the sample with the reference's, then measures every number of lanes
/// with every size of batches. An error becomes the row's problem.
[[nodiscard]] end_to_end_row measure_end_to_end(std::string_view name, const chunker& cuts, const device_data& data,
                                                const lane_sweep& plan, deadline end);

/// Measures one kind of fingerprint of known chunks of 8 KiB likewise.
[[nodiscard]] end_to_end_row measure_known_chunks(fingerprint_kind fingerprint, const device_data& data,
                                                  const lane_sweep& plan, deadline end);

/// Measures cuts and fingerprints of `bytes` bytes by the engine with the back end cuda.
[[nodiscard]] engine_row measure_engine(std::string_view name, const chunker& cuts, fingerprint_kind fingerprint,
                                        const device_data& data, std::uint64_t bytes, deadline end);

}  // namespace cutpoint::bench
