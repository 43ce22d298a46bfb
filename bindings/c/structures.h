// Reads and writes structures of the caller, which may be shorter or longer than this release's.
#pragma once

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <cutpoint/cutpoint.h>
#include <cutpoint/status.h>

namespace cutpoint::embed {

/// Success, or a `cutpoint_status` with a sentence.
struct outcome {
  cutpoint_status code = CUTPOINT_OK;
  std::string message = {};
  int system_error = 0;

  outcome() = default;
  outcome(cutpoint_status failure, std::string why) : code(failure), message(std::move(why)) {}
  outcome(const status& status)  // NOLINT: converts implicitly
      : code(static_cast<cutpoint_status>(status.code())),
        message(status.message()),
        system_error(status.system_error()) {}

  [[nodiscard]] bool ok() const noexcept { return code == CUTPOINT_OK; }
};

/// Writes a failure for the caller; `error` may be null.
inline void write_error(cutpoint_error* error, cutpoint_status code, std::string_view message,
                        int system_error) noexcept {
  if (error == nullptr) return;
  *error = {};
  error->code = code;
  error->system_error = system_error;
  message.copy(error->message, sizeof error->message - 1);
}

/// Runs `body`, which returns an outcome and may throw. Returns the number of the outcome or of the exception, and writes
/// both to `error`, which may be null.
template <class Body>
cutpoint_status guarded(cutpoint_error* error, Body&& body) noexcept {
  try {
    const outcome outcome_of_body = std::forward<Body>(body)();
    write_error(error, outcome_of_body.code, outcome_of_body.message, outcome_of_body.system_error);
    return outcome_of_body.code;
  } catch (const std::bad_alloc&) {
    write_error(error, CUTPOINT_OUT_OF_MEMORY, "there is no memory left", 0);
    return CUTPOINT_OUT_OF_MEMORY;
  } catch (...) {
    write_error(error, CUTPOINT_INTERNAL_ERROR, "an unexpected exception was thrown", 0);
    return CUTPOINT_INTERNAL_ERROR;
  }
}

/// Writes text as documented for `cutpoint_list_names`.
inline outcome write_text(std::string_view whole, char* text, std::size_t capacity, std::size_t* length) {
  if (text == nullptr && capacity != 0) return {CUTPOINT_INVALID_ARGUMENT, "text is null, but its capacity is not 0"};
  if (length != nullptr) *length = whole.size();
  if (capacity == 0) return {};
  text[whole.copy(text, capacity - 1)] = 0;
  if (whole.size() < capacity) return {};
  return {CUTPOINT_BUFFER_TOO_SMALL,
          "a text of " + std::to_string(whole.size()) + " bytes and a 0 does not fit into " + std::to_string(capacity)};
}

/// Sets `chosen` to the choice with a number, which the caller's field `name` has.
template <class Choices, class Choice>
outcome read_choice(std::uint64_t number, std::string_view name, const Choices& choices, Choice& chosen) {
  if (number >= choices.size()) {
    return {CUTPOINT_INVALID_ARGUMENT, std::string(name) + " = " + std::to_string(number) + " must be at most " +
                                           std::to_string(choices.size() - 1)};
  }
  chosen = choices[number];
  return {};
}

/// No structure of any release is larger than this. A larger `struct_bytes` was not initialized.
inline constexpr std::uint64_t largest_structure_bytes = 4096;

inline outcome check_structure_bytes(std::string_view name, std::uint64_t struct_bytes, std::uint64_t smallest) {
  if (struct_bytes >= smallest && struct_bytes <= largest_structure_bytes) return {};
  return {CUTPOINT_INVALID_ARGUMENT, std::string(name) + "'s struct_bytes = " + std::to_string(struct_bytes) +
                                         " is not the size of a cutpoint_" + std::string(name)};
}

/// Copies the structure `user_structure` into `read`, which must be zeros. If `user_structure` is null, `read` keeps its zeros, which stand
/// for the defaults. `first_bytes` is the size of the structure in the first release.
template <class Structure>
outcome read_structure(const Structure* user_structure, std::string_view name, std::uint64_t first_bytes,
                       Structure& read) {
  static_assert(std::is_trivially_copyable_v<Structure> && sizeof(Structure) <= largest_structure_bytes);
  if (user_structure == nullptr) return {};
  if (outcome size = check_structure_bytes(name, user_structure->struct_bytes, first_bytes); !size.ok()) return size;
  const auto* const begin = reinterpret_cast<const unsigned char*>(user_structure);
  const std::uint64_t known_bytes = std::min<std::uint64_t>(user_structure->struct_bytes, sizeof(Structure));
  if (std::any_of(begin + known_bytes, begin + user_structure->struct_bytes, [](unsigned char b) { return b != 0; })) {
    return {CUTPOINT_INVALID_ARGUMENT,
            std::string(name) + " has fields that this release of the library does not have; leave them 0"};
  }
  std::memcpy(&read, user_structure, known_bytes);
  return {};
}

/// Copies as much of `known` as fits into the caller's structure, and fills the rest of it with zeros.
template <class Structure>
outcome write_structure(const Structure& known, std::string_view name, Structure& user_structure) {
  static_assert(std::is_trivially_copyable_v<Structure>);
  const std::uint64_t struct_bytes = user_structure.struct_bytes;
  if (outcome size = check_structure_bytes(name, struct_bytes, sizeof struct_bytes); !size.ok()) return size;
  auto* const begin = reinterpret_cast<unsigned char*>(&user_structure);
  const std::uint64_t known_bytes = std::min<std::uint64_t>(struct_bytes, sizeof(Structure));
  std::memcpy(begin, &known, known_bytes);
  std::fill(begin + known_bytes, begin + struct_bytes, static_cast<unsigned char>(0));
  user_structure.struct_bytes = struct_bytes;
  return {};
}

}  // namespace cutpoint::embed
