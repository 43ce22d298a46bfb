// The identifier is a note of the ELF file, and so in memory.
#include "cli/common/build_key.h"

#include <cstring>
#include <span>

#include <cutpoint/version.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

namespace cutpoint::cli {

namespace {

constexpr std::size_t rounded_up(std::size_t size) { return (size + 3) / 4 * 4; }

/// The identifier among the notes of one segment as hexadecimal digits, or nothing.
std::string identifier_in(std::span<const std::uint8_t> notes) {
  constexpr char owner[] = "GNU";
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    std::memcpy(&head, notes.data(), sizeof head);
    const std::size_t name = sizeof head;
    const std::size_t contents = name + rounded_up(head.n_namesz);
    const std::size_t end = contents + rounded_up(head.n_descsz);
    if (end > notes.size()) break;
    const bool is_ours = head.n_namesz == sizeof owner && std::memcmp(&notes[name], owner, sizeof owner) == 0;
    if (is_ours && head.n_type == NT_GNU_BUILD_ID) {
      std::string digits;
      for (const std::uint8_t byte : notes.subspan(contents, head.n_descsz)) digits += fmt::format("{:02x}", byte);
      return digits;
    }
    notes = notes.subspan(end);
  }
  return {};
}

/// The first object that is told of is the program.
int visit_program(dl_phdr_info* object, std::size_t, void* target) {
  for (ElfW(Half) i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* const begin = reinterpret_cast<const std::uint8_t*>(object->dlpi_addr + segment.p_vaddr);
    std::string& digits = *static_cast<std::string*>(target);
    if (digits.empty()) digits = identifier_in({begin, segment.p_memsz});
  }
  return 1;
}

}  // namespace

std::string build_key() {
  std::string digits;
  ::dl_iterate_phdr(visit_program, &digits);
  return fmt::format("{} {}", version(), digits);
}

}  // namespace cutpoint::cli
