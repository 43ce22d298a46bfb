// PTX, decoded once into instructions that the interpreter runs.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tests/cuda/ptx/memory.h"

namespace cutpoint::ptx {

class warp;

/// Registers are named by the offset of their 32 lanes in the registers of a warp. A constant is a register too. A predicate
/// has one word, a bit for each lane.
struct instruction {
  void (*run)(warp&, const instruction&) = nullptr;
  u32 result = 0;
  u32 operands[5] = {};
  std::int64_t offset = 0;  ///< of an address
  u32 target = 0;           ///< of a branch
  bool if_not = false;      ///< whether a branch is taken where its predicate is false
  u32 count = 1;            ///< values that a lane loads or stores
  u32 type_bytes = 0;       ///< of each, in memory
  u32 lane_bytes = 0;       ///< of each, in a register
  std::string_view text;
};

/// The registers of a warp.
class register_image {
 public:
  /// Returns the offset of new registers. A lane has 2, 4 or 8 bytes, or 0 in a predicate.
  u32 append(u32 lane_bytes, u32 count) {
    const auto offset = static_cast<u32>(64 * lines_.size());
    lines_.resize(lines_.size() + (count * size_of(lane_bytes) + 63) / 64);
    return offset;
  }
  [[nodiscard]] static u32 size_of(u32 lane_bytes) { return lane_bytes == 0 ? 4 : 32 * lane_bytes; }
  template <class T>
  [[nodiscard]] T* lanes(u32 offset) {
    return reinterpret_cast<T*>(reinterpret_cast<u8*>(lines_.data()) + offset);
  }

 private:
  struct alignas(64) cache_line {
    u8 bytes[64];
  };
  std::vector<cache_line> lines_ = std::vector<cache_line>(8);  // for `special`
};

/// The offsets of the registers that every kernel has.
enum special : u32 { tid_x = 0, ntid_x = 128, ctaid_x = 256, nctaid_x = 384 };

/// The address of the first byte of shared memory, which is not 0.
inline constexpr u32 shared_begin = 1024;

/// The place of an argument among a launch's parameters.
struct parameter {
  u32 offset = 0;
  u32 size = 0;
};

struct kernel {
  /// Decodes the text of a kernel, from its name on. Throws `fault` for what the interpreter does not know.
  explicit kernel(std::string ptx);
  kernel(const kernel&) = delete;
  kernel& operator=(const kernel&) = delete;

  std::string text;
  std::vector<instruction> code;
  register_image registers;  ///< with the constants
  std::vector<parameter> parameters;
};

/// Returns the texts of the kernels of a module by their names.
[[nodiscard]] std::map<std::string, std::string, std::less<>> split_kernels(std::string_view module);

/// Cuts `text` after the first of `separators` and returns what is before it, without blanks around it.
std::string_view take(std::string_view& text, std::string_view separators);
[[nodiscard]] std::int64_t number(std::string_view text);

/// A line of PTX without its labels and its semicolon.
struct statement {
  std::string_view opcode;
  std::vector<std::string_view> operands;  ///< without braces; an address in brackets is one
};

/// Finds the offsets of registers and constants by their names.
class register_file {
 public:
  explicit register_file(kernel& holder) : holder_(holder) {}

  /// Reads a line such as ".reg .b32 %r<554>".
  void declare(std::string_view line);
  /// The bytes of a lane of a register: 2, 4, 8, or 0 for a predicate; `otherwise` for what is not a register.
  [[nodiscard]] u32 lane_bytes(std::string_view name, u32 otherwise) const;
  /// The offset of a register or a constant with lanes of this size.
  [[nodiscard]] u32 offset_of(std::string_view name, u32 lane_bytes);
  /// Reads an address such as "[%rd1+8]" or "[parameter+8]" into operand 0.
  void read_address(std::string_view text, instruction& encoded, u32 lane_bytes);

 private:
  struct bank {
    u32 offset = 0;
    u32 lane_bytes = 0;
    u32 count = 0;
  };
  [[nodiscard]] u32 constant_offset(u64 value, u32 lane_bytes);

  kernel& holder_;
  std::map<std::string, bank, std::less<>> banks_;  ///< by the prefix of their names
  std::map<std::pair<u64, u32>, u32> constants_;
};

using encoder = void (*)(const statement& parsed, register_file& registers, instruction& encoded);
using operation_table = std::unordered_map<std::string, encoder>;

/// Returns the operations that access memory, or that lanes and warps do together.
[[nodiscard]] operation_table memory_and_warp_operations();

/// Writes the operation and the operands of a statement that is no branch. Throws `fault` for an unknown opcode.
void encode(const statement& parsed, register_file& registers, instruction& encoded);

/// The operations of branches.
void run_branch(warp& w, const instruction& i);
void run_jump(warp& w, const instruction& i);

}  // namespace cutpoint::ptx
