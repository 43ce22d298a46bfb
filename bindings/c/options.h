// The options of a feed in C, checked and converted to the engine's.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cutpoint/chunks.h>
#include <cutpoint/cutpoint.h>
#include <cutpoint/engine.h>

#include "bindings/c/structures.h"

namespace cutpoint::embed {

/// Makes the chunker for a name of the catalog or a canonical string. `key_bytes` is null or a secret key. Errors: as
/// `make_chunker` and `parse_canonical`.
[[nodiscard]] result<chunker> parse_cuts(std::string_view text, const std::uint8_t* key_bytes = nullptr);

/// The options of the engine's feed, and those that only the interface for C has.
struct read_options {
  feed_options feed;
  std::uint64_t waiting_chunks = 65'536;
};
/// Checks and converts options; null gives the defaults.
[[nodiscard]] outcome read(const cutpoint_feed_options* user_options, std::optional<read_options>& output);

/// The rates of the jobs that were measured. Thread-safe.
class measured_rates {
 public:
  /// Measures a job and keeps its rates. Returns null if there is nothing to measure. Errors: as `measure_rates`.
  [[nodiscard]] result<std::shared_ptr<const job_rates>> measure(const feed_options& job, std::uint64_t thread_count);
  /// Gives a job without rates those that were measured for its cuts and its fingerprint.
  void complete(feed_options& job) const;

 private:
  using job_key = std::pair<std::string, fingerprint_kind>;  ///< the canonical string of the cuts, and the fingerprint

  mutable std::mutex mutex_;
  std::map<job_key, std::shared_ptr<const job_rates>> known_;
};

/// Converts rates for the caller; null gives zeros.
[[nodiscard]] cutpoint_rates rates_of(const job_rates* rates) noexcept;

/// Changes a recipe to the fingerprint of this name, with this key of 32 bytes. Either may be null.
[[nodiscard]] outcome read_fingerprint(const char* name, const std::uint8_t* key, fingerprint_recipe& recipe);
/// Checks and converts the name of a back end; null is "auto".
[[nodiscard]] outcome read_back_end(const char* name, backend& where);
/// Checks and converts the numbers of GPUs; null is the first.
[[nodiscard]] outcome read_devices(const std::int32_t* user_devices, std::uint64_t count, std::vector<int>& devices);

/// Converts what a feed has done, with the number of chunks that it has delivered.
[[nodiscard]] cutpoint_statistics statistics_of(const feed_statistics& measured, std::uint64_t chunk_count) noexcept;
/// Converts a chunk of the engine.
[[nodiscard]] cutpoint_chunk to_c(const chunk_record& record) noexcept;

}  // namespace cutpoint::embed

// The engine's handle. Feeds share ownership of the engine, so the handle may be destroyed before them.

struct cutpoint_engine {
  std::shared_ptr<cutpoint::engine> implementation;
  cutpoint::embed::measured_rates rates = {};
};
