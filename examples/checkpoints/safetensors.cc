#include "safetensors.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include <nlohmann/json.hpp>

namespace {

using cutpoint::status;
using cutpoint::status_code;

constexpr std::uint64_t length_bytes = 8;

status malformed(const std::string& path, const std::string& why) {
  return {status_code::invalid_argument, path + ": not safetensors: " + why};
}

/// Returns where the tensors begin and end, from the end of the header, in order of their begins. Empty tensors are left out.
cutpoint::result<std::vector<std::pair<std::uint64_t, std::uint64_t>>> tensor_ranges(const std::string& path,
                                                                                     const nlohmann::json& header) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const auto& [name, tensor] : header.items()) {
    if (name == "__metadata__") continue;
    const auto offsets = tensor.is_object() ? tensor.find("data_offsets") : tensor.end();
    if (offsets == tensor.end() || !offsets->is_array() || offsets->size() != 2 ||
        !(*offsets)[0].is_number_unsigned() || !(*offsets)[1].is_number_unsigned()) {
      return malformed(path, "tensor " + name + " has no data_offsets of two numbers");
    }
    const auto begin = (*offsets)[0].get<std::uint64_t>();
    const auto end = (*offsets)[1].get<std::uint64_t>();
    if (begin > end) return malformed(path, "tensor " + name + " ends before it begins");
    if (begin != end) ranges.emplace_back(begin, end);
  }
  std::sort(ranges.begin(), ranges.end());
  return ranges;
}

}  // namespace

cutpoint::result<safetensors_file> read_safetensors(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  if (size < 0) return status(status_code::io_error, path + ": cannot be opened: " + std::strerror(errno), errno);
  safetensors_file read;
  read.bytes.resize(static_cast<std::size_t>(size));
  file.seekg(0);
  if (!file.read(reinterpret_cast<char*>(read.bytes.data()), size)) {
    return status(status_code::io_error, path + ": cannot be read: " + std::strerror(errno), errno);
  }

  if (read.bytes.size() < length_bytes) return malformed(path, "it is shorter than the length of a header");
  std::uint64_t header_bytes = 0;
  for (std::uint64_t i = 0; i < length_bytes; ++i) header_bytes |= std::uint64_t{read.bytes[i]} << (8 * i);
  if (header_bytes > read.bytes.size() - length_bytes) {
    return malformed(path, "a header of " + std::to_string(header_bytes) + " bytes in a file of " +
                               std::to_string(read.bytes.size()));
  }
  const std::uint64_t data_begin = length_bytes + header_bytes;
  const auto* const text = read.bytes.data() + length_bytes;
  const auto header = nlohmann::json::parse(text, text + header_bytes, nullptr, false);
  if (!header.is_object()) return malformed(path, "its header is no object of JSON");

  const auto ranges = tensor_ranges(path, header);
  if (!ranges) return ranges.error();
  read.ends.push_back(data_begin);
  for (const auto& [begin, end] : *ranges) {
    if (data_begin + begin != read.ends.back() || end > read.bytes.size() - data_begin) {
      return malformed(path, "the tensor at " + std::to_string(begin) + " to " + std::to_string(end) +
                                 " does not begin where the one before ends, or ends after the file");
    }
    read.ends.push_back(data_begin + end);
  }
  if (read.ends.back() != read.bytes.size()) {
    return malformed(path, "its tensors end at byte " + std::to_string(read.ends.back()) + " of " +
                               std::to_string(read.bytes.size()));
  }
  return read;
}
