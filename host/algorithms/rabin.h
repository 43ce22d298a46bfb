// The definitions of the Rabin hash and of the algorithms `rabin`, with the profile `restic`, and `tttd`.
#pragma once

#include "host/algorithms/gf2.h"
#include "host/algorithms/rolling.h"

namespace cutpoint {

constexpr std::array<std::string_view, 2> choice_names(rabin_test) { return {"pattern", "zeros"}; }

/// The residue of a window modulo a polynomial of degree 53. The window is a polynomial over GF(2) whose first byte is
/// the most significant.
class rabin_hash {
 public:
  rabin_hash(std::uint64_t polynomial, std::uint64_t window) : window_(window) {
    for (std::uint64_t byte = 0; byte < 256; ++byte) {
      std::uint64_t shifted = byte;  // byte * x^53, which a byte that is shifted out of the residue stands for
      for (int i = 0; i < gf2::rabin_degree; ++i) shifted = gf2::times_x(shifted, polynomial);
      reduce_[byte] = shifted ^ (byte << gf2::rabin_degree);
      std::uint64_t removed = byte;  // byte * x^(8 window), the contribution of a byte that leaves the window
      for (std::uint64_t i = 0; i < 8 * window; ++i) removed = gf2::times_x(removed, polynomial);
      remove_[byte] = removed;
    }
  }
  std::uint64_t window() const { return window_; }
  static std::uint64_t word(std::uint64_t hash) { return hash; }
  std::uint64_t absorb(std::uint64_t hash, std::uint8_t byte) const {
    return ((hash << 8) | byte) ^ reduce_[hash >> (gf2::rabin_degree - 8)];
  }
  std::uint64_t roll(std::uint64_t hash, std::uint8_t outgoing, std::uint8_t incoming) const {
    return absorb(hash, incoming) ^ removal_of(outgoing);
  }
  /// Returns the word that removes a byte when it leaves the window.
  std::uint64_t removal_of(std::uint8_t outgoing) const { return remove_[outgoing]; }
  /// Returns the word that reduces a residue whose highest byte is shifted out of its 53 bits.
  std::uint64_t reduction_of(std::uint8_t highest) const { return reduce_[highest]; }
  std::uint64_t over(const std::uint8_t* bytes) const {
    std::uint64_t hash = 0;
    for (std::uint64_t i = 0; i < window_; ++i) hash = absorb(hash, bytes[i]);
    return hash;
  }

 private:
  std::array<std::uint64_t, 256> reduce_;
  std::array<std::uint64_t, 256> remove_;
  std::uint64_t window_;
};

template <class Self, class Visit>
void visit_polynomial(Self& p, Visit&& visit) {
  visit(p.polynomial,
        parameter_info{"poly", value_kind::word, std::uint64_t{1} << gf2::rabin_degree,
                       (std::uint64_t{2} << gf2::rabin_degree) - 1, "modulus of degree 53, bit k for x^k"});
}

[[nodiscard]] inline parameter_rules rabin_rules() { return joined({rules::irreducible("poly")}, rolling_rules()); }

inline masked_test test_of(const rabin_parameters& p) {
  return masked_test::low(p.avg_bytes, p.test == rabin_test::pattern ? lbfs_pattern : 0);
}

class rabin_reference : public windowed_reference<rabin_hash, masked_test> {
 public:
  using parameters = rabin_parameters;
  static constexpr std::string_view name = "rabin";

  template <class Self, class Visit>
  static void visit_fields(Self& p, Visit&& visit) {
    visit_sizes(p, visit);
    visit_window(p, visit);
    visit_polynomial(p, visit);
    visit(p.test,
          parameter_info{.name = "test", .kind = value_kind::choice, .meaning = "which residues are cut-points"});
  }
  static parameter_rules rules_of(const parameters&) { return rabin_rules(); }
  static auto presets() {
    return std::array{
        preset<parameters>{.name = "rabin", .source = "LBFS; P-Dedupe eq. 1-2", .fixed = {"test"}},
        preset<parameters>{.name = "restic",
                           .kind = entry_kind::profile,
                           .source = "restic/chunker (BSD-2-Clause); rustic",
                           .parameters = {.avg_bytes = 1 * MiB, .window_bytes = 64, .test = rabin_test::zeros},
                           .ratios = size_ratios{.min_divisor = 2, .max_factor = 8},
                           .fixed = {"window", "test"}}};
  }

  explicit rabin_reference(const parameters& p)
      : windowed_reference(rabin_hash(p.polynomial, p.window_bytes), test_of(p), *p.min_bytes, *p.max_bytes) {}
};

inline masked_test main_test(const tttd_parameters& p) { return masked_test::low(p.avg_bytes, lbfs_pattern); }
inline masked_test backup_test(const tttd_parameters& p) { return masked_test::low(p.avg_bytes / 2, lbfs_pattern); }

class tttd_reference : public reference_defaults {
 public:
  using parameters = tttd_parameters;
  static constexpr std::string_view name = "tttd";
  static constexpr candidate_kind candidates = candidate_kind::windowed;

  template <class Self, class Visit>
  static void visit_fields(Self& p, Visit&& visit) {
    visit_sizes(p, visit);
    visit_window(p, visit);
    visit_polynomial(p, visit);
  }
  /// The backup divisor is half of the average.
  static parameter_rules rules_of(const parameters&) {
    return joined({rules::at_least("avg_bytes", 2)}, rabin_rules());
  }
  static auto presets() {
    return std::array{preset<parameters>{.name = "tttd", .source = "HP TTTD; AppDedupe section 2.3"}};
  }

  explicit tttd_reference(const parameters& p)
      : hash_(p.polynomial, p.window_bytes),
        is_main_(main_test(p)),
        is_backup_(backup_test(p)),
        min_(*p.min_bytes),
        max_(limit_of(*p.max_bytes)) {}
  std::uint64_t reach() const { return max_; }
  std::uint64_t behind() const { return 0; }
  /// A backup cut is known only if no main candidate comes before the maximum.
  bool is_decided_by_lookahead() const { return max_ == unlimited; }
  std::uint64_t cut(byte_span bytes, std::uint64_t start) const {
    const std::uint64_t end = std::min<std::uint64_t>(max_, bytes.size() - start);
    bool is_main_cut = false;
    std::uint64_t backup = 0;
    const std::uint64_t length =
        roll_until(hash_, bytes.data() + start, min_, end, [&](std::uint64_t hash, std::uint64_t cut_length) {
          if (is_backup_(hash)) backup = cut_length;
          return is_main_cut = is_main_(hash);
        });
    return !is_main_cut && length == max_ && backup != 0 ? backup : length;
  }

  std::optional<candidate_map_needs> candidate_map() const { return rolled_needs(hash_, min_ - 1, 2); }
  /// Level 0 has the candidates for the divisor, level 1 those for half of it.
  void find_candidates(const map_range& range, candidate_bits& map) const {
    mark_rolled(hash_, std::array{is_main_, is_backup_}, range, map);
  }
  std::uint64_t mapped_cut(byte_span bytes, std::uint64_t start, const candidate_bits& map,
                           std::uint64_t position) const {
    const std::uint64_t end = std::min<std::uint64_t>(max_, bytes.size() - start);
    if (end < min_) return end;
    const std::uint64_t first = position + min_ - 1;
    const std::uint64_t last = position + end;
    if (const std::uint64_t main = map.next(first, last, 0); main != last) return main - position + 1;
    if (end == max_) return map.previous(first, last, 1).value_or(last - 1) - position + 1;
    return end;
  }

 private:
  rabin_hash hash_;
  masked_test is_main_;
  masked_test is_backup_;
  std::uint64_t min_;
  std::uint64_t max_;
};

rabin_reference reference_for(const rabin_parameters&);
tttd_reference reference_for(const tttd_parameters&);

}  // namespace cutpoint
