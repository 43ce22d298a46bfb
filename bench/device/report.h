// The results of `cutpoint_device` and their reports in Markdown and JSON. Plain C++, tested without a GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/device/answers.h"

namespace cutpoint::bench {

/// A name and a value of the report's heading: hardware and software.
struct named_fact {
  std::string name;
  std::string value;
};

/// The limits of the device, measured in the same run. Rates are in bytes a second, except the last two.
struct device_limits {
  double read = 0;              ///< reading device memory by a plain kernel
  double copy = 0;              ///< within device memory, bytes read and written
  double link_in_pinned = 0;    ///< from host memory to the device, one stream
  double link_out_pinned = 0;   ///< from the device to host memory
  double link_in_pageable = 0;  ///< from memory that is not pinned
  double link_out_pageable = 0;
  double link_in_duplex = 0;  ///< from pinned memory, while as much is copied out
  double link_out_duplex = 0;
  double launch_seconds = 0;      ///< launch of an empty kernel, and the wait for it
  double integer_operations = 0;  ///< operations on 32 bits, a second
};

/// The speed of a number of lanes with batches of one size.
struct lanes_rate {
  std::uint64_t lanes = 0;
  batch_rate rate;
};

/// One algorithm and SHA-1 over data in host memory, or one fingerprint of known chunks in host memory.
struct end_to_end_row {
  std::string name;
  std::string canonical;
  fingerprint_kind fingerprint = fingerprint_kind::sha1;
  std::vector<lanes_rate> rates = {};
  std::string problem = {};
};

/// A variant of the code that batches use: the speed of a scan, or the seconds of a wait.
struct variant_row {
  std::string name;
  std::string variant;
  double bytes_per_second = 0;
  double seconds = 0;
  std::string problem = {};
};

struct device_facts {
  std::string device;
  std::vector<named_fact> about = {};
  device_limits limits = {};
  std::vector<end_to_end_row> end_to_end = {};
  std::vector<end_to_end_row> known_chunks = {};
  std::vector<variant_row> variants = {};
  std::string host_problem = {};  ///< says why data in pinned host memory were not measured; else empty
};

/// Returns the rows' problems as sentences, except `out_of_time`.
[[nodiscard]] std::vector<std::string> failures(const device_facts& facts);

[[nodiscard]] std::string device_markdown(const device_facts& facts);
[[nodiscard]] std::string device_json(const device_facts& facts);

/// The problem of a row for which no time was left.
inline constexpr const char* out_of_time = "not measured: out of time";

}  // namespace cutpoint::bench
