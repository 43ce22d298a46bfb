#include "store/session/record_reader.h"

#include "store/format/failure.h"

namespace cutpoint::store {

namespace {

status record_damage(const record_reference& record, std::string_view what) {
  return damage("the record " + to_hex(record.content), what);
}

}  // namespace

result<std::vector<std::uint8_t>> record_reader::read(record_kind kind, const record_reference& record) {
  std::optional<found_record> found;
  if (status located = shards_.locate(kind, {&record.content, 1}, {&found, 1}); !located.ok()) return located;
  if (!found) return record_damage(record, "no container has it");
  return read_record(objects_, *found->container, found->place(), key_);
}

status record_reader::compare(const record_reference& record, byte_span content) {
  const auto made = check_(content);
  if (!made) return made.error();
  if (*made == record.content && content.size() == record.raw_bytes) return {};
  return record_damage(record, "its content does not have its digest or length");
}

result<std::vector<std::uint8_t>> record_reader::read_chunk(const record_reference& chunk) {
  auto content = read(record_kind::chunk, chunk);
  if (!content) return content;
  if (status same = compare(chunk, *content); !same.ok()) return same;
  return content;
}

result<std::vector<std::uint8_t>> record_reader::read_node(const record_reference& node) {
  auto bytes = read(record_kind::node, node);
  if (!bytes) return bytes;
  const auto content = node_content(*bytes);
  if (!content) return record_damage(node, "it is not a node");
  if (status same = compare(node, *content); !same.ok()) return same;
  return bytes;
}

}  // namespace cutpoint::store
