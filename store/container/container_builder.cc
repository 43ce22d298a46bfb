#include "store/container/container_builder.h"

#include <algorithm>
#include <bit>
#include <cassert>

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
  if (status flushed = blake3.flush(); !flushed.ok()) return flushed;
  return built;
}

}  // namespace cutpoint::store
