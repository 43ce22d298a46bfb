#include "store/objects/small_object.h"

#include <algorithm>

#include "store/format/failure.h"
#include "store/format/fields.h"
#include "store/format/object_name.h"

namespace cutpoint::store {

std::vector<std::uint8_t> encode_small_object(const object_name& name, std::vector<std::uint8_t> body,
                                              const seal_key& key, const object_salt& salt) {
  const seal_tag tag = key.sealer_of(salt, place_of(name))->seal(sealed_content::body, object_header_bytes, body);
  std::vector<std::uint8_t> bytes;
  field_writer(bytes).bytes(encode(object_header{name.kind, key.kind(), salt})).bytes(body).bytes(tag);
  return bytes;
}

result<std::vector<std::uint8_t>> decode_small_object(byte_span bytes, const object_name& name, const seal_key& key) {
  const std::string object = path_of(name);
  const auto header = decode_header(bytes, name.kind, object);
  if (!header) return header.error();
  if (header->seal != key.kind()) {
    return status(status_code::invalid_argument,
                  object + (key.kind() == seal_kind::checksum ? " is encrypted" : " is not encrypted"));
  }
  if (bytes.size() < object_header_bytes + tag_bytes) return damage(object, "it is too short");
  const byte_span sealed = bytes.subspan(object_header_bytes, bytes.size() - object_header_bytes - tag_bytes);
  std::vector<std::uint8_t> body(sealed.begin(), sealed.end());
  seal_tag tag;
  std::copy(bytes.end() - tag_bytes, bytes.end(), tag.begin());
  if (!key.sealer_of(header->salt, place_of(name))->open(sealed_content::body, object_header_bytes, body, tag)) {
    return damage(object, "its bytes have changed");
  }
  return body;
}

result<std::vector<std::uint8_t>> read_object(storage& objects, const object_name& name, std::size_t largest_bytes) {
  const auto size = objects.size(name);
  if (!size) return size.error();
  if (*size > largest_bytes) return damage(path_of(name), "it is too long");
  std::vector<std::uint8_t> bytes(*size);
  if (status read = objects.read(name, 0, bytes); !read.ok()) return read;
  return bytes;
}

}  // namespace cutpoint::store
