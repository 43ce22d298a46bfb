// Values of options: how they are declared, and sizes and numbers within bounds.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <CLI/CLI.hpp>
#include <cutpoint/status.h>

namespace cutpoint::cli {

/// Adds an option that takes one value, which help calls `value`. If the target is a vector, the option is repeatable.
/// If it is a string, help shows what the string contains as the default.
template <class Target>
CLI::Option* add_value_option(CLI::App& command, const char* names, Target& target, const char* value,
                              const char* meaning) {
  CLI::Option* const option = command.add_option(names, target, meaning)->type_name(value);
  if constexpr (std::is_same_v<Target, std::vector<std::string>>) option->allow_extra_args(false);
  if constexpr (std::is_same_v<Target, std::string>) option->capture_default_str();
  return option;
}

/// Returns the error for an option or an argument that cannot be used.
[[nodiscard]] status usage_error(std::string message);

inline constexpr std::uint64_t most_threads = 4096;
inline constexpr std::uint64_t unbounded = std::numeric_limits<std::uint64_t>::max();

/// Parses the value of an option as a number. Errors: invalid_argument, with the option, its value and the bounds.
[[nodiscard]] result<std::uint64_t> checked_number(std::string_view option, std::string_view text, std::uint64_t least,
                                                   std::uint64_t most = unbounded);
/// Parses the value of an option as a size in bytes. Errors: as `checked_number`.
[[nodiscard]] result<std::uint64_t> checked_size(std::string_view option, std::string_view text, std::uint64_t least,
                                                 std::uint64_t most = unbounded);

/// Finds the only id that begins with a text. `noun` says what has the ids. Errors: invalid_argument, if none or several do.
[[nodiscard]] result<std::string> id_that_begins(const std::string& text, const std::vector<std::string>& ids,
                                                 std::string_view noun);

/// Parses "5%" or "5". Errors: invalid_argument, with the bounds.
[[nodiscard]] result<double> checked_percent(std::string_view option, std::string_view text);

}  // namespace cutpoint::cli
