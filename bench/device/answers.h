// Compares a device's chunks and fingerprints of a sample with the reference's. Plain C++, tested without a GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/chunker.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/status.h>

namespace cutpoint::bench {

/// Chunks of a stream in order, and their digests one after the other.
struct sample_answer {
  std::vector<std::uint32_t> lengths;
  std::vector<std::uint8_t> digests;
  std::size_t digest_bytes = 0;

  /// Drops the chunks at the end that may be others if the stream goes on after its `sample_bytes`: those that begin less
  /// than `reach` before the end.
  void keep_decided(std::uint64_t sample_bytes, std::uint64_t reach);
};

/// Cuts and fingerprints the sample by the reference. Errors: as `fingerprinter::make`.
[[nodiscard]] result<sample_answer> reference_answer(const chunker& cuts, const fingerprint_recipe& recipe,
                                                     byte_span sample);

/// Describes the first chunk that differs, or whose digest differs; empty if all are equal.
[[nodiscard]] std::string answer_fault(const sample_answer& expected, std::span<const std::uint32_t> lengths,
                                       std::span<const std::uint8_t> digests);

/// The largest batch that devices take.
inline constexpr std::uint64_t largest_batch = 4 * GiB - 64;

/// The speed of batches of one size.
struct batch_rate {
  std::uint64_t batch_bytes = 0;
  double bytes_per_second = 0;
};

/// Returns the sizes of batches in device memory, ascending: those of 64 MiB, 256 MiB, 1 GiB and the largest of which four
/// fit into `memory_bytes`, and always the first.
[[nodiscard]] std::vector<std::uint64_t> resident_batch_sizes(std::uint64_t memory_bytes);

/// Returns ascending sizes, those above `most_bytes` replaced by a single one of `most_bytes`.
[[nodiscard]] std::vector<std::uint64_t> no_larger_than(std::uint64_t most_bytes, std::vector<std::uint64_t> sizes);

/// Returns how many calls of `seconds` make a sample of 20 ms, at most 64.
[[nodiscard]] int calls_per_sample(double seconds) noexcept;

/// Returns the fastest rate, or nullopt if there are no rates.
[[nodiscard]] std::optional<batch_rate> best_of(const std::vector<batch_rate>& rates);

/// Returns the target for cuts and SHA-1 of data in pinned host memory on an NVIDIA H200, in bytes a second. `link_in` is the
/// rate at which the link carries bytes from there.
[[nodiscard]] constexpr double end_to_end_target(double link_in) noexcept { return 0.95 * link_in; }

}  // namespace cutpoint::bench
