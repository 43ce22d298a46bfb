// The loops of the printed definitions, in the order of their lines. Positions count from 0, where the papers' count from
// 1.
#include "bench/papers/printed.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "host/algorithms/adler.h"
#include "host/algorithms/ae.h"
#include "host/algorithms/maxp.h"
#include "host/algorithms/rabin_inck.h"
#include "host/algorithms/ram.h"
#include "host/algorithms/seqcdc.h"

namespace cutpoint::bench {

namespace {

using cut_function = printed_definition::cut_function;

/// The bytes that a chunk at `start` may have.
byte_span chunk_limit(byte_span bytes, std::uint64_t start, std::uint64_t max_bytes) {
  const byte_span rest = bytes.subspan(start);
  return rest.first(std::min<std::uint64_t>(rest.size(), max_bytes));
}

/// AE's algorithm 1. Its cuts are those of `ae-max`.
cut_function ae_algorithm_1(const ae_parameters& p) {
  return [window = *p.window_bytes, max = limit_of(*p.max_bytes)](byte_span bytes, std::uint64_t start) {
    const byte_span b = chunk_limit(bytes, start, max);
    std::uint64_t largest = 0;
    for (std::uint64_t i = 1; i < b.size(); ++i) {
      if (b[i] <= b[largest]) {
        if (i == largest + window) return i + 1;
      } else {
        largest = i;
      }
    }
    return std::uint64_t{b.size()};
  };
}

/// AE's algorithm 2, AE-Opt1. A byte that equals the maximum ends the inner loop and with it the chunk, a window after
/// the maximum, whatever lies between. Where that is past the end, the chunk ends there.
cut_function ae_algorithm_2(const ae_parameters& p) {
  return [window = *p.window_bytes, max = limit_of(*p.max_bytes)](byte_span bytes, std::uint64_t start) {
    const byte_span b = chunk_limit(bytes, start, max);
    const std::uint64_t end = b.size();
    std::uint64_t largest = 0;
    for (std::uint64_t i = 1; i < end; ++i) {
      const std::uint64_t last = std::min(largest + window, end - 1);
      while (i < last && b[i] < b[largest]) ++i;
      if (b[i] <= b[largest]) return std::min(largest + window + 1, end);
      largest = i;
    }
    return end;
  };
}

/// AE's algorithm 3, AE-Opt2: after `lest` bytes it compares the largest *value* of eight bytes with the smallest.
cut_function ae_algorithm_3(const ae_parameters& p) {
  return [p](byte_span bytes, std::uint64_t start) {
    const byte_span b = chunk_limit(bytes, start, limit_of(*p.max_bytes));
    const std::uint64_t complete = bytes.size() - start;  // a value may lie past the chunk's largest size
    const std::uint64_t values = std::min<std::uint64_t>(b.size(), complete >= 8 ? complete - 7 : 0);
    if (values == 0) return std::uint64_t{b.size()};
    const auto value_at = [&](std::uint64_t i) { return big_endian64(bytes.data() + start + i); };
    std::uint64_t largest = value_at(0);
    std::uint64_t smallest = largest;
    std::uint64_t largest_at = 0;
    for (std::uint64_t i = 1; i < b.size(); ++i) {
      const std::uint64_t value = i < values ? value_at(i) : smallest;
      if (value > largest) {
        largest = value;
        largest_at = i;
        continue;
      }
      if (value >= smallest && largest == smallest && i + 1 == p.lest && i < values) return i + 1;
      smallest = std::min(smallest, value);
      if (i == largest_at + *p.window_bytes) return i + 1;
    }
    return std::uint64_t{b.size()};
  };
}

/// Adler's sums as P-Dedupe's table 4 joins them. Of the low 16 bits only those of S1 are tested.
class printed_adler_hash : public adler_hash {
 public:
  using adler_hash::adler_hash;
  static std::uint64_t word(const sums& hash) { return (hash.s2 << 16) | hash.s1; }
};

cut_function printed_adler(const adler_parameters& p) {
  const windowed_reference<printed_adler_hash, masked_test> reference(printed_adler_hash(p.window_bytes), test_of(p),
                                                                      *p.min_bytes, *p.max_bytes);
  return [reference](byte_span bytes, std::uint64_t start) { return reference.cut(bytes, start); };
}

/// Rabin's hash modulo a polynomial of degree 32, by a division of 64 bits that takes a step for each of the upper 32 bits.
class xor_steps_hash {
 public:
  static constexpr std::uint64_t modulus = 0x104C11DB7;  ///< CRC-32's, which is irreducible

  explicit xor_steps_hash(std::uint64_t window) : window_(window) {
    for (std::uint64_t byte = 0; byte < 256; ++byte) {
      std::uint64_t removed = byte;
      for (std::uint64_t i = 0; i < window; ++i) removed = residue(removed << 8);
      remove_[byte] = removed;
    }
  }
  std::uint64_t window() const { return window_; }
  static std::uint64_t word(std::uint64_t hash) { return hash; }
  std::uint64_t absorb(std::uint64_t hash, std::uint8_t incoming) const { return residue((hash << 8) | incoming); }
  std::uint64_t roll(std::uint64_t hash, std::uint8_t outgoing, std::uint8_t incoming) const {
    return absorb(hash, incoming) ^ removal_of(outgoing);
  }
  std::uint64_t removal_of(std::uint8_t outgoing) const { return remove_[outgoing]; }
  std::uint64_t over(const std::uint8_t* bytes) const {
    std::uint64_t hash = 0;
    for (std::uint64_t i = 0; i < window_; ++i) hash = absorb(hash, bytes[i]);
    return hash;
  }
  static std::uint64_t residue(std::uint64_t value) {
    for (int bit = 63; bit >= 32; --bit) value ^= (modulus << (bit - 32)) & (0 - (value >> bit & 1));
    return value;
  }

 private:
  std::array<std::uint64_t, 256> remove_;
  std::uint64_t window_;
};

cut_function rabin_by_xor_steps(const rabin_inck_parameters& p) {
  const windowed_reference<xor_steps_hash, masked_test> reference(xor_steps_hash(p.window_bytes), test_of(p),
                                                                  *p.min_bytes, *p.max_bytes);
  return [reference](byte_span bytes, std::uint64_t start) { return reference.cut(bytes, start); };
}

/// RAM of SeqCDC's section II-A: the cut byte is greater than the largest of the window.
cut_function ram_greater(const ram_parameters& p) {
  return [window = *p.window_bytes, max = limit_of(*p.max_bytes)](byte_span bytes, std::uint64_t start) {
    const byte_span b = chunk_limit(bytes, start, max);
    if (b.size() <= window) return std::uint64_t{b.size()};
    const auto rest = b.begin() + static_cast<std::ptrdiff_t>(window);
    const auto cut = std::find_if(
        rest, b.end(), [largest = *std::max_element(b.begin(), rest)](std::uint8_t byte) { return byte > largest; });
    return cut == b.end() ? b.size() : static_cast<std::uint64_t>(cut - b.begin()) + 1;
  };
}

/// SeqCDC as its authors' scalar code counts: an equal pair neither extends a run nor breaks it.
cut_function seqcdc_absorbing(const seqcdc_parameters& p) {
  return [p](byte_span bytes, std::uint64_t start) {
    const byte_span b = chunk_limit(bytes, start, limit_of(*p.max_bytes));
    std::uint64_t run = 0;
    std::uint64_t opposing = 0;
    for (std::uint64_t i = *p.min_bytes - *p.seq_length; i < b.size(); ++i) {
      if (b[i] == b[i - 1]) continue;
      run = b[i] > b[i - 1] ? run + 1 : 0;
      opposing += static_cast<std::uint64_t>(b[i] < b[i - 1]);
      if (run == *p.seq_length) return i + 1;
      if (opposing == *p.skip_trigger) {
        opposing = 0;
        i += *p.skip_size;
      }
    }
    return std::uint64_t{b.size()};
  };
}

/// Local extremes: a candidate `beats` each of the `half` bytes after it, and no byte of as many before it beats it, or
/// equals it if `is_strict`.
template <class Beats>
cut_function local_extremes(const maxp_parameters& p, Beats beats, bool is_strict) {
  const std::uint64_t half = *p.half_window;
  const std::uint64_t min = std::max<std::uint64_t>(1, *p.min_bytes);
  return [half, min, max = limit_of(*p.max_bytes), beats, is_strict](byte_span bytes, std::uint64_t start) {
    const std::uint64_t end = start + std::min<std::uint64_t>(max, bytes.size() - start);
    const std::uint64_t last = std::min<std::uint64_t>(end, bytes.size() > half ? bytes.size() - half : 0);
    for (std::uint64_t i = start + min - 1; i < last;) {
      std::uint64_t next = i + 1;
      while (next <= i + half && beats(bytes[i], bytes[next])) ++next;
      if (next == i + half + 1) {
        const auto before = bytes.subspan(i - std::min(i, half), std::min(i, half));
        const auto spoils = [&, value = bytes[i]](std::uint8_t byte) {
          return beats(byte, value) || (is_strict && byte == value);
        };
        if (std::none_of(before.begin(), before.end(), spoils)) return i + 1 - start;
      }
      i = next;
    }
    return end - start;
  };
}

/// Adds a definition. The parameters are valid, as their sizes come from `printed_definitions` alone.
template <class Parameters, class Make>
void add(std::vector<printed_definition>& all, std::string_view name, std::string_view meaning,
         const Parameters& parameters, Make make) {
  const chunker ours = *chunker::make(parameters);
  all.push_back({name, meaning, ours, make(std::get<Parameters>(ours.parameters()))});
}

}  // namespace

std::vector<chunk> printed_definition::find_cuts(byte_span stream) const {
  std::vector<chunk> chunks;
  for (std::uint64_t start = 0; start < stream.size();) {
    chunks.push_back({start, cut(stream, start)});
    start += chunks.back().length;
  }
  return chunks;
}

std::vector<printed_definition> printed_definitions(std::uint64_t avg_bytes) {
  std::vector<printed_definition> all;
  const ae_parameters ae{.avg_bytes = avg_bytes};
  const ae_parameters ae_of_values{.avg_bytes = avg_bytes, .value_bytes = 8, .lest = avg_bytes / 8};
  const maxp_parameters maxp{.avg_bytes = avg_bytes};
  const maxp_parameters every_candidate{.avg_bytes = avg_bytes, .min_bytes = 0, .max_bytes = 0};
  const auto strict = [](const maxp_parameters& p) { return local_extremes(p, std::greater<>(), true); };
  add(all, "ae-algorithm-1", "AE, algorithm 1: the plain loop", ae, ae_algorithm_1);
  add(all, "ae-algorithm-2", "AE, algorithm 2 (AE-Opt1): stops at a byte that equals the maximum", ae, ae_algorithm_2);
  add(all, "ae-algorithm-3", "AE, algorithm 3 (AE-Opt2), values of 8 bytes: compares values after LEST", ae_of_values,
      ae_algorithm_3);
  add(all, "maxp-strict", "AE, section 2 (MAXP): greater than the bytes of both sides", maxp, strict);
  add(all, "maxp-strict-candidates", "the same without limits: every candidate ends a chunk", every_candidate, strict);
  add(all, "maxp-minimum", "AE, section 4.2: MAXP by local minima", maxp,
      [](const maxp_parameters& p) { return local_extremes(p, std::less<>(), false); });
  add(all, "adler-printed", "P-Dedupe, table 4: tests the low bits of (S2 << 16) | S1, which are S1's",
      adler_parameters{.avg_bytes = avg_bytes}, printed_adler);
  add(all, "rabin-xor-steps", "PRUNE, section 4.2: Rabin whose modulo takes 32 steps; ours is `rabin-inck`",
      rabin_inck_parameters{.avg_bytes = avg_bytes}, rabin_by_xor_steps);
  add(all, "ram-greater", "SeqCDC, section II-A: cuts after a byte greater than its window's",
      ram_parameters{.avg_bytes = avg_bytes}, ram_greater);
  add(all, "seqcdc-absorbing", "SeqCDC, the authors' scalar code: an equal pair does not break a run",
      seqcdc_parameters{.avg_bytes = avg_bytes}, seqcdc_absorbing);
  return all;
}

}  // namespace cutpoint::bench
