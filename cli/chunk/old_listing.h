// A listing that `chunk` wrote before, read back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/source.h>
#include <cutpoint/status.h>

namespace cutpoint::cli {

/// What a listing has of one input: no chunk where the input was empty, or is not in the listing.
struct old_listing {
  std::string cuts;  ///< the canonical string
  fingerprint_recipe fingerprint = fingerprint_kind::none;
  std::vector<chunk> chunks;
  std::vector<digest> digests;  ///< of each chunk
};

/// Reads from `file`, which has the format `text` or `jsonl`, what it has of the input that was named `path`. A listing
/// with a key is read with one: whether it is the same, no listing tells. Errors: io_error; cancelled;
/// invalid_argument, when it is no such listing, with the line, wants a key or takes none, or tells that the input
/// failed.
[[nodiscard]] result<old_listing> read_listing(const std::string& file, const std::string& path,
                                               const std::optional<fingerprint_key>& key, const cancellation* cancel);

}  // namespace cutpoint::cli
