// The part of the JSON report of `cutpoint dedup` that says where the time went, beside what was predicted.
#pragma once

#include <optional>

#include <cutpoint/dedup_report.h>
#include <nlohmann/json.hpp>

namespace cutpoint::cli {

template <class Number>
[[nodiscard]] nlohmann::ordered_json or_null(const std::optional<Number>& number) {
  return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json();
}

/// An object with fields for the report's own.
[[nodiscard]] nlohmann::ordered_json time_json(const dedup_report& facts);

}  // namespace cutpoint::cli
