// Reads PTX line by line.
#include "tests/cuda/ptx/program.h"

#include <charconv>
#include <cstring>

namespace cutpoint::ptx {
namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

statement read_statement(std::string_view line) {
  statement read{.opcode = take(line, " \t"), .operands = {}};
  while (!(line = trim(line)).empty()) {
    const std::string_view each = take(line, ",|{}");
    if (!each.empty()) read.operands.push_back(each);
  }
  return read;
}

/// Reads a line such as ".param .u64 name," or ".param .align 8 .b8 name[48]", which follows `before`.
parameter read_parameter(std::string_view line, const std::vector<parameter>& before) {
  const auto bracket = line.find('[');
  parameter result;
  u32 alignment = 0;
  take(line, " ");
  if (bracket == std::string_view::npos) {
    result.size = alignment = static_cast<u32>(number(take(line, " ").substr(2))) / 8;
  } else {
    take(line, " ");
    alignment = static_cast<u32>(number(take(line, " ")));
    take(line, "[");
    result.size = static_cast<u32>(number(take(line, "]")));
  }
  const u32 end = before.empty() ? 0 : before.back().offset + before.back().size;
  result.offset = (end + alignment - 1) / alignment * alignment;
  return result;
}

/// Reads a branch, with the predicate before it. Its label is left in the text.
void read_branch(std::string_view line, register_file& registers, instruction& encoded) {
  encoded.run = run_jump;
  if (line.starts_with('@')) {
    encoded.run = run_branch;
    encoded.if_not = line[1] == '!';
    line.remove_prefix(encoded.if_not ? 2 : 1);
    encoded.operands[0] = registers.offset_of(take(line, " \t"), 0);
  }
  const statement read = read_statement(line);
  if ((read.opcode != "bra" && read.opcode != "bra.uni") || read.operands.size() != 1) throw fault("no branch");
  encoded.text = read.operands[0];
}

}  // namespace

std::string_view take(std::string_view& text, std::string_view separators) {
  const auto end = std::min(text.find_first_of(separators), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return trim(word);
}

std::int64_t number(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  std::string_view digits = text.substr(is_negative ? 1 : 0);
  const bool is_hex = digits.starts_with("0x");
  if (is_hex) digits.remove_prefix(2);
  u64 value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value, is_hex ? 16 : 10);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) {
    throw fault("no number: " + std::string(text));
  }
  return static_cast<std::int64_t>(is_negative ? 0 - value : value);
}

std::map<std::string, std::string, std::less<>> split_kernels(std::string_view module) {
  constexpr std::string_view mark = ".entry ";
  std::map<std::string, std::string, std::less<>> kernels;
  for (auto at = module.find(mark); at != std::string_view::npos; at = module.find(mark, at + 1)) {
    std::string_view text = module.substr(at + mark.size());
    text = text.substr(0, text.find("\n}") + 1);
    std::string_view rest = text;
    kernels.emplace(take(rest, "("), text);
  }
  return kernels;
}

void register_file::declare(std::string_view line) {
  take(line, " \t");
  const std::string_view type = take(line, " \t");
  const std::string_view prefix = take(line, "<");
  const auto count = static_cast<u32>(number(take(line, ">")));
  const u32 bytes = type == ".pred" ? 0 : static_cast<u32>(number(type.substr(2))) / 8;
  banks_[std::string(prefix)] = {holder_.registers.append(bytes, count), bytes, count};
}

u32 register_file::lane_bytes(std::string_view name, u32 otherwise) const {
  const auto named = banks_.find(name.substr(0, name.find_first_of("0123456789")));
  return named == banks_.end() ? otherwise : named->second.lane_bytes;
}

u32 register_file::offset_of(std::string_view name, u32 lane_bytes) {
  constexpr std::pair<std::string_view, special> specials[] = {
      {"%tid.x", tid_x}, {"%ntid.x", ntid_x}, {"%ctaid.x", ctaid_x}, {"%nctaid.x", nctaid_x}};
  for (const auto& [known, offset] : specials) {
    if (name == known && lane_bytes == 4) return offset;
  }
  if (!name.starts_with('%')) {
    if (const auto argument = name.rfind("_param_"); argument != std::string_view::npos) {
      const auto index = static_cast<std::size_t>(number(name.substr(argument + 7)));
      return constant_offset(holder_.parameters.at(index).offset, lane_bytes);
    }
    if (name.starts_with('_')) return constant_offset(shared_begin, lane_bytes);  // the only variable of all blocks
    return constant_offset(static_cast<u64>(number(name)), lane_bytes);
  }
  const auto digits = name.find_first_of("0123456789");
  const auto named = banks_.find(name.substr(0, digits));
  if (named == banks_.end() || named->second.lane_bytes != lane_bytes) {
    throw fault("no register of " + std::to_string(lane_bytes) + " bytes: " + std::string(name));
  }
  const auto index = static_cast<u32>(number(name.substr(digits)));
  if (index >= named->second.count) throw fault("no register: " + std::string(name));
  return named->second.offset + index * register_image::size_of(lane_bytes);
}

u32 register_file::constant_offset(u64 value, u32 lane_bytes) {
  const auto [entry, is_new] = constants_.try_emplace({value, lane_bytes}, 0);
  if (is_new) {
    entry->second = holder_.registers.append(lane_bytes, 1);
    if (lane_bytes == 0 && value != 0) value = ~u64{0};
    const u32 step = lane_bytes == 0 ? 4 : lane_bytes;
    for (u32 at = 0; at < register_image::size_of(lane_bytes); at += step) {
      std::memcpy(holder_.registers.lanes<u8>(entry->second) + at, &value, step);
    }
  }
  return entry->second;
}

void register_file::read_address(std::string_view text, instruction& encoded, u32 lane_bytes) {
  if (!text.starts_with('[') || !text.ends_with(']')) throw fault("no address: " + std::string(text));
  text = text.substr(1, text.size() - 2);
  encoded.operands[0] = offset_of(take(text, "+"), lane_bytes);
  encoded.offset = text.empty() ? 0 : number(text);
}

kernel::kernel(std::string ptx) : text(std::move(ptx)) {
  register_file names(*this);
  std::map<std::string_view, u32> labels;
  std::string_view rest = text;
  while (!rest.empty()) {
    std::string_view line = take(rest, "\n");
    if (line.starts_with(".param")) {
      parameters.push_back(read_parameter(line, parameters));
    } else if (line.starts_with(".reg")) {
      names.declare(line);
    } else if (line.starts_with('$')) {
      labels[take(line, ":")] = static_cast<u32>(code.size());
    } else if (line.ends_with(';') && !line.starts_with(".pragma")) {
      line.remove_suffix(1);
      instruction& each = code.emplace_back();
      each.text = line;
      try {
        if (line.starts_with('@') || line.starts_with("bra")) {
          read_branch(line, names, each);
        } else {
          encode(read_statement(line), names, each);
        }
      } catch (const fault& f) {
        throw fault(std::string(f.what()) + ", in \"" + std::string(line) + "\"");
      }
    }
  }
  for (instruction& each : code) {
    if (each.run == run_jump || each.run == run_branch) each.target = labels.at(each.text);
  }
}

}  // namespace cutpoint::ptx
