// Compares a device's chunks and fingerprints of a sample with the reference's. Plain C++, tested without a GPU.
#pragma once

#include <cstdint>
#include <span>
#include <string>
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

}  // namespace cutpoint::bench
