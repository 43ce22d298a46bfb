// Writes and reads chunk traces.
#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include <cutpoint/cluster/chunk_trace.h>
#include <fmt/format.h>

namespace cutpoint::cluster {

// The records of a chunk trace. docs/formats/chunk-trace.md describes them.

inline constexpr std::string_view trace_magic = "CUTTRACE";
inline constexpr std::uint32_t trace_version = 1;

/// A value of 8 bytes and a length of 4, both little-endian. A length of 0 means that the value's first byte has a kind.
inline constexpr std::size_t trace_record_bytes = 12;

enum class trace_record_kind : std::uint8_t { application = 1, file = 2, end = 3 };

inline constexpr std::size_t longest_application_name = 255;
inline constexpr std::size_t most_applications = 65'536;

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

// Reads the records of a chunk trace and checks them.

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
  CUTPOINT_RETURN_IF_FAILED(reader.fill());
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
    CUTPOINT_TRY(const auto byte_count, bytes_->read(std::span(buffer_).subspan(end_)));
    if (byte_count == 0) break;
    end_ += byte_count;
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
    CUTPOINT_RETURN_IF_FAILED(fill());
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
    CUTPOINT_RETURN_IF_FAILED(fill());
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
  CUTPOINT_RETURN_IF_FAILED(fill());
  if (end_ != begin_) return malformed("lies after the end");
  has_ended_ = true;
  return {};
}

result<std::span<const routed_chunk>> chunk_trace_reader::next_chunks() {
  chunks_.clear();
  if (!is_in_file_) return std::span<const routed_chunk>();
  CUTPOINT_RETURN_IF_FAILED(fill());
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
