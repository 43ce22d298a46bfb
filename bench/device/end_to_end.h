// Data in host memory: through the work of a device in lanes of their own, and through the whole engine. Timed.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "bench/device/resident.h"
#include "cuda/batch/offload.h"

namespace cutpoint::bench {

/// Pseudo-random bytes of the host, locked where the device lets them be, for as long as this lives.
class pinned_bytes {
 public:
  /// A copy of the first bytes in device memory. Errors: memory_limit; backend_failure.
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

/// Which lanes and batches are tried.
struct lane_sweep {
  std::vector<std::uint64_t> lanes = {1, 2, 3, 4};
  std::vector<std::uint64_t> batch_sizes = {8 * MiB, 16 * MiB, 32 * MiB, 64 * MiB, 128 * MiB};
  double seconds = 0.08;  ///< of a sample
  int samples = 5;
};

/// Cuts and SHA-1: compares the answer for the sample with the reference's, then measures every number of lanes with
/// every size of batches. What goes wrong is the row's problem.
[[nodiscard]] end_to_end_row measure_end_to_end(std::string_view name, const chunker& cuts, const device_data& data,
                                                const lane_sweep& plan, deadline end);

/// One kind of fingerprint of chunks of 8 KiB that are known: compares and measures likewise.
[[nodiscard]] end_to_end_row measure_known_chunks(fingerprint_kind fingerprint, const device_data& data,
                                                  const lane_sweep& plan, deadline end);

/// The cuts and fingerprints through the engine with the back end cuda, which is fed so many bytes.
[[nodiscard]] engine_row measure_engine(std::string_view name, const chunker& cuts, fingerprint_kind fingerprint,
                                        const device_data& data, std::uint64_t bytes, deadline end);

}  // namespace cutpoint::bench
