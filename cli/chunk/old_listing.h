// Reads a listing that `chunk` wrote before.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/source.h>
#include <cutpoint/status.h>

namespace cutpoint::cli {

/// The chunks of one input. There are none if the input was empty or is not in the listing.
struct old_listing {
  std::string cuts;  ///< the canonical string
  fingerprint_recipe fingerprint = fingerprint_kind::none;
  std::vector<chunk> chunks;
  std::vector<digest> digests;  ///< of each chunk
};

/// Reads the chunks of the input `path` from a listing in the format `text` or `jsonl`. A listing with keyed digests
/// needs a key; no listing says which one. Errors: io_error; cancelled; invalid_argument, if the file is no such
/// listing, if a key is missing or not allowed, or if the input failed. The message has the line.
[[nodiscard]] result<old_listing> read_listing(const std::string& file, const std::string& path,
                                               const std::optional<fingerprint_key>& key, const cancellation* cancel);

}  // namespace cutpoint::cli
