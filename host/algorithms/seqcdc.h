// The definition of SeqCDC, `seqcdc-inc` and `seqcdc-dec`.
#pragma once

#include <vector>

#include "host/algorithms/reference.h"

namespace cutpoint {

constexpr std::array<std::string_view, 2> choice_names(seqcdc_order) { return {"increasing", "decreasing"}; }

/// Parameters for an average size. They were measured, from 32 KiB on with `cutpoint tune` (docs/tune.md); SeqCDC's
/// table II has only 16 KiB.
struct seqcdc_set {
  std::uint64_t avg_bytes;
  std::uint64_t min_bytes;
  std::uint64_t seq_length;
  std::uint64_t skip_trigger;
  std::uint64_t skip_size;
};
inline constexpr std::array<seqcdc_set, 5> seqcdc_sets = {{
    {4 * KiB, 1 * KiB, 5, 50, 256},
    {8 * KiB, 4 * KiB, 5, 45, 320},
    {16 * KiB, 8 * KiB, 5, 40, 640},
    {32 * KiB, 16 * KiB, 6, 40, 128},
    {64 * KiB, 32 * KiB, 6, 40, 384},
}};

class seqcdc_reference : public reference_defaults {
 public:
  using parameters = seqcdc_parameters;
  static constexpr std::string_view name = "seqcdc";
  static constexpr candidate_kind candidates = candidate_kind::walking;
  static constexpr size_ratios ratios = {.min_divisor = 0, .max_factor = 2};

  template <class Self, class Visit>
  static void visit_fields(Self& p, Visit&& visit) {
    visit_sizes(p, visit, 1, "avg_bytes / 2; 1K when avg_bytes is 4K");
    visit(p.seq_length, parameter_info{"seq_length", value_kind::count, 1, 255, "steps in order that make a cut",
                                       "5; 6 from avg_bytes = 32K on"});
    visit(p.skip_trigger, parameter_info{"skip_trigger", value_kind::count, 0, largest_average,
                                         "steps against the order that make a skip; 0 never skips",
                                         "50; 45 from avg_bytes = 8K on; 40 from 16K on"});
    visit(p.skip_size,
          parameter_info{"skip_size", value_kind::size, 0, largest_average, "bytes passed over by a skip",
                         "256; 320 from avg_bytes = 8K on; 640 from 16K on; 128 from 32K on; 384 from 64K on"});
    visit(p.order,
          parameter_info{.name = "order", .kind = value_kind::choice, .meaning = "which sequences end a chunk"});
  }
  static void fill(parameters& p) {
    const seqcdc_set* set = &seqcdc_sets.front();
    for (const seqcdc_set& candidate : seqcdc_sets) {
      if (candidate.avg_bytes <= p.avg_bytes) set = &candidate;
    }
    if (!p.min_bytes) p.min_bytes = set->avg_bytes == p.avg_bytes ? set->min_bytes : p.avg_bytes / 2;
    if (!p.seq_length) p.seq_length = set->seq_length;
    if (!p.skip_trigger) p.skip_trigger = set->skip_trigger;
    if (!p.skip_size) p.skip_size = set->skip_size;
  }
  static parameter_rules rules_of(const parameters&) {
    return joined({rules::more_than("min_bytes", "seq_length")}, order_rules());
  }
  static std::vector<std::uint64_t> sized_sets() {
    std::vector<std::uint64_t> sizes;
    for (const seqcdc_set& set : seqcdc_sets) sizes.push_back(set.avg_bytes);
    return sizes;
  }
  static auto presets() {
    constexpr std::string_view source = "SeqCDC section III; parameters of table II and measured";
    return std::array{preset<parameters>{.name = "seqcdc-inc", .source = source, .fixed = {"order"}},
                      preset<parameters>{.name = "seqcdc-dec",
                                         .source = source,
                                         .parameters = {.order = seqcdc_order::decreasing},
                                         .fixed = {"order"}}};
  }

  explicit seqcdc_reference(const parameters& p)
      : min_(*p.min_bytes),
        max_(limit_of(*p.max_bytes)),
        seq_length_(*p.seq_length),
        skip_trigger_(*p.skip_trigger == 0 ? unlimited : *p.skip_trigger),
        skip_size_(*p.skip_size),
        order_(p.order) {}
  std::uint64_t reach() const { return max_; }
  std::uint64_t behind() const { return 0; }
  std::uint64_t cut(byte_span bytes, std::uint64_t start) const {
    const byte_span rest = bytes.subspan(start);
    return order_ == seqcdc_order::increasing ? cut_by(rest, std::greater<>()) : cut_by(rest, std::less<>());
  }

 private:
  template <class InOrder>
  std::uint64_t cut_by(byte_span rest, InOrder in_order) const {
    const std::uint8_t* b = rest.data();
    const std::uint64_t end = std::min<std::uint64_t>(max_, rest.size());
    std::uint64_t run = 0;
    std::uint64_t opposing = 0;
    for (std::uint64_t i = min_ - seq_length_; i < end; ++i) {
      // Counted without branches: no processor predicts how two random bytes compare.
      run = in_order(b[i], b[i - 1]) ? run + 1 : 0;
      opposing += static_cast<std::uint64_t>(in_order(b[i - 1], b[i]));
      if (run == seq_length_) return i + 1;
      if (opposing == skip_trigger_) {
        opposing = 0;
        i += skip_size_;
      }
    }
    return end;
  }

  std::uint64_t min_;
  std::uint64_t max_;
  std::uint64_t seq_length_;
  std::uint64_t skip_trigger_;
  std::uint64_t skip_size_;
  seqcdc_order order_;
};

seqcdc_reference reference_for(const seqcdc_parameters&);

}  // namespace cutpoint
