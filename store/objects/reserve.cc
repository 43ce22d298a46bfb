#include "store/objects/reserve.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <cutpoint/fingerprint.h>

#include "store/crypto/sealer.h"
#include "store/format/failure.h"

namespace cutpoint::store {

namespace {

constexpr std::string_view prefix = "reserve-";
/// Enough for entries of the log that name 5,000 containers and as many snapshots.
constexpr std::size_t reserve_bytes = 1 * MiB;

}  // namespace

bool is_reserve(std::string_view temporary_id) noexcept { return temporary_id.starts_with(prefix); }

status put_reserve(storage& objects) {
  const auto free = objects.free_bytes();
  if (!free) return free.error();
  const auto ids = objects.list(object_kind::temporary);
  if (!ids) return ids.error();
  if (*free == UINT64_MAX || *free < reserve_bytes || std::ranges::any_of(*ids, is_reserve)) return {};
  digest id{{}, 16};
  fill_random(std::span(id.bytes).first(id.size));
  std::vector<std::uint8_t> bytes(reserve_bytes);
  fill_random(bytes);  // a file system may compress
  status put = objects.put({object_kind::temporary, std::string(prefix) + to_hex(id)}, std::move(bytes));
  if (put.ok()) put = objects.sync();
  return is_lack_of_room(put) ? status() : put;
}

result<bool> remove_reserve(storage& objects) {
  const auto ids = objects.list(object_kind::temporary);
  if (!ids) return ids.error();
  bool was_there = false;
  for (const std::string& each : *ids) {
    if (!is_reserve(each)) continue;
    if (status removed = objects.remove({object_kind::temporary, each}); !removed.ok()) return removed;
    was_there = true;
  }
  const status synced = objects.sync();
  return synced.ok() ? result<bool>(was_there) : synced;
}

}  // namespace cutpoint::store
