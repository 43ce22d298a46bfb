// What a caller asks for, in the engine's words, and the engines that do it.
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
  /// What was accepted without effect.
  std::vector<std::string> warnings;
};

/// `cuts` is a name of the catalog, or a canonical string where there are no parameters. Throws what is wrong.
[[nodiscard]] settings make_settings(const std::string& cuts,
                                     const std::vector<std::pair<std::string, std::string>>& parameters,
                                     const std::string& fingerprint, std::optional<nanobind::bytes> fingerprint_key,
                                     const std::string& backend, std::uint64_t threads,
                                     std::optional<std::uint64_t> memory_bytes);

/// The process's engine of so many threads, made at the first call; its threads sleep while there is no feed. With the
/// GIL or without it.
[[nodiscard]] result<std::shared_ptr<engine>> engine_of(std::uint64_t threads);

/// In the child of a fork, which has none of the threads.
void forget_engines();

}  // namespace cutpoint::python
