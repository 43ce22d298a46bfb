#include "pipeline/costs/calibration_cuts.h"

#include <cutpoint/catalog.h>

namespace cutpoint {

namespace {

/// Beside each algorithm's own.
constexpr std::array<const char*, 3> averages = {"4K", "8K", "16K"};

}  // namespace

std::vector<named_cuts> calibration_cuts() {
  std::vector<named_cuts> all;
  for (const catalog_entry& entry : catalog()) {
    all.push_back({std::string(entry.name), entry.defaults});
    if (entry.kind != entry_kind::algorithm || entry.defaults.fixed_chunk_bytes()) continue;
    for (const char* const average : averages) {
      const auto made = make_chunker(entry.name, std::array{parameter_setting{"avg_bytes", average}});
      if (made && made->chunker.canonical() != entry.defaults.canonical()) {
        all.push_back({std::string(entry.name), made->chunker});
      }
    }
  }
  return all;
}

}  // namespace cutpoint
