// Back ends: which of them this build and this machine can run, and how to choose one. Also the list of GPUs.
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

/// The code that finds cuts and makes digests. All back ends give the same result. The numbers are fixed in every
/// release.
enum class backend : int {
  automatic = 0,  ///< for each job, the processor back end measured to be fastest here, and GPUs if they help
  scalar = 1,     ///< the references and the hash libraries, one chunk after the other
  sha_ni = 9,     ///< the SHA extensions of x86, for SHA-1 and SHA-256; the rest is as with sse4
  sse4 = 2,       ///< SSE4.2, vectors of 16 bytes
  avx2 = 3,       ///< AVX2 and BMI2, vectors of 32 bytes
  avx512 = 4,     ///< AVX-512 F, BW, CD, DQ and VL, vectors of 64 bytes
  neon = 5,       ///< AArch64, vectors of 16 bytes
  avx512_dl = 8,  ///< AVX-512 with VBMI and GFNI also; what has no use for these is as with avx512
  cuda = 6,       ///< an NVIDIA GPU, in batches of segments; the processor's fastest back end does what remains
  hybrid = 7,     ///< processor and GPU together: each takes work when it is free
};

/// A back end that this build contains.
struct backend_info {
  backend kind = backend::scalar;
  std::string_view name;     ///< the name that options use
  std::string_view meaning;  ///< a short description
  bool runs_here = false;    ///< whether this machine can run it
};

/// Returns the back ends of this build: `scalar`, the instruction sets, and then `cuda` and `hybrid`, which every build
/// lists. `automatic` is not among them. Asks the driver for GPUs, which can take a tenth of a second. Thread-safe.
[[nodiscard]] std::vector<backend_info> backends();
/// Returns the same list without `cuda` and `hybrid`, and does not ask the driver. Thread-safe.
[[nodiscard]] std::vector<backend_info> processor_backends();

/// Returns the name that options use: "auto" for `automatic`.
[[nodiscard]] std::string_view to_string(backend which) noexcept;

/// Returns the back end with this name. Errors: unknown_name, with the nearest name and the list of names; unavailable,
/// if this machine cannot run the back end. Thread-safe.
[[nodiscard]] result<backend> parse_backend(std::string_view name);

/// Returns a chunker with the same cuts that finds them with the back end `which`, or with the reference if `which` has
/// no kernel for the algorithm.
///
/// `automatic`, `cuda` and `hybrid` return the fastest processor back end, because a GPU cuts batches and not single
/// chunks. They measure all that this processor can run, which takes some milliseconds. Errors: unavailable, if this
/// processor cannot run `which`. Thread-safe.
[[nodiscard]] result<chunker> chunker_on(const chunker& cuts, backend which);

/// Returns the back end that finds the cuts of this chunker. It is `scalar` for the reference, and for a kernel that
/// belongs to no back end.
[[nodiscard]] backend backend_of(const chunker& cuts) noexcept;

/// A batch fingerprinter and the back end that it uses.
struct chosen_fingerprinter {
  std::unique_ptr<batch_fingerprinter> batch;
  backend where = backend::scalar;
};

/// Makes a batch fingerprinter that uses the back end `which`, or the hash library if `which` has no kernel for this
/// kind of fingerprint. `automatic`, `cuda` and `hybrid` measure, as in `chunker_on`. Errors: as for
/// `fingerprinter::make`; unavailable, if this processor cannot run `which`. Thread-safe.
[[nodiscard]] result<chosen_fingerprinter> fingerprints_on(const fingerprint_recipe& recipe, backend which);

/// Reads `bytes` once with the vectors of a back end and does almost no work: an upper bound for other speeds. It is
/// fastest if `bytes` begins at an address that is a multiple of 64. If `which` is `automatic` or has no vectors that
/// this processor can run, `widest_backend()` reads.
///
/// Returns the sum, modulo 2^64, of the 8-byte words in native byte order, the last one padded with zeros. The sum is
/// the same for all back ends. Thread-safe.
[[nodiscard]] std::uint64_t plain_read(byte_span bytes, backend which) noexcept;

/// Returns the back end with the widest vectors that this processor can run; `scalar` if it can run none. Thread-safe.
[[nodiscard]] backend widest_backend() noexcept;

/// A GPU that the driver lists.
struct gpu_info {
  int index = 0;  ///< CUDA's number of the device, as in `feed_options::devices`
  std::string name;
  std::uint64_t memory_bytes = 0;  ///< all of its memory, used or not
  std::uint64_t l2_bytes = 0;      ///< size of its second-level cache
  int multiprocessor_count = 0;
  std::string compute_capability;  ///< for example "9.0"
  std::string pci_bus_id;
  std::string link;             ///< the PCIe link in words; empty if unknown
  int numa_node = -1;           ///< number of the nearest memory node; -1 if unknown
  std::string driver_version;   ///< the newest CUDA version that the driver supports
  std::string runtime_version;  ///< the CUDA version that this build was made with
  std::string problem;          ///< why this build cannot use the GPU; empty if it can
};

/// Returns the GPUs. Errors: unavailable, with a sentence that says why: a build without CUDA, no driver, a driver that
/// is too old, or no device. Creates no CUDA context, so it takes no device memory. Thread-safe.
[[nodiscard]] result<std::vector<gpu_info>> gpus();

}  // namespace cutpoint
