// What a feed is asked for in C, checked and in the engine's words.
#pragma once

#include <optional>
#include <string_view>

#include <cutpoint/chunks.h>
#include <cutpoint/engine.h>

#include "bindings/c/outcome.h"

namespace cutpoint::embed {

/// A name of the catalog or a canonical string. Errors: as `make_chunker` and `parse_canonical`.
[[nodiscard]] result<chunker> parse_cuts(std::string_view text);

/// The options, and what is C's alone. `given` may be null.
struct read_options {
  feed_options feed;
  std::uint64_t waiting_chunks = 65'536;
};
[[nodiscard]] outcome read(const cutpoint_feed_options* given, std::optional<read_options>& output);

/// A chunk of the engine as C has it.
[[nodiscard]] cutpoint_chunk to_c(const chunk_record& record) noexcept;

}  // namespace cutpoint::embed
