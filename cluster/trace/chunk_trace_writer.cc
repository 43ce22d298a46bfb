// Writes the records of a chunk trace.
#include <algorithm>
#include <limits>

#include <cutpoint/cluster/chunk_trace.h>
#include <fmt/format.h>

#include "cluster/trace/trace_records.h"

namespace cutpoint::cluster {

namespace {

constexpr std::size_t write_bytes = 256 * 1024;

void append_number(std::string& out, std::uint64_t number, int byte_count) {
  for (int i = 0; i < byte_count; ++i) out += static_cast<char>(number >> (8 * i) & 0xff);
}

constexpr std::uint64_t kind_value(trace_record_kind kind, std::uint64_t rest) {
  return static_cast<std::uint64_t>(kind) | rest << 8;
}

}  // namespace

status chunk_trace_writer::begin_file(std::string_view application, std::uint32_t client) {
  if (application.empty() || application.size() > longest_application_name) {
    return {status_code::invalid_argument, fmt::format("the name of an application class has 1 to {} bytes, not {}",
                                                       longest_application_name, application.size())};
  }
  auto number = static_cast<std::size_t>(std::find(applications_.begin(), applications_.end(), application) -
                                         applications_.begin());
  if (number == applications_.size()) {
    if (number == most_applications) {
      return {status_code::invalid_argument,
              fmt::format("a chunk trace has at most {} application classes", most_applications)};
    }
    applications_.emplace_back(application);
    append(kind_value(trace_record_kind::application, application.size()), 0);
    const std::size_t record_count = (application.size() + trace_record_bytes - 1) / trace_record_bytes;
    pending_ += application;
    pending_.append(record_count * trace_record_bytes - application.size(), '\0');
    record_count_ += record_count;
  }
  append(kind_value(trace_record_kind::file, number | static_cast<std::uint64_t>(client) << 24), 0);
  return write_if_full();
}

status chunk_trace_writer::add(const routed_chunk& chunk) {
  if (chunk.length == 0) {  // would be read as a record of another kind
    return {status_code::invalid_argument,
            fmt::format("a chunk of a trace has 1 to {} bytes, not 0", std::numeric_limits<std::uint32_t>::max())};
  }
  append(chunk.fingerprint, chunk.length);
  return write_if_full();
}

void chunk_trace_writer::append(std::uint64_t value, std::uint32_t length) {
  if (!has_begun_) {
    has_begun_ = true;
    pending_ += trace_magic;
    append_number(pending_, trace_version, 4);
  }
  append_number(pending_, value, 8);
  append_number(pending_, length, 4);
  ++record_count_;
}

status chunk_trace_writer::write_if_full() { return pending_.size() < write_bytes ? status() : write_pending(); }

status chunk_trace_writer::write_pending() {
  const status written = write_(pending_);
  pending_.clear();
  return written;
}

status chunk_trace_writer::finish() {
  append(kind_value(trace_record_kind::end, record_count_), 0);
  return write_pending();
}

}  // namespace cutpoint::cluster
