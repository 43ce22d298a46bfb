#include "cluster/simulator/policies_by_name.h"

#include <algorithm>
#include <array>

#include <cutpoint/cluster/simulation.h>

namespace cutpoint::cluster {

namespace {

constexpr std::uint32_t index_bytes = 40;  // of the similarity index, and of an index of chunks
constexpr std::uint32_t filter_bytes = 1;  // of a Bloom filter, as in Data Domain's file system
constexpr std::uint32_t file_bytes = 48;   // of the primary index of Extreme Binning

constexpr std::array<simulated_policy, 8> policies = {{
    {"app-dedupe", [](const auto& options, const auto&) { return make_app_dedupe(options); }, false, index_bytes},
    {"app-aware", [](const auto&, const auto&) { return make_app_aware(); }, false, index_bytes},
    {"sigma-dedupe", [](const auto& options, const auto&) { return make_sigma_dedupe(options); }, false, index_bytes},
    {"dht", [](const auto& options, const auto&) { return make_dht(options); }, false, index_bytes},
    {"emc-stateless", [](const auto& options, const auto&) { return make_emc_stateless(options); }, false,
     filter_bytes},
    {"emc-stateful", [](const auto& options, const auto& cluster) { return make_emc_stateful(options, cluster); },
     false, filter_bytes},
    {"calb", [](const auto&, const auto& cluster) { return make_calb(cluster); }, false, filter_bytes},
    {"extreme-binning", [](const auto& options, const auto&) { return make_extreme_binning(options); }, true,
     file_bytes},
}};

constexpr auto names = [] {
  std::array<std::string_view, policies.size()> list;
  for (std::size_t i = 0; i < policies.size(); ++i) list[i] = policies[i].name;
  return list;
}();

}  // namespace

const simulated_policy* find_policy(std::string_view name) {
  const auto row = std::find_if(policies.begin(), policies.end(), [&](const auto& each) { return each.name == name; });
  return row == policies.end() ? nullptr : &*row;
}

std::span<const std::string_view> policy_names() { return names; }

}  // namespace cutpoint::cluster
