// What is measured of each name in the catalog.
#pragma once

#include <string_view>
#include <vector>

#include <cutpoint/chunker.h>

namespace cutpoint::bench {

/// A name of the catalog and its chunker.
struct configuration {
  std::string_view name;
  cutpoint::chunker chunker;
};

/// Every name of the catalog at min 2K, average 8K and max 64K: as many of these as it takes, else all its defaults.
[[nodiscard]] std::vector<configuration> configurations();

}  // namespace cutpoint::bench
