// A second implementation of every rule, written from its definition. It shares no code with the library: it computes
// each hash over its whole window at every position, and searches each neighbourhood completely.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
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
template <phte_hash Hash>
[[nodiscard]] std::uint64_t cut(const phte_parameters<Hash>& p, byte_span stream, std::uint64_t start);
[[nodiscard]] std::uint64_t cut(const fixed_parameters& p, byte_span stream, std::uint64_t start);

/// Returns the smaller of `max_bytes` and `remaining`; a `max_bytes` of 0 means no maximum.
inline std::uint64_t longest_chunk(std::uint64_t max_bytes, std::uint64_t remaining) {
  return max_bytes == 0 ? remaining : std::min(max_bytes, remaining);
}

/// Returns FastCDC's gear table, derived from MD5.
[[nodiscard]] const std::array<std::uint64_t, 256>& derived_gear_table();
/// Returns ronomon's table, derived from AES-256 in counter mode.
[[nodiscard]] const std::array<std::uint32_t, 256>& derived_ronomon_table();
/// Returns Borg 2's gear table for a key. It is cached for later calls. Not thread-safe.
[[nodiscard]] const std::array<std::uint64_t, 256>& derived_borg2_table(const std::array<std::uint8_t, 32>& key);

/// Returns `length` bytes, a multiple of 16, of the AES-256 key stream whose blocks are the encryptions of their numbers.
[[nodiscard]] std::vector<std::uint8_t> derived_keystream(std::span<const std::uint8_t, 32> key, std::size_t length);

/// Returns `Σ 2^(n-1-k) G[b_k]` modulo 2^64.
[[nodiscard]] std::uint64_t gear(const std::array<std::uint64_t, 256>& table, byte_span window);
/// Returns the residue of the window as a polynomial over GF(2), from a division bit by bit.
[[nodiscard]] std::uint64_t rabin(std::uint64_t polynomial, byte_span window);
/// Returns `Σ b_k 256^(n-1-k) mod (2^31 - 1)`.
[[nodiscard]] std::uint64_t rabin_inck(byte_span window);
/// Returns `S2 = Σ (n-k) A[b_k]` modulo 2^32.
[[nodiscard]] std::uint64_t adler(byte_span window);
/// Returns CRC-32C (initial value 0, no final xor), from a division of reflected bits.
[[nodiscard]] std::uint64_t crc32c(byte_span window);
/// Returns the xor of `T[b_k]` rotated left by n-1-k.
[[nodiscard]] std::uint32_t buzhash(const std::array<std::uint32_t, 256>& table, byte_span window);

}  // namespace cutpoint::naive
