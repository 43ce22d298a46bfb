// Tries several forms of the same sizes in turn.
#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <utility>

#include <cutpoint/chunk_sizes.h>
#include <cutpoint/text.h>
#include <fmt/format.h>

namespace cutpoint {

namespace {

using settings = std::vector<parameter_setting>;

status wrong(std::string message) { return {status_code::invalid_argument, std::move(message)}; }

template <class Wanted>
settings those(std::span<const parameter_setting> sizes, Wanted&& wanted) {
  settings selected;
  std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(selected), wanted);
  return selected;
}

/// Converts sizes to exponents of 2. Returns an empty list if a size is not a power of two.
settings powers_of_two(std::span<const parameter_setting> sizes) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> names = {
      {{"min_bytes", "min_exp"}, {"avg_bytes", "mask_bits"}, {"max_bytes", "max_exp"}}};
  settings selected;
  for (const parameter_setting& size : sizes) {
    const auto name = std::find_if(names.begin(), names.end(), [&](const auto& n) { return n.first == size.name; });
    const auto bytes = parse_size(size.value);
    if (name == names.end() || !bytes || !std::has_single_bit(*bytes)) return {};
    selected.push_back({std::string(name->second), fmt::format("{}", std::countr_zero(*bytes))});
  }
  return selected;
}

/// Returns whether the entry has all of these parameters and lets a caller set them.
bool takes(const catalog_entry& entry, const settings& size_settings) {
  return std::all_of(size_settings.begin(), size_settings.end(), [&entry](const parameter_setting& s) {
    return std::any_of(entry.parameters.begin(), entry.parameters.end(),
                       [&s](const listed_parameter& p) { return p.info.name == s.name && !p.is_fixed; });
  });
}

}  // namespace

result<std::vector<parameter_setting>> size_settings(const std::string& size) {
  const auto colons = std::count(size.begin(), size.end(), ':');
  if (colons == 0) return settings{{"avg_bytes", size}};
  if (colons != 2) return wrong(fmt::format("{}: must be MIN:AVG:MAX or AVG", size));
  const std::size_t first = size.find(':');
  const std::size_t second = size.rfind(':');
  const std::array<parameter_setting, 3> bounds = {{{"min_bytes", size.substr(0, first)},
                                                    {"avg_bytes", size.substr(first + 1, second - first - 1)},
                                                    {"max_bytes", size.substr(second + 1)}}};
  settings size_settings = those(bounds, [](const parameter_setting& bound) { return !bound.value.empty(); });
  if (size_settings.empty()) return wrong(fmt::format("{}: must have a part that is not empty", size));
  return size_settings;
}

result<chunker> chunker_at(std::string_view name, std::span<const parameter_setting> sizes) {
  const auto entry = find_entry(name);
  if (!entry) return entry.error();
  const std::array<settings, 4> alternatives = {
      settings(sizes.begin(), sizes.end()), those(sizes, [](const auto& s) { return s.name != "min_bytes"; }),
      those(sizes, [](const auto& s) { return s.name == "avg_bytes"; }), powers_of_two(sizes)};
  for (const settings& alternative : alternatives) {
    if (alternative.empty() || !takes(**entry, alternative)) continue;
    const result<named_chunker> chosen = make_chunker(name, alternative);
    if (!chosen) return chosen.error();
    if (chosen->warnings.empty()) return chosen->chunker;
  }
  return wrong(fmt::format("{} takes no such sizes", name));
}

}  // namespace cutpoint
