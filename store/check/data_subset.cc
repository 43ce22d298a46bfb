#include "store/check/data_subset.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string_view>

namespace cutpoint::store {

namespace {

/// FNV-1a: the same on all machines and in all releases, so that subsets in turn read everything once.
std::uint64_t hash_of(std::string_view id) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char each : id) hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3;
  return hash;
}

}  // namespace

std::vector<std::string> take_subset(storage& objects, const store_data_subset& subset, std::vector<std::string>& ids) {
  std::vector<std::string> chosen;
  std::vector<std::string> rest;
  for (std::string& each : ids) {
    const bool is_in_subset = hash_of(each) % subset.subset_count == subset.number - 1;
    (is_in_subset ? chosen : rest).push_back(std::move(each));
  }
  std::size_t count = chosen.size();
  if (subset.share < 1 || subset.most_bytes != UINT64_MAX) {
    std::ranges::shuffle(chosen, std::mt19937_64(std::random_device()()));
    count = std::min(count, static_cast<std::size_t>(std::ceil(subset.share * static_cast<double>(count))));
  }
  if (subset.most_bytes != UINT64_MAX) {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto size = objects.size({object_kind::container, chosen[i]});
      bytes += size ? *size : 0;
      if (i != 0 && bytes > subset.most_bytes) count = i;
    }
  }
  std::move(chosen.begin() + static_cast<std::ptrdiff_t>(count), chosen.end(), std::back_inserter(rest));
  chosen.resize(count);
  ids = std::move(rest);
  return chosen;
}

}  // namespace cutpoint::store
