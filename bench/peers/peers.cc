#include "bench/peers/peers.h"

#include <algorithm>

#include <dlfcn.h>
#include <fmt/format.h>

namespace cutpoint::bench {

result<std::vector<peer>> load_peers(const std::string& path) {
  using export_function = const peer* (*)(std::size_t*);
  void* const library = ::dlopen(path.c_str(), RTLD_NOW);
  void* const symbol = library == nullptr ? nullptr : ::dlsym(library, "cutpoint_peers");
  if (symbol == nullptr) return status{status_code::unavailable, ::dlerror()};
  std::size_t count = 0;
  const peer* const first = reinterpret_cast<export_function>(symbol)(&count);
  return std::vector<peer>(first, first + count);
}

std::vector<peer_group> group_by_work(const std::vector<peer>& peers) {
  std::vector<peer_group> groups;
  for (const peer& each : peers) {
    const std::string work = *each.size == '\0' ? each.work : fmt::format("{} {}", each.work, each.size);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const peer_group& g) { return g.work == work; });
    if (group == groups.end()) group = groups.insert(group, {work, {}});
    group->peers.push_back(each);
  }
  return groups;
}

}  // namespace cutpoint::bench
