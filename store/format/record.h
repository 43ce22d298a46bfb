// Records of a container: what is known of each, how a container's bytes are laid out, and how containers are named and compressed.
//
//   header 64 | data records | metadata records | trailer: 48 for each record, tag 16 | footer 64 | header again 64
//
//   record: description 48, tag 16 | payload, padded to a multiple of 16 | tag 16
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/fingerprint.h>

#include "store/format/object_header.h"
#include "store/format/sealer.h"

namespace cutpoint::store {

/// The numbers are in files and never change.
enum class record_kind : std::uint8_t {
  chunk = 1,    ///< a chunk of a file, in the data part
  node = 2,     ///< a node of a tree or of an extent list, in the metadata part
  padding = 3,  ///< zeros that hide the length of an encrypted container, in the metadata part
};
enum class record_codec : std::uint8_t { none = 0, zstd = 1 };

/// What is known of a record besides its place.
struct record_description {
  record_kind kind = record_kind::chunk;
  record_codec codec = record_codec::none;
  std::uint32_t raw_bytes = 0;     ///< the length of the content; at most `largest_raw_bytes`
  std::uint32_t stored_bytes = 0;  ///< the length of the payload; at most `raw_bytes`, and equal to it without codec
  digest content = {};             ///< the store's digest of the content

  friend bool operator==(const record_description&, const record_description&) = default;
};

/// A record and the position of its first byte in its container, a multiple of 16.
struct placed_record {
  record_description description;
  std::uint64_t position = 0;

  friend bool operator==(const placed_record&, const placed_record&) = default;
};

inline constexpr std::uint32_t largest_raw_bytes = std::uint32_t{1} << 26;
inline constexpr std::uint32_t most_records = std::uint32_t{1} << 18;
inline constexpr std::uint64_t largest_container_bytes = std::uint64_t{1} << 28;

inline constexpr std::size_t record_alignment = 16;
inline constexpr std::size_t description_bytes = 48;
inline constexpr std::size_t record_header_bytes = description_bytes + tag_bytes;
inline constexpr std::size_t footer_fields_bytes = 48;
inline constexpr std::size_t footer_bytes = footer_fields_bytes + tag_bytes;
/// The bytes after the trailer.
inline constexpr std::size_t tail_bytes = footer_bytes + object_header_bytes;

/// Returns the length of a payload with its padding, without its tag.
[[nodiscard]] constexpr std::size_t padded_payload_bytes(std::size_t stored_bytes) noexcept {
  return (stored_bytes + record_alignment - 1) / record_alignment * record_alignment;
}
/// Returns the length of a whole record.
[[nodiscard]] constexpr std::size_t record_bytes(std::size_t stored_bytes) noexcept {
  return record_header_bytes + padded_payload_bytes(stored_bytes) + tag_bytes;
}
[[nodiscard]] constexpr std::size_t trailer_bytes(std::size_t record_count) noexcept {
  return record_count * description_bytes + tag_bytes;
}

/// The first word of a record's header. The trailer has the record's position / 16 there.
inline constexpr std::uint32_t record_magic = 0x44524350;  // "PCRD"

/// Appends the 48 bytes of a description, with `word` as their first field.
void encode_description(const record_description& description, std::uint32_t word, std::vector<std::uint8_t>& bytes);

/// Reads 48 bytes, and returns their first field. Returns nullopt if another field is out of its bounds.
[[nodiscard]] std::optional<std::uint32_t> decode_description(byte_span bytes, record_description& description);

/// The fields of a footer. They describe the parts of a container of `total_bytes`.
struct container_footer {
  std::uint32_t record_count = 0;
  std::uint64_t metadata_position = 0;  ///< where the data records end and the metadata records begin
  std::uint64_t trailer_position = 0;
  std::uint64_t total_bytes = 0;

  friend bool operator==(const container_footer&, const container_footer&) = default;
};

[[nodiscard]] std::vector<std::uint8_t> encode(const container_footer& footer);
/// Reads the fields of a footer, without its tag. Returns nullopt if they do not describe a container of `total_bytes`.
[[nodiscard]] std::optional<container_footer> decode_footer(byte_span bytes, std::uint64_t total_bytes);

/// Reads a trailer's descriptions, without their tag. Returns nullopt unless the records follow each other within the
/// parts that the footer describes.
[[nodiscard]] std::optional<std::vector<placed_record>> decode_trailer(byte_span bytes, const container_footer& footer);

/// The 16 bytes of a session's id.
using session_id = std::array<std::uint8_t, 16>;

inline constexpr std::size_t container_name_bytes = 48;
/// The bytes of the session's id, and of the digest.
using container_name = std::array<std::uint8_t, container_name_bytes>;

[[nodiscard]] container_name container_name_in(const session_id& session, const digest& content) noexcept;

/// Returns the id of the container with a name: "SESSION/DIGEST", in hexadecimal.
[[nodiscard]] std::string id_of(const container_name& name);
/// Returns the name of the container with an id, or nullopt if the id is not that of a container.
[[nodiscard]] std::optional<container_name> container_name_of(std::string_view id);
/// Returns what the ids of a session's containers begin with.
[[nodiscard]] std::string container_prefix(const std::string& session);

/// Holds the memory of the compressor, about 1 MiB at low levels. Movable. Not thread-safe.
class compressor {
 public:
  /// `level` is zstd's, 1 to 19.
  explicit compressor(int level);
  compressor(compressor&&) noexcept;
  compressor& operator=(compressor&&) noexcept;
  ~compressor();

  /// Writes `content` as one zstd frame into `frame`. Returns false if that does not save enough to pay, which costs
  /// little for content that cannot be compressed: only a sample of it is compressed then. `frame` is unspecified then.
  [[nodiscard]] bool compress(byte_span content, std::vector<std::uint8_t>& frame);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Fills `content` from a frame. Returns false unless the frame has exactly that many bytes. Never writes more. Each thread
/// that has called it keeps about 160 KiB.
[[nodiscard]] bool decompress(byte_span frame, std::span<std::uint8_t> content);

}  // namespace cutpoint::store
