// Writes the report in Markdown and as JSON.
#include "bench/device/report.h"

#include <algorithm>
#include <set>

#include <cutpoint/text.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cutpoint::bench {

namespace {

std::string gigabytes(double bytes_per_second) { return fmt::format("{:.1f}", bytes_per_second / 1e9); }

std::string share(double portion, double whole) {
  return whole > 0 ? fmt::format("{:.0f} %", 100 * portion / whole) : std::string("-");
}

/// A target and the share of it that was reached, for example "1500.0 (87 %)".
std::string held_against(double reached, std::optional<double> target) {
  return target ? fmt::format("{} ({})", gigabytes(*target), share(reached, *target)) : std::string("-");
}

std::string batch_label(std::uint64_t bytes) { return bytes == largest_batch ? "4G-64" : format_size(bytes); }

/// A table in Markdown.
class table {
 public:
  explicit table(const std::vector<std::string>& heads) {
    add(heads);
    text_ += '|';
    for (std::size_t i = 0; i < heads.size(); ++i) text_ += i == 0 ? "---|" : "---:|";
    text_ += '\n';
  }
  void add(const std::vector<std::string>& cells) {
    text_ += '|';
    for (const std::string& cell : cells) text_ += fmt::format(" {} |", cell);
    text_ += '\n';
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string limits_table(const device_limits& limits) {
  table t({"limit", "GB/s"});
  t.add({"device memory, plain read", gigabytes(limits.read)});
  t.add({"device memory, copy, bytes read and written", gigabytes(limits.copy)});
  t.add({"host to device, pinned memory", gigabytes(limits.link_in_pinned)});
  t.add({"device to host, pinned memory", gigabytes(limits.link_out_pinned)});
  t.add({"host to device, pinned memory, both ways at once", gigabytes(limits.link_in_duplex)});
  t.add({"device to host, pinned memory, both ways at once", gigabytes(limits.link_out_duplex)});
  t.add({"host to device, pageable memory", gigabytes(limits.link_in_pageable)});
  t.add({"device to host, pageable memory", gigabytes(limits.link_out_pageable)});
  return t.text() + fmt::format(
                        "\n32-bit integer operations (add, xor): {:.1f} T/s. A launch of an empty kernel and the wait "
                        "for it: {:.1f} "
                        "µs.\n",
                        limits.integer_operations / 1e12, limits.launch_seconds * 1e6);
}

std::vector<batch_rate> rates_of(const end_to_end_row& row, std::uint64_t lanes) {
  std::vector<batch_rate> rates;
  for (const lanes_rate& each : row.rates) {
    if (each.lanes == lanes) rates.push_back(each.rate);
  }
  return rates;
}

std::string end_to_end_table(const std::vector<end_to_end_row>& rows, const device_facts& facts) {
  std::set<std::uint64_t> lane_counts;
  for (const end_to_end_row& row : rows) {
    for (const lanes_rate& each : row.rates) lane_counts.insert(each.lanes);
  }
  std::vector<std::string> heads = {"name"};
  for (const std::uint64_t lanes : lane_counts) heads.push_back(fmt::format("lanes: {}; GB/s, at a batch of", lanes));
  heads.insert(heads.end(), {"best of link", "target, GB/s (reached)"});
  table t(heads);
  for (const end_to_end_row& row : rows) {
    std::vector<std::string> cells = {row.name};
    double fastest = 0;
    for (const std::uint64_t lanes : lane_counts) {
      const auto best = best_of(rates_of(row, lanes));
      cells.push_back(best ? fmt::format("{}, {}", gigabytes(best->bytes_per_second), batch_label(best->batch_bytes))
                           : "-");
      if (best) fastest = std::max(fastest, best->bytes_per_second);
    }
    cells.push_back(fastest > 0 ? share(fastest, facts.limits.link_in_pinned) : "-");
    cells.push_back(fastest > 0 ? held_against(fastest, end_to_end_target(facts.limits.link_in_pinned)) : "-");
    t.add(cells);
  }
  return t.text();
}

std::string variant_table(const std::vector<variant_row>& rows) {
  table t({"scan or wait", "variant", "GB/s", "of the usual", "µs"});
  double usual = 0;
  for (const variant_row& row : rows) {
    if (row.variant == "usual") usual = row.bytes_per_second;
    const bool is_scan = row.bytes_per_second > 0;
    t.add({row.name, row.variant, is_scan ? gigabytes(row.bytes_per_second) : "-",
           is_scan ? share(row.bytes_per_second, usual) : "-",
           row.seconds > 0 ? fmt::format("{:.1f}", row.seconds * 1e6) : "-"});
  }
  return t.text();
}

/// Calls `each(sentence, problem)` for all rows with a problem.
template <class Each>
void for_each_problem(const device_facts& facts, Each each) {
  const auto check = [&](std::string_view what, const std::string& name, fingerprint_kind kind,
                         const std::string& problem) {
    if (!problem.empty()) each(fmt::format("{}, {}, {}: {}", what, name, name_of(kind), problem), problem);
  };
  for (const auto& row : facts.end_to_end) check("from host memory", row.name, row.fingerprint, row.problem);
  for (const auto& row : facts.known_chunks) check("known chunks", row.name, row.fingerprint, row.problem);
  for (const auto& row : facts.variants) {
    if (!row.problem.empty()) each(fmt::format("{}, {}: {}", row.name, row.variant, row.problem), row.problem);
  }
  if (!facts.host_problem.empty()) each("data in pinned host memory: " + facts.host_problem, facts.host_problem);
}

}  // namespace

std::vector<std::string> failures(const device_facts& facts) {
  std::vector<std::string> sentences;
  for_each_problem(facts, [&](const std::string& sentence, const std::string& problem) {
    if (problem != out_of_time) sentences.push_back(sentence);
  });
  return sentences;
}

std::string device_markdown(const device_facts& facts) {
  std::string out = fmt::format("# Cutpoint on {}\n\n", facts.device);
  for (const named_fact& fact : facts.about) out += fmt::format("- {}: {}\n", fact.name, fact.value);
  out +=
      "\nGB are 10^9 bytes. Rates are medians of five samples and more. Targets are those for an H200; answers were "
      "compared "
      "with the reference's before anything was timed.\n";
  out += "\n## Limits of this device\n\n" + limits_table(facts.limits);
  out += "\n## Data in pinned host memory: copied in, cuts, SHA-1, results copied out\n\n" +
         end_to_end_table(facts.end_to_end, facts);
  out += "\n## Known chunks of 8 KiB in pinned host memory: copied in, fingerprints, these copied out\n\n" +
         end_to_end_table(facts.known_chunks, facts);
  if (!facts.variants.empty()) out += "\n## Variants\n\n" + variant_table(facts.variants);
  std::string problems;
  for_each_problem(facts, [&](const std::string& sentence, const std::string&) { problems += "- " + sentence + "\n"; });
  if (!problems.empty()) out += "\n## What is missing\n\n" + problems;
  return out;
}

// Writes the report in JSON.

namespace {

using nlohmann::ordered_json;

ordered_json json_of(const batch_rate& rate) {
  return {{"batch_bytes", rate.batch_bytes}, {"bytes_per_second", rate.bytes_per_second}};
}

ordered_json json_of(const end_to_end_row& row, const device_limits& limits) {
  ordered_json out = {{"name", row.name},
                      {"canonical", row.canonical},
                      {"fingerprint", name_of(row.fingerprint)},
                      {"rates", ordered_json::array()},
                      {"target_bytes_per_second", end_to_end_target(limits.link_in_pinned)},
                      {"problem", row.problem}};
  for (const lanes_rate& each : row.rates) {
    ordered_json rate = json_of(each.rate);
    rate["lanes"] = each.lanes;
    out["rates"].push_back(rate);
  }
  return out;
}

ordered_json json_of(const variant_row& row) {
  return {{"name", row.name},
          {"variant", row.variant},
          {"bytes_per_second", row.bytes_per_second},
          {"seconds", row.seconds},
          {"problem", row.problem}};
}

ordered_json json_of(const device_limits& limits) {
  return {{"read", limits.read},
          {"copy", limits.copy},
          {"link_in_pinned", limits.link_in_pinned},
          {"link_out_pinned", limits.link_out_pinned},
          {"link_in_pageable", limits.link_in_pageable},
          {"link_out_pageable", limits.link_out_pageable},
          {"link_in_beside_out", limits.link_in_duplex},
          {"link_out_beside_in", limits.link_out_duplex},
          {"launch_seconds", limits.launch_seconds},
          {"integer_operations", limits.integer_operations}};
}

}  // namespace

std::string device_json(const device_facts& facts) {
  ordered_json out = {{"device", facts.device},
                      {"about", ordered_json::object()},
                      {"limits", json_of(facts.limits)},
                      {"end_to_end", ordered_json::array()},
                      {"known_chunks", ordered_json::array()},
                      {"variants", ordered_json::array()}};
  for (const named_fact& fact : facts.about) out["about"][fact.name] = fact.value;
  for (const end_to_end_row& row : facts.end_to_end) out["end_to_end"].push_back(json_of(row, facts.limits));
  for (const end_to_end_row& row : facts.known_chunks) out["known_chunks"].push_back(json_of(row, facts.limits));
  for (const variant_row& row : facts.variants) out["variants"].push_back(json_of(row));
  out["host_problem"] = facts.host_problem;
  return out.dump(2) + '\n';
}

}  // namespace cutpoint::bench
