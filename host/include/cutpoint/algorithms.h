// The parameters of every algorithm, and one type that holds any of them. Only these parameters change the cuts.
#pragma once

#include <array>
#include <optional>
#include <variant>

#include <cutpoint/bytes.h>
#include <cutpoint/secret_key.h>

namespace cutpoint {

// Parameters of `adler` (P-Dedupe table 4): the weighted sum of Adler-32 over a rolling window.

/// Cuts after byte i if the low log2(avg_bytes) bits of `S2` over the window that ends with byte i are all ones. `S2 =
/// sum of (window-k) * A[b_k]` for k from 0, modulo 2^32, where A[b] is the low 16 bits of b's word in the gear table
/// of fastcdc2020.
struct adler_parameters {
  /// The expected distance in bytes between candidates: a power of two.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The smallest size of a chunk but the last, in bytes; at least the window. Default: a quarter of `avg_bytes`.
  std::optional<std::uint64_t> min_bytes = {};
  /// The largest size of a chunk, in bytes; 0 means no maximum. Default: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// The length in bytes of the window whose hash is tested.
  std::uint64_t window_bytes = 48;

  friend bool operator==(const adler_parameters&, const adler_parameters&) = default;
};

// Parameters of `ae-max` and `ae-min` (AE: asymmetric extremum).

/// The extreme that ends a chunk.
enum class ae_extreme { maximum, minimum };

/// Cuts `window_bytes` after the first value that no value in the following window beats (AE section 3). There is no
/// minimum size.
struct ae_parameters {
  /// The expected chunk size in bytes. It determines the default of `window_bytes`.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The largest size of a chunk, in bytes (AE_MAX_T in the paper); 0 means no maximum. Default: eight times
  /// `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// The number of bytes from the extreme to the cut. Default: avg_bytes - 256 for values of one byte, round(avg_bytes
  /// / (e-1)) for values of eight.
  std::optional<std::uint64_t> window_bytes = {};
  /// The number of bytes of a value: 1 or 8. Eight bytes are compared as a big-endian number, and one begins at each
  /// position.
  std::uint64_t value_bytes = 1;
  /// The threshold for low-entropy strings (AE-Opt2): a chunk that begins with this many equal bytes is cut after them.
  /// 2 to window_bytes; the paper uses avg_bytes / 8; 0 disables it.
  std::uint64_t lest = 0;
  ae_extreme extreme = ae_extreme::maximum;

  friend bool operator==(const ae_parameters&, const ae_parameters&) = default;
};

// Parameters of the profile `borg1` (`buzhash` of BorgBackup 1.x: `--chunker-params MIN_EXP,MAX_EXP,MASK_BITS,WINDOW`).

/// A buzhash whose window follows the cut: cuts before `window_bytes` bytes if the low `mask_bits` bits of their hash
/// are zero.
struct borg1_parameters {
  /// The smallest chunk but the last has 2^min_exp bytes.
  std::uint64_t min_exp = 19;
  /// The largest chunk has 2^max_exp bytes, which must be at least 2^min_exp + window_bytes + 1.
  std::uint64_t max_exp = 23;
  /// The expected distance between candidates is 2^mask_bits bytes.
  std::uint64_t mask_bits = 21;
  /// The length in bytes of the window after the cut.
  std::uint64_t window_bytes = 4095;
  /// A 32-bit number that is xored into every entry of the table. Borg draws a secret one for each repository.
  std::uint64_t seed = 0;

  friend bool operator==(const borg1_parameters&, const borg1_parameters&) = default;
};

// Parameters of `buzhash` and of the profiles that share it: casync, desync-legacy, pbs, kopia-buzhash, ipfs-buzhash.

/// The table that gives each byte value a 32-bit word.
enum class buzhash_table { casync, kopia, ipfs };

/// The test that a hash must pass to be a candidate. D is `avg_bytes`.
enum class buzhash_test {
  /// The low log2(D) bits are ones.
  ones,
  /// The low log2(D) bits are zeros (kopia, IPFS).
  zeros,
  /// `h mod M == M - 1` with `M = trunc(D / (1.33237515 - 1.42888852e-7 * D))`, clamped to between min_bytes and
  /// max_bytes. D is at most 128 MiB and need not be a power of two. For D above 9,324,556 the quotient is negative, and
  /// M is max_bytes, as in the program casync on x86-64, but at most 2^32 - 1.
  casync,
  /// As `casync`, but M is not clamped, and a chunk of exactly `min_bytes` is not tested (desync up to v1.0.4). M is the
  /// quotient modulo 2^32, as Go computes it on x86-64.
  desync_legacy,
  /// `(h & (2D-1)) >= 2D - 3` (Proxmox Backup Server).
  pbs,
};

/// Cuts after byte i if the hash `h` of the window that ends with byte i passes `test`. To make `h`, each byte's word
/// is rotated left once for every byte that follows it in the window, and these words are xored.
struct buzhash_parameters {
  /// The expected distance in bytes between candidates: a power of two, except for the two casync tests.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The smallest size of a chunk but the last, in bytes; at least the window. Default: a quarter of `avg_bytes`.
  std::optional<std::uint64_t> min_bytes = {};
  /// The largest size of a chunk, in bytes; 0 means no maximum. Default: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// The length in bytes of the window whose hash is tested.
  std::uint64_t window_bytes = 48;
  buzhash_table table = buzhash_table::casync;
  buzhash_test test = buzhash_test::ones;

  friend bool operator==(const buzhash_parameters&, const buzhash_parameters&) = default;
};

// Parameters of `crc32` (SS-CDC): CRC-32C over a rolling window.

/// Cuts after byte i if the low log2(avg_bytes) bits of the CRC-32C (initial value 0, no final xor) of the window that
/// ends with byte i equal those of 0x78.
struct crc32_parameters {
  /// The expected distance in bytes between candidates: a power of two.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The smallest size of a chunk but the last, in bytes; at least the window. Default: a quarter of `avg_bytes`.
  std::optional<std::uint64_t> min_bytes = {};
  /// The largest size of a chunk, in bytes; 0 means no maximum. Default: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// The length in bytes of the window whose hash is tested.
  std::uint64_t window_bytes = 48;

  friend bool operator==(const crc32_parameters&, const crc32_parameters&) = default;
};

// Parameters of `fastcdc` and the profile `fastcdc2020` (FastCDC; the crate fastcdc, v2020), and of `borg2-fastcdc`.

/// A gear hash that is restarted at `min_bytes`. It is tested with a strict mask before `avg_bytes` and with a loose
/// one after it. The cut is *before* the matching byte. All sizes are even.
struct fastcdc_parameters {
  /// The chunk size in bytes at which the loose mask replaces the strict one: 256 to 8 MiB, even.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The smallest size of a chunk but the last, in bytes: 64 to 2 MiB, even. Default: a quarter of `avg_bytes`.
  std::optional<std::uint64_t> min_bytes = {};
  /// The largest size of a chunk, in bytes: 1 KiB to 64 MiB, even; 0 means no maximum. Default: eight times
  /// `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// The number of bits, 0 to 3, by which the strict mask exceeds log2(avg_bytes) and the loose one falls short of it.
  /// A larger number narrows the distribution of sizes. log2(avg_bytes), rounded, and this number together are at most
  /// 25, so it is at most 2 for an average of 8 MiB.
  std::uint64_t normalization = 2;
  /// A number that is xored into every entry of the gear table; 0 gives the published table.
  std::uint64_t seed = 0;

  friend bool operator==(const fastcdc_parameters&, const fastcdc_parameters&) = default;
};

/// Borg 2's `fastcdc,MIN_EXP,MAX_EXP,MASK_BITS,NORMALIZATION`: a gear table made from a key, and masks of the highest
/// bits. The cut is *after* the matching byte.
struct borg2_fastcdc_parameters {
  /// The smallest chunk but the last has 2^min_exp bytes.
  std::uint64_t min_exp = 19;
  /// The largest chunk has 2^max_exp bytes.
  std::uint64_t max_exp = 23;
  /// The expected distance between candidates is 2^mask_bits bytes.
  std::uint64_t mask_bits = 21;
  /// The number of bits by which the strict mask exceeds `mask_bits` and the loose one falls short of it.
  std::uint64_t normalization = 2;
  /// The AES-256 key whose CTR key stream is the gear table. Borg derives it as SHA-256(id_key || "fastcdc").
  std::array<std::uint8_t, 32> key = {};

  friend bool operator==(const borg2_fastcdc_parameters&, const borg2_fastcdc_parameters&) = default;
};

// Parameters of `fixed`: chunks of equal length, the baseline without content-defined cuts.

/// Cuts every `avg_bytes`. The last chunk has the remaining bytes.
struct fixed_parameters {
  /// The length of a chunk in bytes, at least 1.
  std::uint64_t avg_bytes = 8 * KiB;

  friend bool operator==(const fixed_parameters&, const fixed_parameters&) = default;
};

// Parameters of `gear` (Ddelta; P-Dedupe table 4) and of the profile `xet`, which is the same with another table.

/// The table that gives each byte value its 64-bit word.
enum class gear_table { fastcdc2020, xet };

/// Cuts after byte i if the top log2(avg_bytes) bits of the 64-bit hash `h = 2h + G[b]` are zeros. The last 64 bytes
/// determine the hash.
struct gear_parameters {
  /// The expected distance in bytes between candidates: a power of two.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The smallest size of a chunk but the last, in bytes; at least the window. Default: a quarter of `avg_bytes`.
  std::optional<std::uint64_t> min_bytes = {};
  /// The largest size of a chunk, in bytes; 0 means no maximum. Default: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  gear_table table = gear_table::fastcdc2020;

  friend bool operator==(const gear_parameters&, const gear_parameters&) = default;
};

// Parameters of `maxp`, local maximum chunking (PRUNE section 2), which cuts at bytes that are larger than their
// neighbours.

/// Cuts after byte i if it is greater than or equal to each of the `half_window` bytes before it and greater than each
/// of the `half_window` bytes after it.
struct maxp_parameters {
  /// The expected distance in bytes between candidates. It determines the default of `half_window`.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The smallest size of a chunk but the last, in bytes. Default: `half_window`.
  std::optional<std::uint64_t> min_bytes = {};
  /// The largest size of a chunk, in bytes; 0 means no maximum. Default: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// The number of neighbours on each side that a candidate is compared with. Default: round(ln(avg_bytes/256) /
  /// ln(256/255)).
  std::optional<std::uint64_t> half_window = {};

  friend bool operator==(const maxp_parameters&, const maxp_parameters&) = default;
};

// Parameters of `mincdc4` and `mincdchash4` (MinCDC), which cut at the smallest value within the limits.

/// Cuts at the first of the smallest values among all lengths from `min_bytes`, but at least 4, to `max_bytes`. The
/// value of a length is `w * multiplier + addend` modulo 2^32, where `w` is the last 4 bytes of the chunk as a
/// little-endian number. A multiplier of 1 and an addend of 0 give `mincdc4`, which compares the bytes themselves.
struct mincdc_parameters {
  /// The mean of `min_bytes` and `max_bytes`, rounded up. On random bytes it is the mean size of a chunk.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The smallest size of a chunk but the last, in bytes; 0 is allowed. Default: avg_bytes / 2, or what makes
  /// `avg_bytes` the mean if only `max_bytes` is given.
  std::optional<std::uint64_t> min_bytes = {};
  /// The largest size of a chunk, in bytes. Default: avg_bytes * 3 / 2, or what makes `avg_bytes` the mean if only
  /// `min_bytes` is given.
  std::optional<std::uint64_t> max_bytes = {};
  /// An odd number below 2^32.
  std::uint64_t multiplier = 0x915f77f5;
  /// A number below 2^32.
  std::uint64_t addend = 0x34636463;

  friend bool operator==(const mincdc_parameters&, const mincdc_parameters&) = default;
};

// Parameters of the algorithms whose cuts AES decides (PHTE: polynomial hash, then encrypt): `toeplitz-aes` and
// `rabin-aes`, which Borg 2 has too, and `toeplitz128-aes`.

/// The hash of the window of 64 bytes whose digest AES encrypts.
enum class phte_hash {
  toeplitz,     ///< a Toeplitz hash of 64 bits, over a secret table
  rabin,        ///< the residue of the window modulo a secret polynomial of degree 64
  toeplitz128,  ///< two Toeplitz hashes of 64 bits, over independent tables
};

/// A chunk is cut after the byte at which the first 8 bytes of AES-128(digest of the 64 bytes that end there), as a
/// little-endian number, have zeros in a mask of low bits: a strict mask up to the length `normal_size`, and a loose one
/// past it. Those who do not have the key learn from the cuts only which windows are equal ("Breaking and Fixing
/// Content-Defined Chunking", eprint 2025/558), for as much data as docs/secure-cuts.md says.
template <phte_hash Hash>
struct phte_parameters {
  /// No chunk but the last has 2^min_exp bytes or less: 6 to 30, so that it holds the window.
  std::uint64_t min_exp = 19;
  /// The largest chunk has 2^max_exp bytes; more than `min_exp`.
  std::uint64_t max_exp = 23;
  /// The number of bits of both masks without normalization, from `min_exp` to `max_exp`.
  std::uint64_t mask_bits = 21;
  /// The number of bits by which the strict mask exceeds `mask_bits` and the loose one falls short of it: 0 to 16, and
  /// less than `mask_bits`. A larger number narrows the distribution of sizes.
  std::uint64_t normalization = 2;
  /// The length in bytes up to which the strict mask decides; 0 means 2^mask_bits - 2^(mask_bits - normalization). It has
  /// no effect without normalization.
  std::uint64_t normal_size = 0;
  /// The key whose AES-256-CTR key stream gives the key of AES and the table or polynomial. Borg 2 derives it as
  /// SHA-256(id_key || NAME of the algorithm). Without a key the cuts hide nothing.
  secret_key key = {};

  friend bool operator==(const phte_parameters&, const phte_parameters&) = default;
};

using toeplitz_aes_parameters = phte_parameters<phte_hash::toeplitz>;
using rabin_aes_parameters = phte_parameters<phte_hash::rabin>;
using toeplitz128_aes_parameters = phte_parameters<phte_hash::toeplitz128>;

// Parameters of `rabin` (LBFS; P-Dedupe eq. 1-2), of the profile `restic`, and of `tttd`, which adds a backup divisor.

/// The test that a residue must pass to be a candidate.
enum class rabin_test {
  pattern,  ///< the low log2(avg_bytes) bits equal those of 0x78 (LBFS)
  zeros,    ///< the low log2(avg_bytes) bits are zeros (restic)
};

/// An irreducible polynomial of degree 53 over GF(2), in which bit k stands for x^k.
inline constexpr std::uint64_t default_rabin_polynomial = 0x3DA3358B4DC173;

/// Cuts after byte i if the residue of the window that ends with byte i passes `test`. The residue is that of the
/// window, taken as a polynomial over GF(2) whose first byte is the most significant, modulo `polynomial`.
struct rabin_parameters {
  /// The expected distance in bytes between candidates: a power of two.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The smallest size of a chunk but the last, in bytes; at least the window. Default: a quarter of `avg_bytes`.
  std::optional<std::uint64_t> min_bytes = {};
  /// The largest size of a chunk, in bytes; 0 means no maximum. Default: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// The length in bytes of the window whose hash is tested.
  std::uint64_t window_bytes = 48;
  /// The modulus: irreducible, of degree 53. restic draws one for each repository.
  std::uint64_t polynomial = default_rabin_polynomial;
  rabin_test test = rabin_test::pattern;

  friend bool operator==(const rabin_parameters&, const rabin_parameters&) = default;
};

/// Two thresholds, two divisors (HP; AppDedupe section 2.3). It cuts as `rabin` does, but a chunk that reaches its
/// maximum is cut after the last byte that matched half the divisor, if any did.
struct tttd_parameters {
  /// The expected distance in bytes between candidates: a power of two.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The smallest size of a chunk but the last, in bytes; at least the window. Default: a quarter of `avg_bytes`.
  std::optional<std::uint64_t> min_bytes = {};
  /// The largest size of a chunk, in bytes; 0 means no maximum. Default: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// The length in bytes of the window whose hash is tested.
  std::uint64_t window_bytes = 48;
  /// The modulus: irreducible, of degree 53.
  std::uint64_t polynomial = default_rabin_polynomial;

  friend bool operator==(const tttd_parameters&, const tttd_parameters&) = default;
};

// Parameters of `rabin-inck` (PRUNE section 4.2): a polynomial hash modulo a Mersenne prime.

/// Cuts after byte i if the low log2(avg_bytes) bits of the hash of the window that ends with byte i equal those of
/// 0x78. The hash is `sum of b_k * 256^(window-1-k) mod (2^31 - 1)`.
struct rabin_inck_parameters {
  /// The expected distance in bytes between candidates: a power of two.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The smallest size of a chunk but the last, in bytes; at least the window. Default: a quarter of `avg_bytes`.
  std::optional<std::uint64_t> min_bytes = {};
  /// The largest size of a chunk, in bytes; 0 means no maximum. Default: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// The length in bytes of the window whose hash is tested.
  std::uint64_t window_bytes = 48;

  friend bool operator==(const rabin_inck_parameters&, const rabin_inck_parameters&) = default;
};

// Parameters of `ram` (rapid asymmetric maximum).

/// Cuts after the first byte past the window that is at least as large as every byte in the window. There is no minimum
/// size besides the window.
struct ram_parameters {
  /// The expected chunk size in bytes. It determines the default of `window_bytes`.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The largest size of a chunk, in bytes; 0 means no maximum. Default: twice `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// The number of bytes at the chunk's start whose maximum must be reached. Default: avg_bytes - 256.
  std::optional<std::uint64_t> window_bytes = {};

  friend bool operator==(const ram_parameters&, const ram_parameters&) = default;
};

// Parameters of the profile `repmaxcdc` (buildbarn/go-cdc; REAPI), which cuts at the largest gear hash within a
// horizon.

/// Among the cuts that leave at least `min_bytes` on both sides, takes the first one with the largest gear hash. It
/// repeats this on the bytes before that cut while another chunk fits there.
struct repmaxcdc_parameters {
  /// The smallest size of a chunk in bytes, at least 64. Only a stream shorter than two such chunks gives a smaller
  /// one.
  std::uint64_t min_bytes = 256 * KiB;
  /// The number of bytes searched beyond two minimal chunks. Default: eight times `min_bytes`.
  std::optional<std::uint64_t> horizon_bytes = {};

  friend bool operator==(const repmaxcdc_parameters&, const repmaxcdc_parameters&) = default;
};

// Parameters of the profile `ronomon` (ronomon/deduplication; the Python package fastcdc; attic).

/// A gear hash that shifts right and is restarted at `min_bytes`, with a strict and a loose mask. The cut is after the
/// matching byte.
struct ronomon_parameters {
  /// The expected chunk size in bytes: 256 to 256 MiB.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The smallest size of a chunk but the last, in bytes: 64 to 64 MiB. Default: a quarter of `avg_bytes`.
  std::optional<std::uint64_t> min_bytes = {};
  /// The largest size of a chunk, in bytes: 1 KiB to 1 GiB. Default: eight times `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};

  friend bool operator==(const ronomon_parameters&, const ronomon_parameters&) = default;
};

// Parameters of `seqcdc-inc` and `seqcdc-dec` (SeqCDC), which cut at monotonic byte sequences and skip other bytes.

/// The order of the sequences that end a chunk.
enum class seqcdc_order { increasing, decreasing };

/// Cuts after `seq_length` consecutive steps in `order`. After `skip_trigger` steps against it, skips `skip_size`
/// bytes.
struct seqcdc_parameters {
  /// The expected chunk size in bytes. It determines the defaults of the three fields after `max_bytes`.
  std::uint64_t avg_bytes = 8 * KiB;
  /// The smallest size of a chunk but the last, in bytes; more than `seq_length`. Default: avg_bytes / 2 (1 KiB for the
  /// published 4 KiB set).
  std::optional<std::uint64_t> min_bytes = {};
  /// The largest size of a chunk, in bytes; 0 means no maximum. Default: twice `avg_bytes`.
  std::optional<std::uint64_t> max_bytes = {};
  /// The number of steps (pairs of neighbours) in order that make a cut, 1 to 255. Default: 5; from 32 KiB on 6.
  std::optional<std::uint64_t> seq_length = {};
  /// The number of steps against the order that make a skip; 0 never skips (BASE in figure 12). Default: 50; from 8 KiB
  /// on 45, from 16 KiB 40.
  std::optional<std::uint64_t> skip_trigger = {};
  /// The number of bytes that a skip passes over. Default: 256; from 8 KiB on 320, from 16 KiB 640, from 32 KiB 128,
  /// from 64 KiB 384.
  std::optional<std::uint64_t> skip_size = {};
  seqcdc_order order = seqcdc_order::increasing;

  friend bool operator==(const seqcdc_parameters&, const seqcdc_parameters&) = default;
};

/// Holds the parameters of one algorithm. Fields that are left out take their defaults when a `chunker` is made.
using algorithm_parameters =
    std::variant<gear_parameters, rabin_parameters, rabin_inck_parameters, adler_parameters, crc32_parameters,
                 buzhash_parameters, tttd_parameters, fastcdc_parameters, borg2_fastcdc_parameters, ronomon_parameters,
                 borg1_parameters, repmaxcdc_parameters, maxp_parameters, ae_parameters, ram_parameters,
                 seqcdc_parameters, mincdc_parameters, toeplitz_aes_parameters, rabin_aes_parameters,
                 toeplitz128_aes_parameters, fixed_parameters>;

}  // namespace cutpoint
