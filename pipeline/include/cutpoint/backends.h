// What this build and this machine can run: the back ends, and the GPUs or why there are none.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/batch_fingerprinter.h>
#include <cutpoint/bytes.h>
#include <cutpoint/chunker.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>

namespace cutpoint {

/// Where cuts and fingerprints are found. All find the same. The numbers are pinned.
enum class backend : int {
  automatic = 0,  ///< for each job the one that was measured to be fastest here
  scalar = 1,     ///< the references and the libraries: one chunk after the other
  sse4 = 2,       ///< SSE4.2, vectors of 16 bytes
  avx2 = 3,       ///< AVX2 and BMI2, 32 bytes
  avx512 = 4,     ///< AVX-512 F, BW, CD, DQ and VL, 64 bytes
  neon = 5,       ///< AArch64, 16 bytes
  cuda = 6,       ///< an NVIDIA GPU, in batches of segments; the processor's part by its fastest
  hybrid = 7,     ///< both together: processor and GPU share the work as they are free
};

struct backend_info {
  backend kind = backend::scalar;
  std::string_view name;     ///< as options name it
  std::string_view meaning;  ///< in words
  bool runs_here = false;    ///< on this processor
};

/// The back ends that this build was compiled for, the reference first; `automatic` is not among them. Asks the driver
/// for GPUs, which can take a tenth of a second.
[[nodiscard]] std::vector<backend_info> backends();
/// Those of the processor.
[[nodiscard]] std::vector<backend_info> processor_backends();

/// As options name it.
[[nodiscard]] std::string_view to_string(backend which) noexcept;

/// The back end of this name, "auto" for `automatic`. Errors: unknown_name, with the nearest name and the choice;
/// unavailable, for one that this processor does not run.
[[nodiscard]] result<backend> parse_backend(std::string_view name);

/// The chunker with its cuts found by a back end; by the reference where that has no kernel for the algorithm.
/// `automatic` measures those of the processor that run here, in some milliseconds; so do `cuda` and `hybrid`, which cut
/// batches and not chunk by chunk. Errors: unavailable, for one that does not run here. Thread-safe.
[[nodiscard]] result<chunker> chunker_on(const chunker& cuts, backend which);

/// The back end that finds this chunker's cuts; `scalar` for the reference, and for a kernel that is no back end's.
[[nodiscard]] backend backend_of(const chunker& cuts) noexcept;

/// Makes fingerprints, and says where.
struct chosen_fingerprinter {
  std::unique_ptr<batch_fingerprinter> batch;
  backend where = backend::scalar;
};

/// A maker of fingerprints by a back end; by the library where that has no kernel for the kind. `automatic` measures, as
/// above. Errors: those of `fingerprinter::make`; unavailable, for one that does not run here. Thread-safe.
[[nodiscard]] result<chosen_fingerprinter> fingerprints_on(const fingerprint_recipe& recipe, backend which);

/// The yardstick of speeds: reads `bytes` once, by the vectors of a back end, and does next to nothing with them. Fastest
/// where they begin at a multiple of 64. Gives the sum, modulo 2^64, of their 8-byte words as they lie in memory, the last
/// filled up with zeros, whatever reads. `automatic`, and one that does not run here: the widest that does. Thread-safe.
[[nodiscard]] std::uint64_t plain_read(byte_span bytes, backend which) noexcept;

/// The back end whose vectors are the widest of those that run here, by which `automatic` reads.
[[nodiscard]] backend widest_backend() noexcept;

/// A GPU that the driver shows.
struct gpu_info {
  int index = 0;
  std::string name;
  std::uint64_t memory_bytes = 0;
  std::uint64_t l2_bytes = 0;
  int multiprocessor_count = 0;
  std::string compute_capability;  ///< "9.0"
  std::string pci_bus_id;
  std::string link;             ///< the PCIe link in words; empty where unknown
  int numa_node = -1;           ///< the node of the processor's memory that is nearest; -1 where unknown
  std::string driver_version;   ///< the newest CUDA that the driver supports
  std::string runtime_version;  ///< the CUDA that this build is made with
  std::string problem;          ///< empty, or why this build cannot use it
};

/// The GPUs. Errors: unavailable, with one sentence: a build without CUDA, no driver, one that is too old, or no
/// device. Thread-safe; creates no context, so it takes no device memory.
[[nodiscard]] result<std::vector<gpu_info>> gpus();

}  // namespace cutpoint
