// The options of a subcommand as data, which cli/program.cc parses and cli/pages describes, and checks of their values.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <cutpoint/status.h>
#include <cutpoint/text.h>

#include "cli/common/console.h"

namespace cutpoint::cli {

/// Where the value of an option goes. A flag sets a bool or calls a function; with a vector an option is repeatable. Without a target
/// the option asks for help or for the version.
using option_target = std::variant<std::monostate, bool*, std::function<void()>, std::string*,
                                   std::optional<std::string>*, std::vector<std::string>*>;

/// An option, or an argument that is known by its position.
struct option {
  std::string names;  ///< "-o,--output"; "PATH" for an argument
  std::string value;  ///< what help calls the value: "FILE"; empty for a flag and for an argument
  std::string meaning;
  option_target target;
  std::string default_value;  ///< that help shows; may be empty
  std::string environment;    ///< the variable that has the value if the option is not given; may be empty
  std::vector<const option*> alternatives;  ///< of which one that is given takes the place of this option's variable
  std::string empty_problem;                ///< why an empty value is wrong; empty if it is right
  std::vector<std::string_view>
      choices;          ///< the names that the value may be; empty if they depend on more than this option
  std::string heading;  ///< of the options in help among which it stands
  std::vector<const option*> excluded;  ///< options that cannot be given together with this one
  bool is_required = false;
  bool is_given = false;  ///< on the command line; known when the subcommand runs

  /// Each returns the option.
  option& excludes(option& other);
  option& required();
  option& one_of(std::vector<std::string_view> values);
  option& or_variable(std::string name);
  option& or_else(option& other);  ///< makes the two alternatives of each other
  option& not_empty(std::string problem);

  /// Returns "-o" and "--output"; nothing for an argument.
  [[nodiscard]] std::vector<std::string> words() const;
  [[nodiscard]] bool is_argument() const { return !names.starts_with('-'); }
  [[nodiscard]] bool takes_value() const { return target.index() >= 3; }
  [[nodiscard]] bool is_repeatable() const { return std::holds_alternative<std::vector<std::string>*>(target); }
};

/// The options of a subcommand or of a program, in the order of help. They stay where they are.
class option_list {
 public:
  /// The first option is --help.
  explicit option_list(std::string command_name);

  [[nodiscard]] const std::string& command_name() const { return command_name_; }

  /// Adds an option that takes a value, into a string, an optional string or a vector of strings, in which it is repeatable. Help shows
  /// the contents of a string as the default.
  template <class Target>
  option& add_value(std::string_view names, Target& target, std::string_view value, std::string_view meaning) {
    return add(names, &target, value, meaning);
  }
  /// Adds an option without a value, which sets a bool or calls a function.
  option& add_flag(std::string_view names, bool& target, std::string_view meaning);
  option& add_flag(std::string_view names, std::function<void()> function, std::string_view meaning);
  /// Adds an argument that is known by its position. Its target is one of `add_value`.
  template <class Target>
  option& add_argument(std::string_view name, Target& target, std::string_view meaning) {
    return add(name, &target, {}, meaning);
  }
  /// Adds an option that asks for a text instead of a run.
  option& add_question(std::string_view names, std::string_view meaning) { return add(names, {}, {}, meaning); }
  /// Adds -q.
  option& add_quiet(verbosity& level);
  /// Adds -q and -v, which exclude each other.
  void add_verbosity(verbosity& level);

  [[nodiscard]] option& find(std::string_view word);

  [[nodiscard]] const std::deque<option>& all() const { return options_; }
  [[nodiscard]] std::deque<option>& all() { return options_; }

 private:
  option& add(std::string_view names, option_target target, std::string_view value, std::string_view meaning);

  std::string command_name_;
  std::deque<option> options_;
};

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

// --- One of several names --------------------------------------------------------------------------------------------

template <class Value, std::size_t count>
using choice = std::array<std::pair<std::string_view, Value>, count>;

template <class Value, std::size_t count>
[[nodiscard]] std::vector<std::string_view> names_in(const choice<Value, count>& choices) {
  std::vector<std::string_view> names;
  for (const auto& each : choices) names.push_back(each.first);
  return names;
}

/// Returns the value of a name. Errors: unknown_name, with the names that there are.
template <class Value, std::size_t count>
[[nodiscard]] result<Value> chosen(std::string_view what, std::string_view name, const choice<Value, count>& choices) {
  const auto row = std::find_if(choices.begin(), choices.end(), [&](const auto& each) { return each.first == name; });
  if (row != choices.end()) return row->second;
  return unknown_name(what, name, names_in(choices));
}

}  // namespace cutpoint::cli
