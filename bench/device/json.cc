// Writes the report in JSON.
#include <nlohmann/json.hpp>

#include "bench/device/report.h"

namespace cutpoint::bench {

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
