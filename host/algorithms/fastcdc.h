// The definitions of FastCDC, which are the algorithm `fastcdc` with the profile `fastcdc2020`, and Borg 2's variant
// `borg2-fastcdc`.
#pragma once

#include "host/algorithms/exponents.h"
#include "host/algorithms/gear.h"
#include "host/algorithms/keystream.h"

namespace cutpoint {

/// The crate's masks of 5 to 25 bits, spread over the lower 48 bits of the hash (fastcdc-rs, v2020, MIT licence).
inline constexpr std::array<std::uint64_t, 21> fastcdc_masks = {
    0x1804110,      0x1803110,      0x18035100,     0x1800035300,   0x19000353000,  0x590003530000, 0xd90003530000,
    0xd90103530000, 0xd90303530000, 0xd90313530000, 0xd90f03530000, 0xd90303537000, 0xd90703537000, 0xd90707537000,
    0xd91707537000, 0xd91747537000, 0xd91767537000, 0xd93767537000, 0xd93777537000, 0xd93777577000, 0xdb3777577000};

inline constexpr std::uint64_t least_mask_bits = 5;
inline constexpr std::uint64_t most_mask_bits = least_mask_bits + fastcdc_masks.size() - 1;

inline std::uint64_t fastcdc_mask(std::uint64_t bits) { return fastcdc_masks[bits - least_mask_bits]; }

inline std::uint64_t strict_mask(const fastcdc_parameters& p) {
  return fastcdc_mask(rounded_log2(p.avg_bytes) + p.normalization);
}
inline std::uint64_t loose_mask(const fastcdc_parameters& p) {
  return fastcdc_mask(rounded_log2(p.avg_bytes) - p.normalization);
}
inline gear64_table seeded_table(const fastcdc_parameters& p) {
  gear64_table table = tables::fastcdc2020_gear64;
  for (std::uint64_t& entry : table) entry ^= p.seed;
  return table;
}

/// The candidate map of a hash that is restarted in each chunk: level 0 has the positions that the strict mask accepts,
/// level 1 those that the loose mask accepts.
inline candidate_map_needs restarted_needs(std::uint64_t min_bytes) {
  return {.levels = 2, .behind = gear_hash::window_bytes - 1, .unused = min_bytes};
}

inline void mark_restarted(const gear64_table& table, std::uint64_t strict_mask, std::uint64_t loose_mask,
                           const map_range& range, candidate_bits& map) {
  mark_rolled(gear_hash(table), std::array{masked_test{strict_mask, 0}, masked_test{loose_mask, 0}}, range, map);
}

/// Finds the first byte of a chunk that a mask accepts, where the hash is restarted at byte `min_bytes`. Masked bits do
/// not depend on where the hash began once as many bytes were absorbed as the highest of them has bits below it and
/// itself; from then on, the candidate map has them.
class restarted_walk {
 public:
  restarted_walk(const gear64_table& table, std::uint64_t strict_mask, std::uint64_t loose_mask,
                 std::uint64_t min_bytes)
      : table_(&table),
        strict_mask_(strict_mask),
        loose_mask_(loose_mask),
        min_(min_bytes),
        mapped_(min_bytes + static_cast<std::uint64_t>(std::bit_width(strict_mask | loose_mask)) - 1) {}

  /// Returns the index of the first byte that the strict mask accepts before `strict_end`, or the loose mask before
  /// `end`; `unlimited` if there is none. `position` is that of `b[0]` in the map.
  [[nodiscard]] std::uint64_t find(const std::uint8_t* b, std::uint64_t strict_end, std::uint64_t end,
                                   const candidate_bits& map, std::uint64_t position) const {
    const gear_hash gear(*table_);
    std::uint64_t hash = 0;
    std::uint64_t i = min_;
    for (; i < std::min(mapped_, end); ++i) {
      hash = gear.absorb(hash, b[i]);
      if ((hash & (i < strict_end ? strict_mask_ : loose_mask_)) == 0) return i;
    }
    if (i < strict_end) {
      const std::uint64_t cut = map.next(position + i, position + strict_end, 0) - position;
      if (cut != strict_end) return cut;
      i = strict_end;
    }
    if (i >= end) return unlimited;
    const std::uint64_t cut = map.next(position + i, position + end, 1) - position;
    return cut != end ? cut : unlimited;
  }

 private:
  const gear64_table* table_;
  std::uint64_t strict_mask_;
  std::uint64_t loose_mask_;
  std::uint64_t min_;
  std::uint64_t mapped_;  ///< index of the first byte for which the map is right
};

class fastcdc_reference : public reference_defaults {
 public:
  using parameters = fastcdc_parameters;
  static constexpr std::string_view name = "fastcdc";
  static constexpr candidate_kind candidates = candidate_kind::restarted;

  template <class Self, class Visit>
  static void visit_fields(Self& p, Visit&& visit) {
    visit(p.min_bytes, parameter_info{"min_bytes", value_kind::size, 64, 2 * MiB, "smallest chunk but the last; even"});
    visit(p.avg_bytes, parameter_info{"avg_bytes", value_kind::size, 256, 8 * MiB,
                                      "where the strict mask gives way to the loose one; even"});
    visit(p.max_bytes, parameter_info{"max_bytes", value_kind::size, 0, 64 * MiB,
                                      "largest chunk, at least 1K, even; 0 is no maximum"});
    visit(p.normalization, parameter_info{"normalization", value_kind::count, 0, 3,
                                          "how many bits the masks are stricter and looser than log2(avg_bytes)"});
    visit(p.seed, parameter_info{"seed", value_kind::word, 0, ~std::uint64_t{0}, "xored into the gear table"});
  }
  static parameter_rules rules_of(const parameters&) {
    return joined({rules::even("min_bytes"), rules::even("avg_bytes"), rules::even("max_bytes"),
                   rules::at_least("max_bytes", KiB, 0), rules::has_mask("normalization", most_mask_bits)},
                  order_rules());
  }
  static auto presets() {
    return std::array{
        preset<parameters>{.name = "fastcdc", .source = "FastCDC, normalization 2", .fixed = {"normalization"}},
        preset<parameters>{.name = "fastcdc2020",
                           .kind = entry_kind::profile,
                           .source = "crate fastcdc v2020 (MIT); REAPI, Bazel, snix, BuildBuddy (normalization 2)",
                           .parameters = {.avg_bytes = 16 * KiB, .normalization = 1},
                           .ratios = size_ratios{.min_divisor = 4, .max_factor = 4}}};
  }

  explicit fastcdc_reference(const parameters& p)
      : table_(seeded_table(p)),
        strict_mask_(strict_mask(p)),
        loose_mask_(loose_mask(p)),
        min_(*p.min_bytes),
        avg_(p.avg_bytes),
        max_(limit_of(*p.max_bytes)) {}
  std::uint64_t reach() const { return max_; }
  std::uint64_t behind() const { return 0; }
  std::uint64_t lookahead() const { return 1; }

  /// The crate processes two bytes in each step, so both ranges end at an even offset. The byte that matches is the
  /// first of the next chunk.
  std::uint64_t cut(byte_span bytes, std::uint64_t start) const {
    const std::uint8_t* b = bytes.data() + start;
    const std::uint64_t remaining = bytes.size() - start;
    if (remaining <= min_) return remaining;
    const std::uint64_t end = std::min(remaining, max_);
    const std::uint64_t strict_end = std::min(avg_, end) / 2 * 2;
    const std::uint64_t loose_end = end / 2 * 2;
    const gear_hash gear(table_);
    std::uint64_t hash = 0;
    std::uint64_t i = min_;
    for (; i < strict_end; ++i) {
      hash = gear.absorb(hash, b[i]);
      if ((hash & strict_mask_) == 0) return i;
    }
    for (; i < loose_end; ++i) {
      hash = gear.absorb(hash, b[i]);
      if ((hash & loose_mask_) == 0) return i;
    }
    return end;
  }

  std::optional<candidate_map_needs> candidate_map() const { return restarted_needs(min_); }
  void find_candidates(const map_range& range, candidate_bits& map) const {
    mark_restarted(table_, strict_mask_, loose_mask_, range, map);
  }
  std::uint64_t mapped_cut(byte_span bytes, std::uint64_t start, const candidate_bits& map,
                           std::uint64_t position) const {
    const std::uint64_t end = std::min<std::uint64_t>(max_, bytes.size() - start);
    const restarted_walk walk(table_, strict_mask_, loose_mask_, min_);
    return std::min(walk.find(bytes.data() + start, std::min(avg_, end) / 2 * 2, end / 2 * 2, map, position), end);
  }

 private:
  gear64_table table_;
  std::uint64_t strict_mask_;
  std::uint64_t loose_mask_;
  std::uint64_t min_;
  std::uint64_t avg_;
  std::uint64_t max_;
};

inline std::uint64_t strict_mask(const borg2_fastcdc_parameters& p) {
  return top_mask(static_cast<int>(p.mask_bits + p.normalization));
}
inline std::uint64_t loose_mask(const borg2_fastcdc_parameters& p) {
  return top_mask(static_cast<int>(p.mask_bits - p.normalization));
}
/// Returns the number of bytes of a chunk to which the strict mask applies.
inline std::uint64_t strict_end(const borg2_fastcdc_parameters& p) {
  return (std::uint64_t{1} << p.mask_bits) - (std::uint64_t{1} << (p.mask_bits - p.normalization));
}
inline gear64_table keyed_table(const borg2_fastcdc_parameters& p) {
  gear64_table table = {};
  const std::vector<std::uint8_t> stream = aes256_ctr_keystream(p.key, 8 * table.size());
  for (std::size_t i = 0; i < stream.size(); ++i) {
    table[i / 8] |= std::uint64_t{stream[i]} << (8 * (i % 8));  // little-endian words
  }
  return table;
}

class borg2_fastcdc_reference : public reference_defaults {
 public:
  using parameters = borg2_fastcdc_parameters;
  static constexpr std::string_view name = "borg2-fastcdc";
  static constexpr candidate_kind candidates = candidate_kind::restarted;

  template <class Self, class Visit>
  static void visit_fields(Self& p, Visit&& visit) {
    visit_exponents(p, visit);
    visit(p.normalization, parameter_info{"normalization", value_kind::count, 0, 16,
                                          "how many bits the masks are stricter and looser than mask_bits"});
    visit(p.key, parameter_info{.name = "key",
                                .kind = value_kind::key,
                                .meaning = "AES-256 key of the gear table: SHA-256(id_key || \"fastcdc\")"});
  }
  static parameter_rules rules_of(const parameters&) {
    return joined({rules::less_than("normalization", "mask_bits")}, exponent_rules());
  }
  static status check(const parameters& p) {
    if (!aes256_ctr_keystream(p.key, 1).empty()) return {};
    return {status_code::backend_failure, "OpenSSL has no AES-256-CTR, which draws the gear table of borg2-fastcdc"};
  }
  static auto presets() {
    return std::array{preset<parameters>{
        .name = "borg2-fastcdc", .kind = entry_kind::profile, .source = "Borg 2 (BSD-3-Clause), its default chunker"}};
  }

  explicit borg2_fastcdc_reference(const parameters& p)
      : table_(keyed_table(p)),
        strict_mask_(strict_mask(p)),
        loose_mask_(loose_mask(p)),
        min_(std::uint64_t{1} << p.min_exp),
        strict_end_(strict_end(p)),
        max_(std::uint64_t{1} << p.max_exp) {}
  std::uint64_t reach() const { return max_; }
  std::uint64_t behind() const { return 0; }
  std::uint64_t cut(byte_span bytes, std::uint64_t start) const {
    const std::uint8_t* b = bytes.data() + start;
    const std::uint64_t remaining = bytes.size() - start;
    if (remaining <= min_) return remaining;
    const std::uint64_t end = std::min(remaining, max_);
    const gear_hash gear(table_);
    std::uint64_t hash = 0;
    for (std::uint64_t i = min_; i < end; ++i) {
      hash = gear.absorb(hash, b[i]);
      if ((hash & (i < strict_end_ ? strict_mask_ : loose_mask_)) == 0) return i + 1;
    }
    return end;
  }

  std::optional<candidate_map_needs> candidate_map() const { return restarted_needs(min_); }
  void find_candidates(const map_range& range, candidate_bits& map) const {
    mark_restarted(table_, strict_mask_, loose_mask_, range, map);
  }
  std::uint64_t mapped_cut(byte_span bytes, std::uint64_t start, const candidate_bits& map,
                           std::uint64_t position) const {
    const std::uint64_t end = std::min<std::uint64_t>(max_, bytes.size() - start);
    const restarted_walk walk(table_, strict_mask_, loose_mask_, min_);
    const std::uint64_t cut = walk.find(bytes.data() + start, std::min(strict_end_, end), end, map, position);
    return cut < end ? cut + 1 : end;
  }

 private:
  gear64_table table_;
  std::uint64_t strict_mask_;
  std::uint64_t loose_mask_;
  std::uint64_t min_;
  std::uint64_t strict_end_;
  std::uint64_t max_;
};

template <>
struct reference_of<fastcdc_parameters> {
  using type = fastcdc_reference;
};

template <>
struct reference_of<borg2_fastcdc_parameters> {
  using type = borg2_fastcdc_reference;
};

}  // namespace cutpoint
