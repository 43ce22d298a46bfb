// The options that all functions of the package share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/engine.h>
#include <nanobind/nanobind.h>

namespace cutpoint::python {

struct settings {
  feed_options feed;
  std::uint64_t threads = 0;
  /// Parameters that were accepted but have no effect.
  std::vector<std::string> warnings;

  [[nodiscard]] std::size_t digest_bytes() const;
};

/// `cuts` is a name of the catalog, or a canonical string if there are no parameters. Throws ValueError for names,
/// parameters and bounds.
[[nodiscard]] settings make_settings(const std::string& cuts,
                                     const std::vector<std::pair<std::string, std::string>>& parameters,
                                     const std::string& fingerprint, std::optional<nanobind::bytes> fingerprint_key,
                                     const std::string& backend, std::uint64_t threads,
                                     std::optional<std::uint64_t> memory_bytes);

}  // namespace cutpoint::python
