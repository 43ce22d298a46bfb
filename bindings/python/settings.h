// The options that all functions of the package share, and the engines that they use.
#pragma once

#include <cstdint>
#include <memory>
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
};

/// `cuts` is a name of the catalog, or a canonical string if there are no parameters. Throws ValueError for names,
/// parameters and bounds.
[[nodiscard]] settings make_settings(const std::string& cuts,
                                     const std::vector<std::pair<std::string, std::string>>& parameters,
                                     const std::string& fingerprint, std::optional<nanobind::bytes> fingerprint_key,
                                     const std::string& backend, std::uint64_t threads,
                                     std::optional<std::uint64_t> memory_bytes);

/// Returns the process's engine with this number of threads. The first call makes it. Its threads sleep while it has no
/// feed. The GIL is not needed.
[[nodiscard]] result<std::shared_ptr<engine>> find_engine(std::uint64_t thread_count);

/// Must be called in the child of a fork, in which the engines have no threads.
void forget_engines();

}  // namespace cutpoint::python
