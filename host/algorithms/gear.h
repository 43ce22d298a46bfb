// The definition of the gear hash and of the algorithm `gear`, with the profile `xet`.
#pragma once

#include "host/algorithms/rolling.h"
#include "host/tables/fastcdc2020_gear64.h"
#include "host/tables/xet_gear64.h"

namespace cutpoint {

using gear64_table = std::array<std::uint64_t, 256>;

constexpr std::array<std::string_view, 2> choice_names(gear_table) { return {"fastcdc2020", "xet"}; }

inline const gear64_table& table_of(gear_table table) {
  return table == gear_table::xet ? tables::xet_gear64 : tables::fastcdc2020_gear64;
}

/// The hash `h = 2h + G[b]`. A byte has no effect on its 64 bits after 64 more bytes.
class gear_hash {
 public:
  static constexpr std::uint64_t window_bytes = 64;
  static constexpr bool forgets = true;  ///< `roll` ignores the outgoing byte

  explicit gear_hash(const gear64_table& table) : table_(&table) {}
  static constexpr std::uint64_t window() { return window_bytes; }
  static std::uint64_t word(std::uint64_t hash) { return hash; }
  std::uint64_t absorb(std::uint64_t hash, std::uint8_t byte) const { return 2 * hash + (*table_)[byte]; }
  std::uint64_t roll(std::uint64_t hash, std::uint8_t, std::uint8_t incoming) const { return absorb(hash, incoming); }
  std::uint64_t over(const std::uint8_t* bytes) const {
    std::uint64_t hash = 0;
    for (std::uint64_t i = 0; i < window_bytes; ++i) hash = absorb(hash, bytes[i]);
    return hash;
  }

 private:
  const gear64_table* table_;
};

class gear_reference : public windowed_reference<gear_hash, masked_test> {
 public:
  using parameters = gear_parameters;
  static constexpr std::string_view name = "gear";

  template <class Self, class Visit>
  static void visit_fields(Self& p, Visit&& visit) {
    visit_sizes(p, visit, gear_hash::window_bytes);
    visit(p.table,
          parameter_info{.name = "table", .kind = value_kind::choice, .meaning = "what a byte adds to the hash"});
  }
  static parameter_rules rules_of(const parameters&) { return joined(divisor_rules(), mask_rules()); }
  static auto presets() {
    return std::array{preset<parameters>{.name = "gear", .source = "Ddelta; P-Dedupe table 4"},
                      preset<parameters>{.name = "xet",
                                         .kind = entry_kind::profile,
                                         .source = "Hugging Face xet-core, crate gearhash (MIT or Apache-2.0)",
                                         .parameters = {.avg_bytes = 64 * KiB,
                                                        .min_bytes = 8 * KiB,
                                                        .max_bytes = 128 * KiB,
                                                        .table = gear_table::xet},
                                         .fixed = {"min_bytes", "avg_bytes", "max_bytes", "table"}}};
  }

  explicit gear_reference(const parameters& p)
      : windowed_reference(gear_hash(table_of(p.table)), {top_mask(log2_of(p.avg_bytes)), 0}, *p.min_bytes,
                           *p.max_bytes) {}
};

gear_reference reference_for(const gear_parameters&);

}  // namespace cutpoint
