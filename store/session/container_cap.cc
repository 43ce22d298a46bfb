#include "store/session/container_cap.h"

#include <algorithm>
#include <map>

namespace cutpoint::store {

namespace {

using choice = container_cap::choice;

/// Chooses a container for the chunks that it has and that have none yet.
void assign(std::uint64_t container, std::span<choice> chunks) {
  for (choice& each : chunks) {
    if (each.chosen == 0 && std::ranges::count(each.containers, container) != 0) each.chosen = container;
  }
}

/// Returns the container that has the most bytes of the chunks without one, or 0 if there are none.
std::uint64_t largest_container(std::span<const choice> chunks) {
  std::map<std::uint64_t, std::uint64_t> bytes;
  for (const choice& each : chunks) {
    if (each.chosen != 0) continue;
    for (const std::uint64_t container : each.containers) bytes[container] += each.bytes;
  }
  const auto largest = std::ranges::max_element(bytes, {}, [](const auto& each) { return each.second; });
  return largest == bytes.end() ? 0 : largest->first;
}

}  // namespace

void container_cap::choose(std::span<choice> chunks) {
  std::erase_if(last_uses_, [&](const auto& each) { return each.second + remembered_bytes < position_; });
  for (const auto& [container, position] : last_uses_) assign(container, chunks);
  for (const choice& each : chunks) {
    position_ += each.bytes;
    credit_ += most_containers_ * each.bytes;
  }
  for (; credit_ >= limited_bytes; credit_ -= limited_bytes) {
    const std::uint64_t largest = largest_container(chunks);
    if (largest == 0) break;
    assign(largest, chunks);
  }
  credit_ = std::min(credit_, most_containers_ * limited_bytes);
  for (const choice& each : chunks) {
    if (each.chosen != 0) last_uses_[each.chosen] = position_;
  }
}

}  // namespace cutpoint::store
