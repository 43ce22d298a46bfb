#include "store/format/record.h"

#include <algorithm>
#include <cassert>
#include <new>

#include <cutpoint/context.h>
#include <cutpoint/text.h>
#include <zstd.h>
#include <zstd_errors.h>

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

namespace {

constexpr std::size_t session_bytes = std::tuple_size_v<session_id>;
constexpr std::size_t session_digits = 2 * session_bytes;

std::string digits_of(std::span<const std::uint8_t> bytes) {
  digest copied{{}, static_cast<std::uint8_t>(bytes.size())};
  std::ranges::copy(bytes, copied.bytes.begin());
  return to_hex(copied);
}

}  // namespace

container_name container_name_in(const session_id& session, const digest& content) noexcept {
  assert(content.size == container_name_bytes - session_bytes);
  container_name name = {};
  const auto rest = std::copy(session.begin(), session.end(), name.begin());
  std::copy_n(content.bytes.begin(), container_name_bytes - session_bytes, rest);
  return name;
}

std::string id_of(const container_name& name) {
  const std::span bytes(name);
  return container_prefix(digits_of(bytes.first(session_bytes))) + digits_of(bytes.subspan(session_bytes));
}

std::optional<container_name> container_name_of(std::string_view id) {
  container_name name = {};
  const std::span bytes(name);
  if (id.size() <= session_digits || id[session_digits] != '/') return std::nullopt;
  const bool is_name = read_hex(id.substr(0, session_digits), bytes.first(session_bytes)) &&
                       read_hex(id.substr(session_digits + 1), bytes.subspan(session_bytes));
  return is_name ? std::optional(name) : std::nullopt;
}

std::string container_prefix(const std::string& session) { return session + "/"; }

namespace {

/// Content from this length on is compressed only if a sample of it can be.
constexpr std::size_t sampled_content_bytes = 16 * KiB;
constexpr std::size_t sample_bytes = 4 * KiB;

constexpr std::size_t largest_paying_frame(std::size_t content_bytes) {
  return content_bytes - content_bytes / paying_compression_divisor;
}

template <class Context>
Context* required(Context* context) {
  if (context == nullptr) throw std::bad_alloc();
  return context;
}

}  // namespace

struct compressor::state {
  std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context{required(ZSTD_createCCtx()), ZSTD_freeCCtx};

  /// Returns whether the frame is short enough to pay.
  bool compress(byte_span content, std::vector<std::uint8_t>& frame) const {
    frame.resize(largest_paying_frame(content.size()));
    const std::size_t size = ZSTD_compress2(context.get(), frame.data(), frame.size(), content.data(), content.size());
    if (ZSTD_isError(size) != 0) {
      if (ZSTD_getErrorCode(size) == ZSTD_error_memory_allocation) throw std::bad_alloc();
      return false;
    }
    frame.resize(size);
    return true;
  }
};

compressor::compressor(int level) : state_(std::make_unique<state>()) {
  ZSTD_CCtx* context = state_->context.get();
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);  // the record knows it
}
compressor::compressor(compressor&&) noexcept = default;
compressor& compressor::operator=(compressor&&) noexcept = default;
compressor::~compressor() = default;

bool compressor::compress(byte_span content, std::vector<std::uint8_t>& frame) {
  if (content.size() >= sampled_content_bytes) {
    const byte_span sample = content.subspan(content.size() / 2 - sample_bytes / 2, sample_bytes);
    if (!state_->compress(sample, frame)) return false;
  }
  return state_->compress(content, frame);
}

bool decompress(byte_span frame, std::span<std::uint8_t> content) {
  // Making a context takes longer than decompressing a short record.
  thread_local const std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context{required(ZSTD_createDCtx()),
                                                                                     ZSTD_freeDCtx};
  const std::size_t size =
      ZSTD_decompressDCtx(context.get(), content.data(), content.size(), frame.data(), frame.size());
  return ZSTD_isError(size) == 0 && size == content.size();
}

}  // namespace cutpoint::store
