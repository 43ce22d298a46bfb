#include "cluster/simulator/policies_by_name.h"

#include <algorithm>
#include <array>

#include <cutpoint/cluster/simulation.h>

namespace cutpoint::cluster {

namespace {

constexpr std::uint32_t filter_bytes = 1;  // of a Bloom filter, as in Data Domain's file system
constexpr std::uint32_t file_bytes = 48;   // of the primary index of Extreme Binning

constexpr std::array<simulated_policy, 9> policies = {{
    {.name = "app-dedupe", .make = [](const auto& options, const auto&) { return make_app_dedupe(options); }},
    {.name = "app-aware", .make = [](const auto&, const auto&) { return make_app_aware(); }},
    {.name = "sigma-dedupe", .make = [](const auto& options, const auto&) { return make_sigma_dedupe(options); }},
    {.name = "dht", .make = [](const auto& options, const auto&) { return make_dht(options); }},
    {.name = "emc-stateless",
     .make = [](const auto& options, const auto&) { return make_emc_stateless(options); },
     .index_entry_bytes = filter_bytes},
    {.name = "emc-stateful",
     .make = [](const auto& options, const auto& cluster) { return make_emc_stateful(options, cluster); },
     .index_entry_bytes = filter_bytes},
    {.name = "calb",
     .make = [](const auto&, const auto& cluster) { return make_calb(cluster); },
     .index_entry_bytes = filter_bytes},
    {.name = "extreme-binning",
     .make = [](const auto& options, const auto&) { return make_extreme_binning(options); },
     .deduplicates_in_bins = true,
     .index_entry_bytes = file_bytes},
    {.name = "produck",
     .make = [](const auto& options, const auto& cluster) { return make_produck(options, cluster); },
     .needs_sketches = true},
}};

constexpr auto names_of_policies = [] {
  std::array<std::string_view, policies.size()> list;
  for (std::size_t i = 0; i < policies.size(); ++i) list[i] = policies[i].name;
  return list;
}();

}  // namespace

const simulated_policy* find_policy(std::string_view name) {
  const auto row = std::find_if(policies.begin(), policies.end(), [&](const auto& each) { return each.name == name; });
  return row == policies.end() ? nullptr : &*row;
}

std::span<const std::string_view> policy_names() { return names_of_policies; }

}  // namespace cutpoint::cluster
