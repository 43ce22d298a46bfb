#include "store/format/container.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "store/format/failure.h"
#include "store/format/fields.h"

namespace cutpoint::store {

namespace {

/// Seals a record whose plain bytes lie at `position` of the container.
void seal_record(sealer& seals, std::vector<std::uint8_t>& container, const placed_record& record) {
  const auto bytes = std::span(container).subspan(record.position, record_bytes(record.description.stored_bytes));
  const auto seal = [&](sealed_content content, std::size_t begin, std::size_t size) {
    const seal_tag tag = seals.seal(content, record.position, bytes.subspan(begin, size));
    std::copy(tag.begin(), tag.end(), bytes.begin() + static_cast<std::ptrdiff_t>(begin + size));
  };
  seal(sealed_content::record_header, 0, description_bytes);
  seal(sealed_content::record_payload, record_header_bytes, padded_payload_bytes(record.description.stored_bytes));
}

/// Appends sealed bytes and their tag.
void append_sealed(sealer& seals, sealed_content content, std::vector<std::uint8_t> fields,
                   std::vector<std::uint8_t>& container) {
  const seal_tag tag = seals.seal(content, container.size(), fields);
  field_writer(container).bytes(fields).bytes(tag);
}

std::uint64_t complete_bytes(std::uint64_t sections_bytes, std::size_t record_count) {
  return sections_bytes + trailer_bytes(record_count) + tail_bytes;
}

}  // namespace

std::uint64_t padded_container_bytes(std::uint64_t bytes) noexcept {
  const auto exponent = static_cast<unsigned>(std::bit_width(bytes) - 1);
  const auto kept_bits = static_cast<unsigned>(std::bit_width(exponent));
  const std::uint64_t step =
      std::max<std::uint64_t>(std::uint64_t{1} << (exponent - std::min(kept_bits, exponent)), record_alignment);
  return (bytes + step - 1) / step * step;
}

container_builder::container_builder(std::uint64_t container_bytes) : container_bytes_(container_bytes) {
  assert(container_bytes <= largest_container_bytes / 2);
  chunk_section_.reserve(container_bytes);
  chunk_section_.resize(object_header_bytes);
}

bool container_builder::has_room(std::size_t stored_bytes) const noexcept {
  const std::size_t record_count = chunks_.size() + nodes_.size() + 2;  // with this one and a padding record
  const std::uint64_t sections_bytes =
      chunk_section_.size() + node_section_.size() + record_bytes(stored_bytes) + record_bytes(0);
  return is_empty() ||
         (record_count <= most_records && complete_bytes(sections_bytes, record_count) <= container_bytes_);
}

void container_builder::place(const record_description& description, byte_span payload,
                              std::vector<std::uint8_t>& section) {
  const std::size_t begin = section.size();
  encode_description(description, record_magic, section);
  section.resize(begin + record_header_bytes);
  section.insert(section.end(), payload.begin(), payload.end());
  section.resize(begin + record_bytes(payload.size()));
}

void container_builder::append(const record_description& description, byte_span payload) {
  assert(payload.size() == description.stored_bytes && has_room(payload.size()));
  const bool is_chunk = description.kind == record_kind::chunk;
  (is_chunk ? chunks_ : nodes_).push_back(description);
  place(description, payload, is_chunk ? chunk_section_ : node_section_);
}

result<built_container> container_builder::build(const seal_key& key, const object_salt& salt,
                                                 batch_fingerprinter& blake3) && {
  if (key.kind() != seal_kind::checksum) {
    const std::uint64_t least_bytes = complete_bytes(chunk_section_.size() + node_section_.size() + record_bytes(0),
                                                     chunks_.size() + nodes_.size() + 1);
    const std::vector<std::uint8_t> zeros(padded_container_bytes(least_bytes) - least_bytes);
    const auto length = static_cast<std::uint32_t>(zeros.size());
    const record_description padding{record_kind::padding, record_codec::none, length, length, {}};
    nodes_.push_back(padding);
    place(padding, zeros, node_section_);
  }
  built_container built;
  built.bytes = std::move(chunk_section_);
  container_footer footer;
  footer.record_count = static_cast<std::uint32_t>(chunks_.size() + nodes_.size());
  footer.metadata_position = built.bytes.size();
  footer.trailer_position = built.bytes.size() + node_section_.size();
  footer.total_bytes = complete_bytes(footer.trailer_position, footer.record_count);
  built.bytes.reserve(footer.total_bytes);
  field_writer(built.bytes).bytes(node_section_);

  std::uint64_t position = object_header_bytes;
  built.records.reserve(footer.record_count);
  std::vector<std::uint8_t> trailer;
  const auto seals = key.sealer_of(salt, folder_of(object_kind::container));
  for (const auto* section : {&chunks_, &nodes_}) {
    for (const record_description& each : *section) {
      built.records.push_back({each, position});
      encode_description(each, static_cast<std::uint32_t>(position / record_alignment), trailer);
      seal_record(*seals, built.bytes, built.records.back());
      position += record_bytes(each.stored_bytes);
    }
  }
  append_sealed(*seals, sealed_content::trailer, std::move(trailer), built.bytes);
  append_sealed(*seals, sealed_content::footer, encode(footer), built.bytes);
  const auto header = encode(object_header{object_kind::container, key.kind(), salt});
  std::copy(header.begin(), header.end(), built.bytes.begin());
  field_writer(built.bytes).bytes(header);
  assert(built.bytes.size() == footer.total_bytes);

  blake3.submit(built.bytes, built.digest_of_bytes);
  CUTPOINT_RETURN_IF_FAILED(blake3.flush());
  return built;
}

namespace {

std::string container_path(const std::string& id) { return path_of({object_kind::container, id}); }

seal_tag tag_at(byte_span bytes, std::size_t position) {
  seal_tag tag;
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(position), tag.size(), tag.begin());
  return tag;
}

result<object_header> decode_container_header(byte_span bytes, const std::string& id, const seal_key& key) {
  auto header = decode_header(bytes, object_kind::container, container_path(id));
  if (header && header->seal != key.kind()) {
    return status(status_code::invalid_argument,
                  container_path(id) + (key.kind() == seal_kind::checksum ? " is encrypted" : " is not encrypted"));
  }
  return header;
}

result<container_footer> open_footer(sealer& seals, byte_span tail, std::uint64_t total_bytes, const std::string& id) {
  std::vector<std::uint8_t> fields(tail.begin(), tail.begin() + footer_fields_bytes);
  if (seals.open(sealed_content::footer, total_bytes - tail_bytes, fields, tag_at(tail, footer_fields_bytes))) {
    if (const auto footer = decode_footer(fields, total_bytes)) return *footer;
  }
  return damage(container_path(id), "its footer is wrong");
}

result<container_table> open_trailer(sealer& seals, std::span<std::uint8_t> trailer, const container_footer& footer,
                                     const std::string& id, const object_salt& salt) {
  const auto fields = trailer.first(trailer.size() - tag_bytes);
  if (seals.open(sealed_content::trailer, footer.trailer_position, fields, tag_at(trailer, fields.size()))) {
    if (auto records = decode_trailer(fields, footer)) {
      return container_table{{id, salt}, std::move(*records), footer.total_bytes};
    }
  }
  return damage(container_path(id), "its table of records is wrong");
}

struct tested_record {
  placed_record place;
  bool is_whole;  ///< whether the payload is what was sealed
};

/// Returns nullopt unless the header of a record is at `position`.
std::optional<tested_record> test_record(sealer& seals, byte_span container, std::uint64_t position) {
  const byte_span rest = container.subspan(position);
  if (rest.size() < record_bytes(0)) return std::nullopt;
  std::vector<std::uint8_t> header(rest.begin(), rest.begin() + description_bytes);
  if (!seals.open(sealed_content::record_header, position, header, tag_at(rest, description_bytes)))
    return std::nullopt;
  tested_record tested{{{}, position}, false};
  if (decode_description(header, tested.place.description) != record_magic) return std::nullopt;
  const std::size_t padded_bytes = padded_payload_bytes(tested.place.description.stored_bytes);
  if (rest.size() < record_bytes(padded_bytes)) return tested;
  const auto begin = rest.begin() + record_header_bytes;
  std::vector<std::uint8_t> payload(begin, begin + static_cast<std::ptrdiff_t>(padded_bytes));
  const seal_tag tag = tag_at(rest, record_header_bytes + padded_bytes);
  tested.is_whole = seals.open(sealed_content::record_payload, position, payload, tag);
  return tested;
}

std::string record_name(const placed_record& place) { return fmt::format("the record at {}", place.position); }

}  // namespace

result<container_table> read_container_table(storage& objects, const std::string& id, const seal_key& key,
                                             std::uint64_t first_read_bytes) {
  std::vector<std::uint8_t> buffer;
  return read_container_table(objects, id, key, first_read_bytes, buffer);
}

result<container_table> read_container_table(storage& objects, const std::string& id, const seal_key& key,
                                             std::uint64_t first_read_bytes, std::vector<std::uint8_t>& buffer) {
  CUTPOINT_TRY(const auto object,
               objects.open({object_kind::container, id}, std::max(first_read_bytes, std::uint64_t{tail_bytes})));
  const std::uint64_t total_bytes = object->size();
  if (total_bytes < tail_bytes || total_bytes > largest_container_bytes) {
    return damage(container_path(id), "its length is impossible");
  }
  buffer.resize(std::clamp<std::uint64_t>(first_read_bytes, tail_bytes, total_bytes));
  const std::uint64_t end_position = total_bytes - buffer.size();
  CUTPOINT_RETURN_IF_FAILED(object->read(end_position, buffer));
  const byte_span tail = byte_span(buffer).last(tail_bytes);
  CUTPOINT_TRY(const auto header, decode_container_header(tail.subspan(footer_bytes), id, key));
  const auto seals = key.sealer_of(header.salt, folder_of(object_kind::container));
  CUTPOINT_TRY(const auto footer, open_footer(*seals, tail, total_bytes, id));
  if (footer.trailer_position < end_position) {
    std::vector<std::uint8_t> begin(end_position - footer.trailer_position);
    CUTPOINT_RETURN_IF_FAILED(object->read(footer.trailer_position, begin));
    buffer.insert(buffer.begin(), begin.begin(), begin.end());
  }
  const auto trailer = std::span(buffer).last(total_bytes - footer.trailer_position);
  return open_trailer(*seals, trailer.first(trailer_bytes(footer.record_count)), footer, id, header.salt);
}

result<container_table> decode_container_table(byte_span container, const std::string& id, const seal_key& key) {
  if (container.size() < object_header_bytes + tail_bytes || container.size() > largest_container_bytes) {
    return damage(container_path(id), "its length is impossible");
  }
  const byte_span tail = container.last(tail_bytes);
  CUTPOINT_TRY(const auto header, decode_container_header(tail.subspan(footer_bytes), id, key));
  const auto seals = key.sealer_of(header.salt, folder_of(object_kind::container));
  CUTPOINT_TRY(const auto footer, open_footer(*seals, tail, container.size(), id));
  const byte_span sealed = container.subspan(footer.trailer_position, trailer_bytes(footer.record_count));
  std::vector<std::uint8_t> trailer(sealed.begin(), sealed.end());
  return open_trailer(*seals, trailer, footer, id, header.salt);
}

result<byte_span> record_opener::open_payload(const placed_record& place, std::span<std::uint8_t> record) const {
  const std::size_t padded_bytes = padded_payload_bytes(place.description.stored_bytes);
  const auto payload = record.subspan(record_header_bytes, padded_bytes);
  const seal_tag tag = tag_at(record, record_header_bytes + padded_bytes);
  if (!seals_->open(sealed_content::record_payload, place.position, payload, tag)) {
    return damage(record_name(place), "its bytes have changed");
  }
  return byte_span(payload.first(place.description.stored_bytes));
}

status record_opener::append_content(const placed_record& place, std::span<std::uint8_t> record,
                                     std::vector<std::uint8_t>& content) const {
  CUTPOINT_TRY(const auto stored, open_payload(place, record));
  const std::size_t begin = content.size();
  if (place.description.codec == record_codec::none) {
    content.insert(content.end(), stored.begin(), stored.end());
    return {};
  }
  content.resize(begin + place.description.raw_bytes);
  if (!decompress(stored, std::span(content).subspan(begin))) {
    content.resize(begin);
    return damage(record_name(place), "it cannot be decompressed");
  }
  return {};
}

result<std::vector<std::uint8_t>> read_record(storage& objects, const container_identity& container,
                                              const placed_record& place, const seal_key& key) {
  std::vector<std::uint8_t> content;
  content.reserve(place.description.raw_bytes);
  std::vector<std::uint8_t> record(record_bytes(place.description.stored_bytes));
  CUTPOINT_RETURN_IF_FAILED(objects.read({object_kind::container, container.id}, place.position, record));
  const status outcome = record_opener(container.salt, key).append_content(place, record, content);
  if (!outcome.ok()) return damage(container_path(container.id), outcome.message());
  return content;
}

result<std::vector<std::uint8_t>> read_payload(storage& objects, const container_identity& container,
                                               const placed_record& place, const seal_key& key) {
  std::vector<std::uint8_t> payload;
  CUTPOINT_RETURN_IF_FAILED(
      read_payloads(objects, container, {&place, 1}, key, [&](const placed_record&, byte_span bytes) {
        payload.assign(bytes.begin(), bytes.end());
        return status();
      }));
  return payload;
}

status read_payloads(storage& objects, const container_identity& container, std::span<const placed_record> places,
                     const seal_key& key, const std::function<status(const placed_record&, byte_span)>& take) {
  const record_opener opener(container.salt, key);
  const auto bytes_of = [](const placed_record& place) { return record_bytes(place.description.stored_bytes); };
  std::vector<std::uint8_t> bytes;
  for (std::size_t first = 0, last; first < places.size(); first = last) {
    const std::uint64_t begin = places[first].position;
    std::uint64_t end = begin + bytes_of(places[first]);
    for (last = first + 1; last < places.size(); ++last) {
      const std::uint64_t next_end = places[last].position + bytes_of(places[last]);
      if (places[last].position > end + most_gap_bytes || next_end - begin > most_range_bytes) break;
      end = std::max(end, next_end);
    }
    bytes.resize(end - begin);
    status read = objects.read({object_kind::container, container.id}, begin, bytes);
    if (!read.ok() && last != first + 1) {  // perhaps one of the others cannot be read, or what lies between
      last = first + 1;
      bytes.resize(bytes_of(places[first]));
      read = objects.read({object_kind::container, container.id}, begin, bytes);
    }
    CUTPOINT_RETURN_IF_FAILED(read);
    for (const placed_record& place : places.subspan(first, last - first)) {
      const auto payload =
          opener.open_payload(place, std::span(bytes).subspan(place.position - begin, bytes_of(place)));
      if (!payload) return damage(container_path(container.id), payload.error().message());
      CUTPOINT_RETURN_IF_FAILED(take(place, *payload));
    }
  }
  return {};
}

container_table recover_records(byte_span container, const std::string& id, const seal_key& key) {
  if (container.size() < object_header_bytes) return {};
  auto header = decode_container_header(container, id, key);
  if (!header) header = decode_container_header(container.last(object_header_bytes), id, key);
  if (!header) return {};
  const auto seals = key.sealer_of(header->salt, folder_of(object_kind::container));
  container_table recovered{{id, header->salt}, {}, container.size()};
  if (const auto table = decode_container_table(container, id, key)) {
    for (const placed_record& each : table->records) {
      const auto tested = test_record(*seals, container, each.position);
      if (tested && tested->is_whole && tested->place == each) recovered.records.push_back(each);
    }
    return recovered;
  }
  for (std::uint64_t position = object_header_bytes; position < container.size();) {
    const auto tested = test_record(*seals, container, position);
    if (tested && tested->is_whole) recovered.records.push_back(tested->place);
    // A header with the right tag says where its record ends, even if the payload is damaged.
    position += tested ? record_bytes(tested->place.description.stored_bytes) : record_alignment;
  }
  return recovered;
}

}  // namespace cutpoint::store
