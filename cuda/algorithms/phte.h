// `toeplitz-aes`, `rabin-aes` and `toeplitz128-aes`, with Borg 2's profiles: AES encrypts the digest of a window, and two masks
// of the ciphertext decide.
#pragma once

#include <vector>

#include "cuda/cut/specification.h"
#include "cuda/scan/rolling_hash.h"
#include "host/algorithms/secrets.h"

namespace cutpoint::cuda {

// The scan of hashes whose encryption by AES-128 decides (`toeplitz-aes` and its like).
//
// Each thread reads the buffer itself, as in `scan_direct`. A position takes 152 look-ups for AES, so the loop over positions is
// not unrolled, and what it costs to read bytes hardly counts. All tables have a copy for each lane that shared memory serves
// in a cycle: a look-up takes the same time whatever the byte is, so that no time tells anything of the keys.

/// Where the words of a specification's table are. A digest has one or two words.
template <class Digest>
struct encrypted_table {
  static constexpr std::uint32_t digests = 0;  ///< 256 for each of the tables 0 and 1 of the hash's `look_up`
  static constexpr std::uint32_t columns = 512 * sizeof(Digest) / sizeof(std::uint64_t);  ///< 256, two in a word
  static constexpr std::uint32_t round_keys = columns + 128;                              ///< 44 columns, likewise
  static constexpr std::uint32_t words = round_keys + 22;
};

namespace encrypted_detail {

inline constexpr std::uint32_t window_bytes = 64;
inline constexpr std::uint32_t run_bytes = 512;  // of a thread, after a window of warm-up
inline constexpr std::uint32_t rounds = 10;
inline constexpr std::uint32_t column_copies = rolling_detail::table_copies<std::uint32_t>;
template <class Digest>
inline constexpr std::uint32_t digest_copies = rolling_detail::table_copies<Digest>;

/// The columns of a block of AES, of which byte r is row r.
struct aes_columns {
  std::uint32_t column[4];
};

/// What the threads of a block look up. `Columns` and `Digests` are shared memory.
template <class Digest, class Digests, class Columns, class Keys>
struct shared_secrets {
  Digests digests;  ///< entering, then leaving
  Columns columns;
  Keys round_keys;

  [[nodiscard]] CUTPOINT_DEVICE Digest digest(std::uint32_t lane, std::uint32_t k, byte_of byte) const {
    const auto copy = static_cast<std::uint32_t>(lane % digest_copies<Digest> * sizeof(Digest));
    return digests.at_offset(k * (std::uint32_t{256} << rolling_detail::log2_row) +
                             (byte.template shifted<rolling_detail::log2_row>() | copy));
  }
  /// What row `row` of a column, `word`, adds to its column in the next round, rotated to row 0.
  [[nodiscard]] CUTPOINT_DEVICE std::uint32_t column(std::uint32_t lane, std::uint32_t word, std::uint32_t row) const {
    const byte_of byte{word, 8 * row};
    const std::uint32_t copy = lane % column_copies * 4;
    return columns.at_offset(byte.template shifted<rolling_detail::log2_row>() | copy);
  }

  /// Returns the first half of the encryption of a block.
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t encrypted(std::uint32_t lane, std::uint64_t first,
                                                        std::uint64_t second) const {
    aes_columns state = round_keys[0];
    state.column[0] ^= static_cast<std::uint32_t>(first);
    state.column[1] ^= static_cast<std::uint32_t>(first >> 32);
    state.column[2] ^= static_cast<std::uint32_t>(second);
    state.column[3] ^= static_cast<std::uint32_t>(second >> 32);
    CUTPOINT_UNROLL
    for (std::uint32_t round = 1; round < rounds; ++round) {
      aes_columns next = round_keys[round];
      CUTPOINT_UNROLL
      for (std::uint32_t i = 0; i < 4; ++i) {
        CUTPOINT_UNROLL
        for (std::uint32_t row = 0; row < 4; ++row) {
          next.column[i] ^= rotate_left(column(lane, state.column[(i + row) % 4], row), 8 * row);
        }
      }
      state = next;
    }
    // The substitution of a byte is in the rows 1 and 2 of what it adds.
    const aes_columns last = round_keys[rounds];
    std::uint32_t word[2];
    CUTPOINT_UNROLL
    for (std::uint32_t i = 0; i < 2; ++i) {
      word[i] = last.column[i] ^ (column(lane, state.column[i], 0) >> 8 & 0xff) ^
                (column(lane, state.column[(i + 1) % 4], 1) & 0xff00) ^
                (column(lane, state.column[(i + 2) % 4], 2) & 0xff0000) ^
                (column(lane, state.column[(i + 3) % 4], 3) << 8 & 0xff000000);
    }
    return std::uint64_t{word[1]} << 32 | word[0];
  }
};

/// Fills shared memory with `value(i)`.
template <class Block, class Shared, class Value>
CUTPOINT_DEVICE void fill(Block& block, const Shared& shared, Value value) {
  block.for_each_thread([&](auto thread) {
    for (std::uint32_t i = thread.index(); i < shared.size(); i += block.thread_count()) shared[i] = value(i);
  });
}

/// Column i of those that are two in a word.
[[nodiscard]] CUTPOINT_DEVICE std::uint32_t column_at(const std::uint64_t* words, std::uint32_t i) {
  return static_cast<std::uint32_t>(words[i / 2] >> (32 * (i % 2)));
}

}  // namespace encrypted_detail

/// The kernel of the scan. It writes every word of both levels. A `Hash` has
///
///   digest                         its value: first() and second() are encrypted; with(other) adds another; at(words, i)
///                                  reads number i of some
///   absorb(look_up, d, incoming)   the digest of a window that is one byte longer; look_up(k, byte) is a digest of table k.
///                                  Table 1 has what to add when a byte leaves the window
template <class Hash>
struct encrypted_scan {
  using digest = typename Hash::digest;
  static constexpr std::uint32_t threads_per_block = 256;
  static constexpr std::uint32_t resident_blocks = 2;
  static constexpr std::uint32_t levels = 2;
  packed_bytes in;
  const std::uint64_t* table = nullptr;  ///< `encrypted_table<digest>::words` words
  zeros_test<std::uint64_t> tests[levels] = {};

  [[nodiscard]] std::size_t shared_bytes(std::uint32_t) const {
    using namespace encrypted_detail;
    return shared_size<digest>(512 * digest_copies<digest>) + shared_size<std::uint32_t>(256 * column_copies) +
           shared_size<aes_columns>(rounds + 1);
  }
  [[nodiscard]] std::uint64_t blocks(std::uint32_t threads) const {
    const std::uint64_t tile = std::uint64_t{threads} * encrypted_detail::run_bytes;
    return (in.byte_count + tile - 1) / tile;
  }

  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block) const {
    using namespace encrypted_detail;
    using places = encrypted_table<digest>;
    const auto digests = block.template shared<digest>(512 * digest_copies<digest>);
    const auto columns = block.template shared<std::uint32_t>(256 * column_copies);
    const auto round_keys = block.template shared<aes_columns>(rounds + 1);
    fill(block, digests, [&](std::uint32_t i) { return digest::at(table, i / digest_copies<digest>); });
    fill(block, columns, [&](std::uint32_t i) { return column_at(table + places::columns, i / column_copies); });
    fill(block, round_keys, [&](std::uint32_t i) {
      const std::uint64_t* const words = table + places::round_keys;
      return aes_columns{{column_at(words, 4 * i), column_at(words, 4 * i + 1), column_at(words, 4 * i + 2),
                          column_at(words, 4 * i + 3)}};
    });
    const shared_secrets<digest, decltype(digests), decltype(columns), decltype(round_keys)> secrets{digests, columns,
                                                                                                     round_keys};
    const packed_bytes used = in.without_unused();
    const std::uint64_t stride = std::uint64_t{run_bytes} * block.count() * block.thread_count();
    block.for_each_thread([&](auto thread) {
      const std::uint64_t first = run_bytes * (std::uint64_t{block.index()} * block.thread_count() + thread.index());
      for (std::uint64_t begin = first; begin < used.byte_count; begin += stride) {
        scan_run(used, secrets, thread.lane(), begin, least(begin + run_bytes, (used.byte_count + 63) / 64 * 64));
      }
    });
  }

 private:
  template <class Secrets>
  CUTPOINT_DEVICE void scan_run(const packed_bytes& used, const Secrets& secrets, std::uint32_t lane,
                                std::uint64_t begin, std::uint64_t end) const {
    using namespace encrypted_detail;
    using rolling_detail::vector_bytes;
    const auto look_up = [&](std::uint32_t k, byte_of byte) { return secrets.digest(lane, k, byte); };
    digest d = {};
    rolling_detail::found_bits<levels> bits;
    // Positions before the run only fill the window.
    for (std::uint64_t position = begin - window_bytes; position != begin; position += vector_bytes) {
      bytes16 entering = load_anywhere(used, position);
      CUTPOINT_NO_UNROLL
      for (std::uint32_t i = 0; i < vector_bytes; ++i) d = Hash::absorb(look_up, d, {shift_out(entering), 0});
    }
    for (std::uint64_t position = begin; position < end; position += vector_bytes) {
      bytes16 entering = load_anywhere(used, position);
      bytes16 leaving = load_anywhere(used, position - window_bytes);
      CUTPOINT_NO_UNROLL
      for (std::uint32_t i = 0; i < vector_bytes; ++i) {
        d = Hash::absorb(look_up, d, {shift_out(entering), 0});
        d = d.with(look_up(1, {shift_out(leaving), 0}));
        const std::uint64_t word = secrets.encrypted(lane, d.first(), d.second());
        CUTPOINT_UNROLL
        for (std::uint32_t l = 0; l < levels; ++l) {
          bits.level[l] = bits.level[l] >> 1 | std::uint64_t{tests[l](word)} << 63;
        }
      }
      if ((position + vector_bytes) % 64 == 0) bits.store(used, position + vector_bytes - 64);
    }
  }

  /// Returns the first of sixteen bytes, with others above it, and moves the others down.
  [[nodiscard]] CUTPOINT_DEVICE static std::uint32_t shift_out(bytes16& bytes) {
    const std::uint32_t first = bytes.words[0];
    CUTPOINT_UNROLL
    for (std::uint32_t i = 0; i < 3; ++i) {
      bytes.words[i] = static_cast<std::uint32_t>((std::uint64_t{bytes.words[i + 1]} << 32 | bytes.words[i]) >> 8);
    }
    bytes.words[3] >>= 8;
    return first;
  }
};

template <std::uint32_t Words>
struct alignas(8 * Words) encrypted_digest {
  std::uint64_t word[Words];

  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t first() const { return word[0]; }
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t second() const { return Words > 1 ? word[Words - 1] : 0; }
  [[nodiscard]] CUTPOINT_DEVICE encrypted_digest with(const encrypted_digest& other) const {
    encrypted_digest sum;
    CUTPOINT_UNROLL
    for (std::uint32_t i = 0; i < Words; ++i) sum.word[i] = word[i] ^ other.word[i];
    return sum;
  }
  [[nodiscard]] CUTPOINT_DEVICE static encrypted_digest at(const std::uint64_t* words, std::uint32_t i) {
    encrypted_digest d;
    CUTPOINT_UNROLL
    for (std::uint32_t k = 0; k < Words; ++k) d.word[k] = words[i * Words + k];
    return d;
  }
};

/// The Toeplitz hash, by a table of the bytes that enter the window and one of those that leave it.
template <std::uint32_t Words>
struct rolling_toeplitz {
  using digest = encrypted_digest<Words>;

  template <class LookUp>
  [[nodiscard]] CUTPOINT_DEVICE static digest absorb(const LookUp& look_up, const digest& d, byte_of incoming) {
    digest shifted;
    CUTPOINT_UNROLL
    for (std::uint32_t i = 0; i < Words; ++i) {
      // times x modulo x^64 + x^4 + x^3 + x + 1
      shifted.word[i] = d.word[i] << 1 ^ (static_cast<std::int64_t>(d.word[i]) < 0 ? 0x1b : 0);
    }
    return shifted.with(look_up(0, incoming));
  }
};

/// The residue modulo a secret polynomial of degree 64, by a table of what the highest byte of a digest becomes and one of the
/// bytes that leave the window.
struct rolling_rabin64 {
  using digest = encrypted_digest<1>;

  template <class LookUp>
  [[nodiscard]] CUTPOINT_DEVICE static digest absorb(const LookUp& look_up, const digest& d, byte_of incoming) {
    const byte_of top{static_cast<std::uint32_t>(d.word[0] >> 32), 24};
    return digest{{d.word[0] << 8 ^ incoming.value()}}.with(look_up(0, top));
  }
};

/// Cuts after the first candidate of level 0 (the strict mask) up to the length `strict_end`, or of level 1 (the loose mask)
/// beyond. No chunk is shorter than `first` + 1, but the last of a stream.
struct two_masks_cut_finder {
  std::uint64_t first = 0;
  std::uint64_t strict_end = 0;
  std::uint64_t reach = 0;

  template <class Warp>
  [[nodiscard]] CUTPOINT_DEVICE std::uint64_t next_cut(const Warp& warp, const packed_bytes& in,
                                                       const stream_range& range, std::uint64_t start) const {
    const std::uint64_t length = least(reach, range.end - start);
    const std::uint64_t end = start + length;
    if (length <= first) return end;
    const std::uint64_t strict = start + least(greatest(strict_end, first), length);
    const std::uint64_t match = next_candidate(warp, in, 0, start + first, strict);
    if (match < strict) return match + 1;
    return least(next_candidate(warp, in, 1, strict, end) + 1, end);
  }
};

/// The specification of these algorithms. Its table is erased with it, and so is the device's copy.
template <class Hash>
struct phte_specification {
  static constexpr std::uint32_t levels = 2;
  static constexpr bool is_secret = true;
  std::vector<std::uint64_t, secret_allocator<std::uint64_t>> table;
  chunk_estimates sizes = {};
  zeros_test<std::uint64_t> strict = {};
  zeros_test<std::uint64_t> loose = {};
  two_masks_cut_finder chunks = {};

  [[nodiscard]] encrypted_scan<Hash> scan(const packed_bytes& in, const std::uint64_t* table_there) const {
    return {in, table_there, {strict, loose}};
  }
  [[nodiscard]] two_masks_cut_finder cut_finder(const std::uint64_t*) const { return chunks; }
};

using rabin_aes_specification = phte_specification<rolling_rabin64>;
using toeplitz_aes_specification = phte_specification<rolling_toeplitz<1>>;
using toeplitz128_aes_specification = phte_specification<rolling_toeplitz<2>>;

}  // namespace cutpoint::cuda
