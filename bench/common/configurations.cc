#include "bench/common/configurations.h"

#include <cutpoint/catalog.h>
#include <cutpoint/chunk_sizes.h>

namespace cutpoint::bench {

std::vector<configuration> configurations() {
  const auto sizes = size_settings(std::string(usual_sizes)).value();
  std::vector<configuration> all;
  for (const catalog_entry& entry : catalog()) {
    const result<chunker> sized = chunker_at(entry.name, sizes);
    all.push_back({entry.name, sized ? *sized : entry.defaults});
  }
  return all;
}

}  // namespace cutpoint::bench
