#include "store/container/record.h"

#include "store/format/fields.h"

namespace cutpoint::store {

namespace {

constexpr std::uint32_t footer_magic = 0x4c544350;  // "PCTL"
constexpr std::size_t footer_reserved_bytes = 16;

/// Whether the parts lie one after the other and fill the container.
bool is_consistent(const container_footer& footer) {
  const std::uint64_t trailer_end = footer.total_bytes - tail_bytes;
  return footer.record_count <= most_records && footer.trailer_position <= trailer_end &&
         trailer_end - footer.trailer_position == trailer_bytes(footer.record_count) &&
         footer.metadata_position >= object_header_bytes && footer.metadata_position <= footer.trailer_position;
}

}  // namespace

void encode_description(const record_description& description, std::uint32_t word, std::vector<std::uint8_t>& bytes) {
  field_writer(bytes)
      .number(word)
      .number(static_cast<std::uint8_t>(description.kind))
      .number(static_cast<std::uint8_t>(description.codec))
      .number(description.content.size)
      .zeros(1)
      .number(description.raw_bytes)
      .number(description.stored_bytes)
      .bytes(description.content.bytes);
}

std::optional<std::uint32_t> decode_description(byte_span bytes, record_description& description) {
  field_reader fields(bytes);
  const auto word = fields.number<std::uint32_t>();
  const auto kind = fields.number<std::uint8_t>();
  const auto codec = fields.number<std::uint8_t>();
  description.content.size = fields.number<std::uint8_t>();
  const auto zero = fields.number<std::uint8_t>();
  description.raw_bytes = fields.number<std::uint32_t>();
  description.stored_bytes = fields.number<std::uint32_t>();
  fields.read(description.content.bytes);
  description.kind = static_cast<record_kind>(kind);
  description.codec = static_cast<record_codec>(codec);
  const bool is_valid =
      fields.ok() && zero == 0 && kind >= static_cast<std::uint8_t>(record_kind::chunk) &&
      kind <= static_cast<std::uint8_t>(record_kind::padding) &&
      codec <= static_cast<std::uint8_t>(record_codec::zstd) && description.content.size <= largest_digest_bytes &&
      description.raw_bytes <= largest_raw_bytes && description.stored_bytes <= description.raw_bytes &&
      (description.codec != record_codec::none || description.stored_bytes == description.raw_bytes);
  if (!is_valid) return std::nullopt;
  return word;
}

std::vector<std::uint8_t> encode(const container_footer& footer) {
  std::vector<std::uint8_t> bytes;
  field_writer(bytes)
      .number(footer_magic)
      .number(footer.record_count)
      .number(footer.metadata_position)
      .number(footer.trailer_position)
      .number(footer.total_bytes)
      .zeros(footer_reserved_bytes);
  return bytes;
}

std::optional<container_footer> decode_footer(byte_span bytes, std::uint64_t total_bytes) {
  field_reader fields(bytes);
  const auto magic_word = fields.number<std::uint32_t>();
  container_footer footer;
  footer.record_count = fields.number<std::uint32_t>();
  footer.metadata_position = fields.number<std::uint64_t>();
  footer.trailer_position = fields.number<std::uint64_t>();
  footer.total_bytes = fields.number<std::uint64_t>();
  if (!fields.ok() || magic_word != footer_magic || footer.total_bytes != total_bytes) return std::nullopt;
  if (total_bytes < tail_bytes || !is_consistent(footer)) return std::nullopt;
  return footer;
}

std::optional<std::vector<placed_record>> decode_trailer(byte_span bytes, const container_footer& footer) {
  std::vector<placed_record> records;
  records.reserve(footer.record_count);
  std::uint64_t end = object_header_bytes;
  for (std::uint32_t i = 0; i < footer.record_count; ++i) {
    placed_record& record = records.emplace_back();
    const auto word = decode_description(bytes.subspan(i * description_bytes, description_bytes), record.description);
    if (!word) return std::nullopt;
    record.position = std::uint64_t{*word} * record_alignment;
    const bool is_data = record.description.kind == record_kind::chunk;
    if (record.position != end || (!is_data && end < footer.metadata_position)) return std::nullopt;
    end += record_bytes(record.description.stored_bytes);
    if (end > (is_data ? footer.metadata_position : footer.trailer_position)) return std::nullopt;
  }
  if (end != footer.trailer_position) return std::nullopt;
  return records;
}

}  // namespace cutpoint::store
