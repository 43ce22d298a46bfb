// The definition of buzhash and of the algorithm `buzhash`, with the profiles casync, desync-legacy, pbs, kopia-buzhash
// and ipfs-buzhash.
#pragma once

#include "host/algorithms/rolling.h"
#include "host/tables/casync_buzhash32.h"
#include "host/tables/ipfs_buzhash32.h"
#include "host/tables/kopia_buzhash32.h"

namespace cutpoint {

using buzhash32_table = std::array<std::uint32_t, 256>;

constexpr std::array<std::string_view, 3> choice_names(buzhash_table) { return {"casync", "kopia", "ipfs"}; }
constexpr std::array<std::string_view, 5> choice_names(buzhash_test) {
  return {"ones", "zeros", "casync", "desync-legacy", "pbs"};
}

inline const buzhash32_table& table_of(buzhash_table table) {
  switch (table) {
    case buzhash_table::kopia:
      return tables::kopia_buzhash32;
    case buzhash_table::ipfs:
      return tables::ipfs_buzhash32;
    case buzhash_table::casync:
      break;
  }
  return tables::casync_buzhash32;
}

/// Each byte's word is rotated left once for every byte of the window that follows it, and these words are xored.
class buzhash {
 public:
  buzhash(const buzhash32_table& table, std::uint64_t window) : table_(table), window_(window) {
    for (std::size_t byte = 0; byte < 256; ++byte)
      remove_[byte] = std::rotl(table[byte], static_cast<int>(window % 32));
  }
  std::uint64_t window() const { return window_; }
  static std::uint64_t word(std::uint32_t hash) { return hash; }
  std::uint32_t absorb(std::uint32_t hash, std::uint8_t incoming) const {
    return std::rotl(hash, 1) ^ table_[incoming];
  }
  std::uint32_t roll(std::uint32_t hash, std::uint8_t outgoing, std::uint8_t incoming) const {
    return std::rotl(hash, 1) ^ (removal_of(outgoing) ^ table_[incoming]);  // the hash is needed last
  }
  /// Returns the word that removes a byte when it leaves the window.
  std::uint32_t removal_of(std::uint8_t outgoing) const { return remove_[outgoing]; }
  std::uint32_t over(const std::uint8_t* bytes) const {
    std::uint32_t hash = 0;
    for (std::uint64_t i = 0; i < window_; ++i) hash = absorb(hash, bytes[i]);
    return hash;
  }

 private:
  buzhash32_table table_;
  buzhash32_table remove_;
  std::uint64_t window_;
};

/// Returns casync's divisor: `trunc(avg / (1.33237515 - 1.42888852e-7 avg))`, which is negative from 9,324,557 bytes on.
/// casync clamps it to the minimum and the maximum, as a number without a sign: a negative divisor becomes the maximum,
/// or, without a maximum that fits, the largest word. desync keeps its low 32 bits, which are not 0 for any average that
/// is allowed.
inline std::uint64_t casync_divisor(const buzhash_parameters& p) {
  const auto avg = static_cast<double>(p.avg_bytes);
  const auto quotient = static_cast<std::int64_t>(avg / (-1.42888852e-7 * avg + 1.33237515));
  if (p.test == buzhash_test::desync_legacy) return static_cast<std::uint32_t>(quotient);
  constexpr std::uint64_t largest = std::numeric_limits<std::uint32_t>::max();
  return std::clamp(static_cast<std::uint64_t>(quotient), *p.min_bytes, std::min(limit_of(*p.max_bytes), largest));
}

/// The tests of all profiles in one form: the residue must lie between two bounds.
struct buzhash_rule {
  std::uint32_t mask = 0;     ///< for a residue modulo a power of two
  std::uint32_t divisor = 0;  ///< for a residue modulo any number, if not 0
  std::uint32_t lowest = 0;
  std::uint32_t highest = 0;

  /// Returns the mean distance between accepted positions in random bytes.
  double mean_distance() const { return (divisor != 0 ? divisor : mask + 1.0) / (highest - lowest + 1.0); }
  bool operator()(std::uint64_t hash) const {
    const auto word = static_cast<std::uint32_t>(hash);
    const std::uint32_t residue = divisor != 0 ? word % divisor : word & mask;
    return residue >= lowest && residue <= highest;
  }
};

inline bool is_casync(buzhash_test test) { return test == buzhash_test::casync || test == buzhash_test::desync_legacy; }

inline buzhash_rule rule_of(const buzhash_parameters& p) {
  if (is_casync(p.test)) {
    const auto divisor = static_cast<std::uint32_t>(casync_divisor(p));
    return {.divisor = divisor, .lowest = divisor - 1, .highest = divisor - 1};
  }
  if (p.test == buzhash_test::pbs) {
    const auto mask = static_cast<std::uint32_t>(low_mask(2 * p.avg_bytes));
    return {.mask = mask, .lowest = mask - 2, .highest = mask};
  }
  const auto mask = static_cast<std::uint32_t>(low_mask(p.avg_bytes));
  const std::uint32_t residue = p.test == buzhash_test::ones ? mask : 0;
  return {.mask = mask, .lowest = residue, .highest = residue};
}

/// Returns the shortest length of a chunk that is tested.
inline std::uint64_t shortest_tested(const buzhash_parameters& p) {
  return *p.min_bytes + (p.test == buzhash_test::desync_legacy ? 1 : 0);
}

class buzhash_reference : public windowed_reference<buzhash, buzhash_rule> {
 public:
  using parameters = buzhash_parameters;
  static constexpr std::string_view name = "buzhash";
  static constexpr std::uint64_t largest_casync_average = 128 * MiB;  ///< casync's own limit

  template <class Self, class Visit>
  static void visit_fields(Self& p, Visit&& visit) {
    visit_sizes(p, visit);
    visit_window(p, visit);
    visit(p.table, parameter_info{.name = "table", .kind = value_kind::choice, .meaning = "the word of each byte"});
    visit(p.test, parameter_info{.name = "test", .kind = value_kind::choice, .meaning = "which hashes are cut-points"});
  }
  static parameter_rules rules_of(const parameters& p) {
    const parameter_rule two = rules::at_least("avg_bytes", 2);
    if (p.test == buzhash_test::pbs) return joined({two}, rolling_rules());  // it accepts three residues
    if (!is_casync(p.test)) return rolling_rules();
    return joined({two, rules::at_most("avg_bytes", largest_casync_average)}, joined(order_rules(), window_rules()));
  }
  static auto presets() {
    constexpr size_ratios quarter_to_four = {.min_divisor = 4, .max_factor = 4};
    return std::array{
        preset<parameters>{.name = "buzhash", .source = "casync's family of rolling hashes", .fixed = {"test"}},
        preset<parameters>{.name = "kopia-buzhash",
                           .kind = entry_kind::profile,
                           .source = "kopia DYNAMIC-4M-BUZHASH (Apache-2.0); also 1M, 2M and 8M",
                           .parameters = {.avg_bytes = 4 * MiB,
                                          .window_bytes = 64,
                                          .table = buzhash_table::kopia,
                                          .test = buzhash_test::zeros},
                           .ratios = size_ratios{.min_divisor = 2, .max_factor = 2},
                           .fixed = {"window", "table", "test"}},
        preset<parameters>{.name = "casync",
                           .kind = entry_kind::profile,
                           .source = "casync (LGPL-2.1+; table as in desync, BSD-3-Clause); SteamOS, RAUC",
                           .parameters = {.avg_bytes = 64 * KiB, .test = buzhash_test::casync},
                           .ratios = quarter_to_four,
                           .fixed = {"window", "table", "test"}},
        preset<parameters>{.name = "desync-legacy",
                           .kind = entry_kind::profile,
                           .source = "desync up to v1.0.4 (BSD-3-Clause)",
                           .parameters = {.avg_bytes = 64 * KiB, .test = buzhash_test::desync_legacy},
                           .ratios = quarter_to_four,
                           .fixed = {"window", "table", "test"}},
        preset<parameters>{.name = "pbs",
                           .kind = entry_kind::profile,
                           .source = "Proxmox Backup Server (read, not run)",
                           .parameters = {.avg_bytes = 4 * MiB, .window_bytes = 64, .test = buzhash_test::pbs},
                           .ratios = quarter_to_four,
                           .fixed = {"window", "table", "test"}},
        preset<parameters>{.name = "ipfs-buzhash",
                           .kind = entry_kind::profile,
                           .source = "IPFS boxo (MIT or Apache-2.0)",
                           .parameters = {.avg_bytes = 128 * KiB,
                                          .min_bytes = 128 * KiB,
                                          .max_bytes = 512 * KiB,
                                          .window_bytes = 32,
                                          .table = buzhash_table::ipfs,
                                          .test = buzhash_test::zeros},
                           .fixed = {"min_bytes", "avg_bytes", "max_bytes", "window", "table", "test"}}};
  }

  explicit buzhash_reference(const parameters& p)
      : windowed_reference(buzhash(table_of(p.table), p.window_bytes), rule_of(p), shortest_tested(p), *p.max_bytes) {}
};

buzhash_reference reference_for(const buzhash_parameters&);

}  // namespace cutpoint
