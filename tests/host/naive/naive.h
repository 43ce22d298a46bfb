// A second implementation of every rule, straight from its definition and sharing no code with the library: each hash
// is computed anew over its window at every position, each neighbourhood looked through in full.
#pragma once

#include <vector>

#include <cutpoint/algorithms.h>

namespace cutpoint::naive {

/// The lengths of all chunks of a stream. No parameter may be left out.
[[nodiscard]] std::vector<std::uint64_t> lengths(const algorithm_parameters& parameters, byte_span stream);

/// The length of the chunk that begins at `start`, for each algorithm.
[[nodiscard]] std::uint64_t cut(const gear_parameters& p, byte_span stream, std::uint64_t start);
[[nodiscard]] std::uint64_t cut(const rabin_parameters& p, byte_span stream, std::uint64_t start);
[[nodiscard]] std::uint64_t cut(const rabin_inck_parameters& p, byte_span stream, std::uint64_t start);
[[nodiscard]] std::uint64_t cut(const adler_parameters& p, byte_span stream, std::uint64_t start);
[[nodiscard]] std::uint64_t cut(const crc32_parameters& p, byte_span stream, std::uint64_t start);
[[nodiscard]] std::uint64_t cut(const buzhash_parameters& p, byte_span stream, std::uint64_t start);
[[nodiscard]] std::uint64_t cut(const tttd_parameters& p, byte_span stream, std::uint64_t start);
[[nodiscard]] std::uint64_t cut(const fastcdc_parameters& p, byte_span stream, std::uint64_t start);
[[nodiscard]] std::uint64_t cut(const borg2_fastcdc_parameters& p, byte_span stream, std::uint64_t start);
[[nodiscard]] std::uint64_t cut(const ronomon_parameters& p, byte_span stream, std::uint64_t start);
[[nodiscard]] std::uint64_t cut(const borg1_parameters& p, byte_span stream, std::uint64_t start);
[[nodiscard]] std::uint64_t cut(const repmaxcdc_parameters& p, byte_span stream, std::uint64_t start);
[[nodiscard]] std::uint64_t cut(const maxp_parameters& p, byte_span stream, std::uint64_t start);
[[nodiscard]] std::uint64_t cut(const ae_parameters& p, byte_span stream, std::uint64_t start);
[[nodiscard]] std::uint64_t cut(const ram_parameters& p, byte_span stream, std::uint64_t start);
[[nodiscard]] std::uint64_t cut(const seqcdc_parameters& p, byte_span stream, std::uint64_t start);
[[nodiscard]] std::uint64_t cut(const fixed_parameters& p, byte_span stream, std::uint64_t start);

/// AE for values of one byte, without `lest`, as the windowed rule that it equals: the first byte that none of the
/// `window` bytes after it beats gives the cut `window` bytes further on.
[[nodiscard]] std::uint64_t windowed_ae_cut(const ae_parameters& p, byte_span stream, std::uint64_t start);

}  // namespace cutpoint::naive
