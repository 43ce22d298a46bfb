// What `cutpoint_device` found out, and how it is told: Markdown for people, JSON for programs. Plain C++, tested without
// a GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/device/figures.h"

namespace cutpoint::bench {

/// A name and a value of the report's heading: hardware, software, what was measured on.
struct named_fact {
  std::string name;
  std::string value;
};

/// What the device does at most, measured in the same run. Bytes a second, but for the last two.
struct device_limits {
  double read = 0;              ///< of device memory, by a plain kernel
  double copy = 0;              ///< within device memory, bytes read and written
  double link_in_pinned = 0;    ///< from host memory to the device, one stream
  double link_out_pinned = 0;   ///< back
  double link_in_pageable = 0;  ///< from memory that is not locked
  double link_out_pageable = 0;
  double link_in_beside_out = 0;  ///< from pinned memory, while as much is copied out
  double link_out_beside_in = 0;
  double launch_seconds = 0;      ///< of a kernel that does nothing, with the wait for it
  double integer_operations = 0;  ///< of 32 bits, a second

  [[nodiscard]] device_rates rates() const { return {.read = read, .link_in = link_in_pinned}; }
};

/// One algorithm and fingerprint, over data in device memory.
struct resident_row {
  std::string name;
  std::string canonical;
  fingerprint_kind fingerprint = fingerprint_kind::none;
  double mean_chunk_bytes = 0;
  std::vector<batch_rate> rates = {};
  std::string problem = {};  ///< empty, or why nothing (more) was measured
};

/// What so many lanes went at, with batches of one size.
struct lanes_rate {
  std::uint64_t lanes = 0;
  batch_rate rate;
};

/// One algorithm and SHA-1 over data in host memory, or one fingerprint of chunks there that are known.
struct end_to_end_row {
  std::string name;
  std::string canonical;
  fingerprint_kind fingerprint = fingerprint_kind::sha1;
  std::vector<lanes_rate> rates = {};
  std::string problem = {};
};

/// One algorithm and fingerprint through the whole engine, fed from memory.
struct engine_row {
  std::string name;
  fingerprint_kind fingerprint = fingerprint_kind::none;
  double bytes_per_second = 0;
  double device_share = 0;  ///< of the bytes, those that the device cut
  std::string problem = {};
};

struct device_facts {
  std::string device;
  std::vector<named_fact> about = {};
  device_limits limits = {};
  std::vector<std::uint64_t> resident_sizes = {};
  std::vector<resident_row> chunking = {};      ///< without fingerprints
  std::vector<resident_row> fingerprints = {};  ///< of chunks of `fixed`, and of gear's
  std::vector<end_to_end_row> end_to_end = {};
  std::vector<end_to_end_row> known_chunks = {};
  std::vector<engine_row> engine = {};
};

/// What a row is held against, where a target is set.
[[nodiscard]] std::optional<double> target_of(const resident_row& row, const device_rates& limits);

/// What had a problem other than the end of the time, as sentences.
[[nodiscard]] std::vector<std::string> failures(const device_facts& facts);

[[nodiscard]] std::string device_markdown(const device_facts& facts);
[[nodiscard]] std::string device_json(const device_facts& facts);

/// The problem of what the time did not suffice for.
inline constexpr const char* out_of_time = "not measured: out of time";

}  // namespace cutpoint::bench
