// The definitions of FastCDC, which are the algorithm `fastcdc` with the profile `fastcdc2020`, and Borg 2's variant
// `borg2-fastcdc`.
#pragma once

#include "host/algorithms/gear.h"
#include "host/algorithms/normalized_rule.h"
#include "host/algorithms/reference.h"
#include "host/algorithms/secrets.h"

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

/// Cuts by a hash that restarts at byte `min_bytes` of each chunk. `absorb(hash, byte)` returns the next hash; the first one is 0.
template <class Hash, class Absorb>
std::uint64_t restarted_cut(const normalized_rule& rule, byte_span bytes, std::uint64_t start, Absorb absorb) {
  const std::uint8_t* b = bytes.data() + start;
  const std::uint64_t end = std::min<std::uint64_t>(rule.max_bytes, bytes.size() - start);
  const std::uint64_t strict_end = rule.strict_range_end(end);
  const std::uint64_t loose_end = rule.loose_range_end(end);
  Hash hash = 0;
  std::uint64_t i = rule.min_bytes;
  for (; i < strict_end; ++i) {
    hash = absorb(hash, b[i]);
    if ((hash & rule.strict_mask) == 0) return i + rule.match_bytes;
  }
  for (; i < loose_end; ++i) {
    hash = absorb(hash, b[i]);
    if ((hash & rule.loose_mask) == 0) return i + rule.match_bytes;
  }
  return end;
}

/// The base of the references that restart a gear hash. Level 0 of the candidate map has the positions that the strict
/// mask accepts, level 1 those that the loose mask accepts. Masked bits do not depend on where the hash began once as many
/// bytes were absorbed as the highest of them has bits below it and itself; from then on the map has them.
class restarted_reference : public reference_defaults {
 public:
  static constexpr candidate_kind candidates = candidate_kind::restarted;

  std::uint64_t reach() const { return rule_.max_bytes; }
  std::uint64_t behind() const { return 0; }
  std::uint64_t cut(byte_span bytes, std::uint64_t start) const {
    return restarted_cut<std::uint64_t>(
        rule_, bytes, start, [gear = gear_hash(table_)](auto hash, auto byte) { return gear.absorb(hash, byte); });
  }

  std::optional<candidate_map_needs> candidate_map() const {
    return candidate_map_needs{.levels = 2, .behind = gear_hash::window_bytes - 1, .unused = rule_.min_bytes};
  }
  void find_candidates(const map_range& range, candidate_bits& map) const {
    mark_rolled(gear_hash(table_), std::array{masked_test{rule_.strict_mask, 0}, masked_test{rule_.loose_mask, 0}},
                range, map);
  }
  std::uint64_t mapped_cut(byte_span bytes, std::uint64_t start, const candidate_bits& map,
                           std::uint64_t position) const {
    const std::uint64_t end = std::min<std::uint64_t>(rule_.max_bytes, bytes.size() - start);
    return rule_.length_for(first_accepted(bytes.data() + start, end, map, position), end);
  }

 protected:
  restarted_reference(const gear64_table& table, const normalized_rule& rule) : table_(table), rule_(rule) {}

 private:
  /// Returns the first accepted byte of a chunk of at most `end` bytes, or `unlimited`. `position` is that of `b[0]` in the
  /// map.
  std::uint64_t first_accepted(const std::uint8_t* b, std::uint64_t end, const candidate_bits& map,
                               std::uint64_t position) const {
    const auto mask_bits = static_cast<std::uint64_t>(std::bit_width(rule_.strict_mask | rule_.loose_mask));
    const std::uint64_t mapped = std::min(rule_.min_bytes + mask_bits - 1, rule_.loose_range_end(end));
    const gear_hash gear(table_);
    std::uint64_t hash = 0;
    std::uint64_t i = rule_.min_bytes;
    for (; i < mapped; ++i) {
      hash = gear.absorb(hash, b[i]);
      if ((hash & rule_.mask_at(i)) == 0) return i;
    }
    return rule_.mapped_match(i, end, map, position);
  }

  gear64_table table_;
  normalized_rule rule_;
};

/// The crate processes two bytes in each step, so the ranges of both masks end at an even offset. The byte that matches is
/// the first of the next chunk.
inline normalized_rule rule_of(const fastcdc_parameters& p) {
  return {.strict_mask = strict_mask(p),
          .loose_mask = loose_mask(p),
          .min_bytes = *p.min_bytes,
          .strict_end = p.avg_bytes,
          .max_bytes = limit_of(*p.max_bytes),
          .end_mask = ~std::uint64_t{1},
          .match_bytes = 0};
}

class fastcdc_reference : public restarted_reference {
 public:
  using parameters = fastcdc_parameters;
  static constexpr std::string_view name = "fastcdc";

  template <class Self, class Visit>
  static void visit_fields(Self& p, Visit&& visit) {
    visit(p.min_bytes, parameter_info{"min_bytes", value_kind::size, 64, 2 * MiB, "smallest chunk but the last"});
    visit(p.avg_bytes, parameter_info{"avg_bytes", value_kind::size, 256, 8 * MiB,
                                      "where the strict mask gives way to the loose one"});
    visit(p.max_bytes, parameter_info{"max_bytes", value_kind::size, 0, 64 * MiB, "largest chunk; 0 is no maximum"});
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

  explicit fastcdc_reference(const parameters& p) : restarted_reference(seeded_table(p), rule_of(p)) {}
  std::uint64_t lookahead() const { return 1; }
};

inline std::uint64_t strict_mask(const borg2_fastcdc_parameters& p) {
  return top_mask(static_cast<int>(p.mask_bits + p.normalization));
}
inline std::uint64_t loose_mask(const borg2_fastcdc_parameters& p) {
  return top_mask(static_cast<int>(p.mask_bits - p.normalization));
}
inline normalized_rule rule_of(const borg2_fastcdc_parameters& p) {
  return {.strict_mask = strict_mask(p),
          .loose_mask = loose_mask(p),
          .min_bytes = std::uint64_t{1} << p.min_exp,
          .strict_end = (std::uint64_t{1} << p.mask_bits) - (std::uint64_t{1} << (p.mask_bits - p.normalization)),
          .max_bytes = std::uint64_t{1} << p.max_exp};
}
inline gear64_table keyed_table(const borg2_fastcdc_parameters& p) {
  gear64_table table = {};
  std::array<std::uint8_t, sizeof table> stream = {};
  if (!fill_aes256_ctr_keystream(p.key, stream)) return table;  // the parameters were checked
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = keystream_word(stream, sizeof table[i] * i);
  return table;
}

class borg2_fastcdc_reference : public restarted_reference {
 public:
  using parameters = borg2_fastcdc_parameters;
  static constexpr std::string_view name = "borg2-fastcdc";

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
    std::array<std::uint8_t, 1> byte = {};
    if (fill_aes256_ctr_keystream(p.key, byte)) return {};
    return {status_code::unavailable, "OpenSSL has no AES-256-CTR, which draws the gear table of borg2-fastcdc"};
  }
  static auto presets() {
    return std::array{preset<parameters>{
        .name = "borg2-fastcdc", .kind = entry_kind::profile, .source = "Borg 2 (BSD-3-Clause), its default chunker"}};
  }

  explicit borg2_fastcdc_reference(const parameters& p) : restarted_reference(keyed_table(p), rule_of(p)) {}
};

fastcdc_reference reference_for(const fastcdc_parameters&);
borg2_fastcdc_reference reference_for(const borg2_fastcdc_parameters&);

}  // namespace cutpoint
