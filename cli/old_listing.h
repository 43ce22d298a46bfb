// A listing that `chunk` wrote before, read back.
#pragma once

#include <string>
#include <vector>

#include <cutpoint/bytes.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/source.h>
#include <cutpoint/status.h>

namespace cutpoint::cli {

/// What a listing has of one input.
struct old_listing {
  std::string cuts;  ///< the canonical string
  fingerprint_kind fingerprint = fingerprint_kind::none;
  std::vector<chunk> chunks;
  std::vector<digest> digests;  ///< of each chunk
};

/// Reads from `file`, which has the format `text` or `jsonl`, what it has of the input that was named `path`. Errors:
/// io_error; cancelled; invalid_argument, when it is no such listing, with the line, tells that the input failed, or has no chunk of it.
[[nodiscard]] result<old_listing> read_listing(const std::string& file, const std::string& path,
                                               const cancellation* cancel);

}  // namespace cutpoint::cli
