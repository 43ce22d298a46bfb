#include "bench/configurations.h"

#include <array>

#include <cutpoint/catalog.h>

namespace cutpoint::bench {

namespace {

using settings = std::vector<parameter_setting>;

/// 2K:8K:64K as names may take it, the fullest first.
const std::array<settings, 4> ways_to_say_it = {{
    {{"min_bytes", "2K"}, {"avg_bytes", "8K"}, {"max_bytes", "64K"}},
    {{"avg_bytes", "8K"}, {"max_bytes", "64K"}},
    {{"avg_bytes", "8K"}},
    {{"min_exp", "11"}, {"mask_bits", "13"}, {"max_exp", "16"}},
}};

chunker chunker_of(const catalog_entry& entry) {
  for (const settings& way : ways_to_say_it) {
    result<named_chunker> made = make_chunker(entry.name, way);
    if (made && made->warnings.empty()) return made->chunker;
  }
  return entry.defaults;
}

}  // namespace

std::vector<configuration> configurations() {
  std::vector<configuration> all;
  for (const catalog_entry& entry : catalog()) all.push_back({entry.name, chunker_of(entry)});
  return all;
}

}  // namespace cutpoint::bench
