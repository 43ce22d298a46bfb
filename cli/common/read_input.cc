#include "cli/common/read_input.h"

#include <array>

#include <cutpoint/source.h>
#include <fmt/format.h>

#include "cli/common/interrupt.h"

namespace cutpoint::cli {

result<std::string> read_input(const std::string& file, std::uint64_t most_bytes) {
  auto source = file == standard_input_path ? result(file_source::standard_input(&interruption()))
                                            : file_source::open(file, &interruption());
  if (!source) return source.error();
  std::string text;
  std::array<std::uint8_t, 64 * KiB> block;
  for (;;) {
    const auto count = source->read(block);
    if (!count) return count.error();
    if (*count == 0) return text;
    text.append(reinterpret_cast<const char*>(block.data()), *count);
    if (text.size() > most_bytes)
      return status(status_code::invalid_argument, fmt::format("{}: is longer than {} bytes", file, most_bytes));
  }
}

}  // namespace cutpoint::cli
