// Reads the records of a chunk trace and checks them.
#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include <cutpoint/cluster/chunk_trace.h>
#include <fmt/format.h>

#include "cluster/trace/trace_records.h"

namespace cutpoint::cluster {

namespace {

constexpr std::size_t buffer_records = 4096;

std::uint64_t number_at(const std::uint8_t* bytes, int byte_count) {
  std::uint64_t number = 0;
  for (int i = byte_count - 1; i >= 0; --i) number = number << 8 | bytes[i];
  return number;
}

}  // namespace

chunk_trace_reader::chunk_trace_reader(source& bytes, std::string name)
    : bytes_(&bytes), name_(std::move(name)), buffer_(buffer_records * trace_record_bytes) {}

result<chunk_trace_reader> chunk_trace_reader::open(source& bytes, std::string name) {
  chunk_trace_reader reader(bytes, std::move(name));
  if (const status filled = reader.fill(); !filled.ok()) return filled;
  const std::string_view beginning(reinterpret_cast<const char*>(reader.buffer_.data()), reader.end_);
  if (!beginning.starts_with(trace_magic) || beginning.size() < trace_record_bytes) {
    return status(status_code::invalid_argument,
                  fmt::format("{}: is no chunk trace: it does not begin with {}", reader.name_, trace_magic));
  }
  const std::uint32_t version = reader.peek().length;
  if (version != trace_version) {
    return status(status_code::invalid_argument,
                  fmt::format("{}: has version {} of the format for chunk traces, and only version {} can be read",
                              reader.name_, version, trace_version));
  }
  reader.begin_ += trace_record_bytes;
  return reader;
}

/// Reads until the buffer has a whole record, unless the trace has ended.
status chunk_trace_reader::fill() {
  if (end_ - begin_ >= trace_record_bytes) return {};
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= std::exchange(begin_, 0);
  while (end_ < trace_record_bytes) {
    const auto byte_count = bytes_->read(std::span(buffer_).subspan(end_));
    if (!byte_count) return byte_count.error();
    if (*byte_count == 0) break;
    end_ += *byte_count;
  }
  return {};
}

chunk_trace_reader::record chunk_trace_reader::peek() const {
  assert(end_ - begin_ >= trace_record_bytes);
  const std::uint8_t* const bytes = buffer_.data() + begin_;
  return {number_at(bytes, 8), static_cast<std::uint32_t>(number_at(bytes + 8, 4))};
}

void chunk_trace_reader::skip() noexcept {
  begin_ += trace_record_bytes;
  ++record_count_;
}

status chunk_trace_reader::malformed(std::string_view what) const {
  return {status_code::invalid_argument, fmt::format("{}: record {} {}", name_, record_count_, what)};
}

result<bool> chunk_trace_reader::next_file() {
  while (is_in_file_) {
    const auto rest = next_chunks();
    if (!rest) return rest.error();
  }
  while (!has_ended_) {
    if (const status filled = fill(); !filled.ok()) return filled;
    if (end_ - begin_ < trace_record_bytes) {
      return status(status_code::invalid_argument,
                    fmt::format("{}: is cut off after {} records: its end is missing", name_, record_count_));
    }
    const record next = peek();
    if (next.length != 0) return malformed("is a chunk outside a file");
    const std::uint64_t kind = next.value & 0xff;
    status outcome;
    if (kind == static_cast<std::uint64_t>(trace_record_kind::file)) {
      application_ = static_cast<class_number>(next.value >> 8 & 0xff'ffff);
      client_ = static_cast<std::uint32_t>(next.value >> 32);
      if (application_ >= applications_.size()) {
        return malformed(
            fmt::format("names the application class {}, and {} are defined", application_, applications_.size()));
      }
      skip();
      is_in_file_ = true;
      return true;
    }
    if (kind == static_cast<std::uint64_t>(trace_record_kind::application)) {
      outcome = read_class(next.value);
    } else if (kind == static_cast<std::uint64_t>(trace_record_kind::end)) {
      outcome = read_end(next.value);
    } else {
      outcome = malformed(fmt::format("has the unknown kind {}", kind));
    }
    if (!outcome.ok()) return outcome;
  }
  return false;
}

status chunk_trace_reader::read_class(std::uint64_t value) {
  const std::uint64_t name_bytes = value >> 8;
  if (name_bytes == 0 || name_bytes > longest_application_name) {
    return malformed(fmt::format("has the name of an application class with {} bytes, and 1 to {} are allowed",
                                 name_bytes, longest_application_name));
  }
  if (applications_.size() == most_applications) {
    return malformed(fmt::format("defines more than {} application classes", most_applications));
  }
  skip();
  std::string name;
  while (name.size() < name_bytes) {
    if (const status filled = fill(); !filled.ok()) return filled;
    if (end_ - begin_ < trace_record_bytes) return {};  // next_file says that the trace is cut off
    name.append(reinterpret_cast<const char*>(buffer_.data()) + begin_, trace_record_bytes);
    skip();
  }
  name.resize(name_bytes);
  if (std::find(applications_.begin(), applications_.end(), name) != applications_.end()) {
    return malformed(fmt::format("follows a second definition of the application class '{}'", name));
  }
  applications_.push_back(std::move(name));
  return {};
}

status chunk_trace_reader::read_end(std::uint64_t value) {
  if (value >> 8 != record_count_) {
    return malformed(fmt::format("is the end after {} records", value >> 8));
  }
  skip();
  if (const status filled = fill(); !filled.ok()) return filled;
  if (end_ != begin_) return malformed("lies after the end");
  has_ended_ = true;
  return {};
}

result<std::span<const routed_chunk>> chunk_trace_reader::next_chunks() {
  chunks_.clear();
  if (!is_in_file_) return std::span<const routed_chunk>();
  if (const status filled = fill(); !filled.ok()) return filled;
  while (end_ - begin_ >= trace_record_bytes) {
    const record next = peek();
    if (next.length == 0) break;
    chunks_.push_back({next.value, next.length});
    skip();
  }
  if (chunks_.empty()) is_in_file_ = false;
  return std::span<const routed_chunk>(chunks_);
}

}  // namespace cutpoint::cluster
