// The options that all functions of the package share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <cutpoint/engine.h>
#include <cutpoint/store.h>
#include <nanobind/nanobind.h>

#include "bindings/python/process.h"

namespace cutpoint::python {

struct settings {
  feed_options feed;
  thread_choice threads;
  /// Parameters that were accepted but have no effect.
  std::vector<std::string> warnings;

  [[nodiscard]] std::size_t digest_bytes() const;
};

/// `cuts` is a name of the catalog, or a canonical string if there are no parameters. Throws ValueError for names,
/// parameters and bounds.
[[nodiscard]] settings make_settings(const std::string& cuts,
                                     const std::vector<std::pair<std::string, std::string>>& parameters,
                                     const std::string& fingerprint, std::optional<nanobind::bytes> fingerprint_key,
                                     const std::string& backend, nanobind::handle threads,
                                     std::optional<std::uint64_t> memory_bytes);

/// The lanes of a store's backups, copies and pushes, as Python gives them: a name of a back end; numbers of GPUs; the most memory
/// on each, or None; the size of segments, or 0; and whether rates are measured.
using lane_fields = std::tuple<std::string, std::vector<int>, std::optional<std::uint64_t>, std::uint64_t, bool>;
/// Throws ValueError for an unknown name, CutpointError for a back end that does not run here.
[[nodiscard]] store_lane_options make_lanes(const lane_fields& fields);

}  // namespace cutpoint::python
