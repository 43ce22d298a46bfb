// A second implementation of every rule, written from its definition. It shares no code with the library: it computes
// each hash over its whole window at every position, and searches each neighbourhood completely.
#pragma once

#include <vector>

#include <cutpoint/algorithms.h>

namespace cutpoint::naive {

/// Returns the lengths of all chunks of a stream. No parameter may be left out.
[[nodiscard]] std::vector<std::uint64_t> lengths(const algorithm_parameters& parameters, byte_span stream);

/// Return the length of the chunk that begins at `start`.
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
[[nodiscard]] std::uint64_t cut(const mincdc_parameters& p, byte_span stream, std::uint64_t start);
[[nodiscard]] std::uint64_t cut(const toeplitz_aes_parameters& p, byte_span stream, std::uint64_t start);
[[nodiscard]] std::uint64_t cut(const rabin_aes_parameters& p, byte_span stream, std::uint64_t start);
[[nodiscard]] std::uint64_t cut(const toeplitz128_aes_parameters& p, byte_span stream, std::uint64_t start);
[[nodiscard]] std::uint64_t cut(const fixed_parameters& p, byte_span stream, std::uint64_t start);

/// Returns the same for AE with values of one byte and without `lest`, computed from an equivalent windowed rule: the
/// cut lies `window` bytes after the first byte that none of the `window` bytes after it beats.
[[nodiscard]] std::uint64_t windowed_ae_cut(const ae_parameters& p, byte_span stream, std::uint64_t start);

}  // namespace cutpoint::naive
