#include "store/objects/removal_list.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "store/format/failure.h"
#include "store/format/fields.h"
#include "store/objects/small_object.h"

namespace cutpoint::store {

namespace {

constexpr std::size_t largest_removal_list_bytes = 256 * MiB;

/// Returns the epochs of all lists, the oldest first. Objects with other names are passed over.
result<std::vector<std::uint64_t>> list_epochs(storage& objects) {
  const auto ids = objects.list(object_kind::removal_list);
  if (!ids) return ids.error();
  std::vector<std::uint64_t> epochs;
  for (const std::string& id : *ids) {
    std::uint64_t epoch = 0;
    std::from_chars(id.data(), id.data() + id.size(), epoch, 16);
    if (removal_list_name(epoch).id == id) epochs.push_back(epoch);
  }
  std::ranges::sort(epochs);
  return epochs;
}

result<removal_list> read_removal_list(storage& objects, const seal_key& key, std::uint64_t epoch) {
  const object_name name = removal_list_name(epoch);
  const auto bytes = read_object(objects, name, largest_removal_list_bytes);
  if (!bytes) return bytes.error();
  const auto body = decode_small_object(*bytes, object_kind::removal_list, key, path_of(name));
  if (!body) return body.error();
  field_reader fields(*body);
  removal_list read{epoch, static_cast<removal_state>(fields.number<std::uint8_t>()), {}};
  for (auto count = fields.number<std::uint32_t>(); count > 0 && fields.ok(); --count) {
    read.containers.insert(fields.bytes<container_name_bytes>());
  }
  const bool is_state = read.state == removal_state::proposed || read.state == removal_state::decided;
  if (!fields.ok() || fields.remaining() != 0 || !is_state)
    return damage(path_of(name), "a field is out of its bounds");
  return read;
}

}  // namespace

object_name removal_list_name(std::uint64_t epoch) {
  return {object_kind::removal_list, fmt::format("{:016x}", epoch)};
}

result<std::uint64_t> newest_epoch(storage& objects) {
  const auto epochs = list_epochs(objects);
  if (!epochs) return epochs.error();
  return epochs->empty() ? 0 : epochs->back();
}

result<removal_list> read_newest_list(storage& objects, const seal_key& key) {
  for (;;) {
    const auto epoch = newest_epoch(objects);
    if (!epoch) return epoch.error();
    if (*epoch == 0) return removal_list{};
    auto list = read_removal_list(objects, key, *epoch);
    if (list || !is_absence(list.error())) return list;  // otherwise a newer one has replaced it
  }
}

result<removal_list> read_newest_list(storage& objects, const seal_key& key,
                                      const std::function<void(const object_name& list, const status& why)>& damaged) {
  auto newest = read_newest_list(objects, key);
  if (newest || !is_damage(newest.error())) return newest;
  const auto epoch = newest_epoch(objects);
  if (!epoch) return epoch.error();
  damaged(removal_list_name(*epoch), newest.error());
  return removal_list{*epoch, removal_state::decided, {}};
}

status put_removal_list(storage& objects, const seal_key& key, const removal_list& list) {
  std::vector<std::uint8_t> body;
  field_writer fields(body);
  fields.number(static_cast<std::uint8_t>(list.state)).number(static_cast<std::uint32_t>(list.containers.size()));
  for (const container_name& each : list.containers) fields.bytes(each);
  object_salt salt;
  fill_random(salt);
  return objects.put(removal_list_name(list.epoch),
                     encode_small_object(object_kind::removal_list, std::move(body), key, salt));
}

status remove_lists_before(storage& objects, std::uint64_t epoch) {
  const auto epochs = list_epochs(objects);
  if (!epochs) return epochs.error();
  for (const std::uint64_t each : *epochs) {
    if (each >= epoch) break;
    if (status removed = objects.remove(removal_list_name(each)); !removed.ok()) return removed;
  }
  return {};
}

}  // namespace cutpoint::store
