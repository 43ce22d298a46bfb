// Reads folders by getdents64(2), since readdir(3) hides one of its failures.
#include "host/io/folder_names.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <sys/syscall.h>
#include <unistd.h>

#include "host/core/interruptible.h"

namespace cutpoint {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{32} * 1024;

/// Where the kernel puts the fields of an entry: its length, its kind and its name, which ends in a zero.
constexpr std::size_t length_offset = 16;
constexpr std::size_t type_offset = 18;
constexpr std::size_t name_offset = 19;

/// Appends the entries of a buffer. Returns false if it does not consist of entries.
bool append_names(std::span<const std::uint8_t> entries, std::vector<folder_name>& names) {
  while (!entries.empty()) {
    std::uint16_t length = 0;
    if (entries.size() <= name_offset) return false;
    std::memcpy(&length, entries.data() + length_offset, sizeof length);
    if (length <= name_offset || length > entries.size()) return false;
    const auto* const name = reinterpret_cast<const char*>(entries.data()) + name_offset;
    const std::string_view text(name, ::strnlen(name, length - name_offset));
    if (text != "." && text != "..") names.push_back({std::string(text), entries[type_offset]});
    entries = entries.subspan(length);
  }
  return true;
}

}  // namespace

bool read_folder_names(const read_entries_function& read_entries, std::vector<folder_name>& names,
                       const cancellation* cancel) {
  names.clear();
  std::vector<std::uint8_t> buffer(buffer_bytes);
  for (;;) {
    const ssize_t count = repeat_interrupted(cancel, [&] { return read_entries(buffer); });
    if (count < 0) return false;
    if (count == 0) break;
    if (append_names(std::span(buffer).first(static_cast<std::size_t>(count)), names)) continue;
    errno = EIO;
    return false;
  }
  std::ranges::stable_sort(names, {}, &folder_name::name);
  const auto repeated = std::ranges::unique(names, {}, &folder_name::name);
  names.erase(repeated.begin(), repeated.end());
  return true;
}

bool read_folder_names(int folder, std::vector<folder_name>& names, const cancellation* cancel) {
  return read_folder_names(
      [&](std::span<std::uint8_t> buffer) -> ssize_t {
        return ::syscall(SYS_getdents64, folder, buffer.data(), buffer.size());
      },
      names, cancel);
}

}  // namespace cutpoint
