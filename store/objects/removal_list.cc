#include "store/objects/removal_list.h"

#include "store/format/failure.h"
#include "store/format/fields.h"
#include "store/objects/small_object.h"

namespace cutpoint::store {

namespace {

constexpr std::size_t largest_removal_list_bytes = 256 * MiB;

}  // namespace

result<std::set<container_name>> read_removal_lists(storage& objects, const seal_key& key) {
  std::set<container_name> listed;
  const auto ids = objects.list(object_kind::removal_list);
  if (!ids) return ids.error();
  for (const std::string& id : *ids) {
    const object_name name{object_kind::removal_list, id};
    const auto bytes = read_object(objects, name, largest_removal_list_bytes);
    if (!bytes && is_absence(bytes.error())) continue;
    if (!bytes) return bytes.error();
    const auto body = decode_small_object(*bytes, object_kind::removal_list, key, path_of(name));
    if (!body) return body.error();
    field_reader fields(*body);
    for (auto count = fields.number<std::uint32_t>(); count > 0 && fields.ok(); --count) {
      listed.insert(fields.bytes<container_name_bytes>());
    }
    if (!fields.ok() || fields.remaining() != 0) return damage(path_of(name), "a field is out of its bounds");
  }
  return listed;
}

}  // namespace cutpoint::store
