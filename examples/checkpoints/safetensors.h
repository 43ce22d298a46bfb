// Files of Hugging Face's format safetensors: 8 bytes with the length of a header in JSON, the header, and the tensors' bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <cutpoint/status.h>

/// A file in memory.
struct safetensors_file {
  std::vector<std::uint8_t> bytes;
  /// Where its streams end, ascending: the header, and each tensor that has bytes, in the order of their bytes. The last end
  /// is that of the file.
  std::vector<std::uint64_t> ends;
};

/// Reads a file. Errors: io_error; invalid_argument, if its header is not JSON, or if the tensors leave bytes out, overlap or
/// end elsewhere than the file, all of which the format forbids.
[[nodiscard]] cutpoint::result<safetensors_file> read_safetensors(const std::string& path);
