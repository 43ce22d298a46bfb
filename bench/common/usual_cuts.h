// The chunkers that benchmarks compare: every entry of the catalog at about equal sizes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/catalog.h>
#include <cutpoint/chunk_sizes.h>
#include <cutpoint/chunker.h>

namespace cutpoint::bench {

/// A name of the catalog and its chunker.
struct named_cuts {
  std::string_view name;
  chunker cuts;
};

/// Returns the entries of the catalog at `usual_sizes`, or at their own sizes if they do not take these.
[[nodiscard]] inline std::vector<named_cuts> usual_cuts() {
  const auto sizes = size_settings(std::string(usual_sizes)).value();
  std::vector<named_cuts> all;
  for (const catalog_entry& entry : catalog()) {
    const result<chunker> sized = chunker_at(entry.name, sizes);
    all.push_back({entry.name, sized ? *sized : entry.defaults});
  }
  return all;
}

}  // namespace cutpoint::bench
