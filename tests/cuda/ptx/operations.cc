// The operations on registers: each is a function of one lane, and runs for the 32 lanes of a warp.
#include <bit>
#include <type_traits>

#include "tests/cuda/ptx/warp.h"

namespace cutpoint::ptx {
namespace {

/// The lanes of a predicate.
struct predicate_lanes {
  u32 bits;
  [[nodiscard]] bool operator[](u32 lane) const { return (bits >> lane & 1) != 0; }
};

template <class T>
constexpr u32 lane_bytes_of = std::is_same_v<T, bool> ? 0 : sizeof(T);

template <class T>
auto source(warp& w, u32 offset) {
  if constexpr (std::is_same_v<T, bool>) {
    return predicate_lanes{w.predicate(offset)};
  } else {
    return static_cast<const T*>(w.lanes<T>(offset));
  }
}

template <auto Function, class Result, class... Sources>
struct lanewise {
  static void run(warp& w, const instruction& i) { run(w, i, std::index_sequence_for<Sources...>()); }

  template <std::size_t... Index>
  static void run(warp& w, const instruction& i, std::index_sequence<Index...>) {
    run_lanes(w, i, w.active(), source<Sources>(w, i.operands[Index])...);
  }
  static void run_lanes(warp& w, const instruction& i, u32 active, auto... sources) {
    if constexpr (std::is_same_v<Result, bool>) {
      u32 value = 0;
      for (u32 lane = 0; lane < 32; ++lane) value |= (Function(sources[lane]...) ? 1u : 0u) << lane;
      u32& result = w.predicate(i.result);
      result = (result & ~active) | (value & active);
    } else {
      Result* const result = w.lanes<Result>(i.result);
#pragma GCC ivdep
      for (u32 lane = 0; lane < 32; ++lane) {
        const Result value = Function(sources[lane]...);
        result[lane] = (active >> lane & 1) != 0 ? value : result[lane];
      }
    }
  }
  static void encode(const statement& parsed, register_file& registers, instruction& encoded) {
    if (parsed.operands.size() != sizeof...(Sources) + 1) throw fault("a wrong number of operands");
    constexpr u32 sizes[] = {lane_bytes_of<Sources>...};
    encoded.run = run;
    encoded.result = registers.offset_of(parsed.operands[0], lane_bytes_of<Result>);
    for (std::size_t s = 0; s < sizeof...(Sources); ++s) {
      encoded.operands[s] = registers.offset_of(parsed.operands[s + 1], sizes[s]);
    }
  }
};

template <auto Function, class Holder, class Result, class... Sources>
encoder encoder_of(Result (Holder::*)(Sources...) const) {
  return lanewise<Function, Result, Sources...>::encode;
}
/// The encoder of an operation on lanes.
template <auto Function>
encoder lanes_by() {
  return encoder_of<Function>(&decltype(Function)::operator());
}

/// Adds the operations on 16, 32 and 64 bits.
template <class U, class S>
void add_integers(operation_table& table) {
  constexpr u32 width = 8 * sizeof(U);
  const auto add = [&](const std::string& name, const std::string& types, encoder encode) {
    for (const char type : types) table[name + '.' + type + std::to_string(width)] = encode;
  };
  add("mov", "bu", lanes_by<[](U a) { return a; }>());
  add("add", "s", lanes_by<[](U a, U b) { return static_cast<U>(a + b); }>());
  add("selp", "bu", lanes_by<[](U a, U b, bool p) { return p ? a : b; }>());
  add("setp.eq", "bs", lanes_by<[](U a, U b) { return a == b; }>());
  add("setp.ne", "us", lanes_by<[](U a, U b) { return a != b; }>());
  add("setp.lt", "u", lanes_by<[](U a, U b) { return a < b; }>());
  add("setp.le", "u", lanes_by<[](U a, U b) { return a <= b; }>());
  add("setp.gt", "u", lanes_by<[](U a, U b) { return b < a; }>());
  add("setp.ge", "u", lanes_by<[](U a, U b) { return b <= a; }>());
  add("setp.lt", "s", lanes_by<[](S a, S b) { return a < b; }>());
  add("setp.le", "s", lanes_by<[](S a, S b) { return a <= b; }>());
  add("setp.gt", "s", lanes_by<[](S a, S b) { return b < a; }>());
  add("setp.ge", "s", lanes_by<[](S a, S b) { return b <= a; }>());
  add("cvt.u16", "u", lanes_by<[](U a) { return static_cast<u16>(a); }>());
  add("cvt.u32", "u", lanes_by<[](U a) { return static_cast<u32>(a); }>());
  add("cvt.u64", "u", lanes_by<[](U a) { return static_cast<u64>(a); }>());
  add("cvt.s64", "s", lanes_by<[](S a) { return static_cast<u64>(a); }>());
  if constexpr (sizeof(U) >= 4) {
    add("sub", "s", lanes_by<[](U a, U b) { return a - b; }>());
    add("neg", "s", lanes_by<[](U a) { return 0 - a; }>());
    add("not", "b", lanes_by<[](U a) { return ~a; }>());
    add("and", "b", lanes_by<[](U a, U b) { return a & b; }>());
    add("or", "b", lanes_by<[](U a, U b) { return a | b; }>());
    add("xor", "b", lanes_by<[](U a, U b) { return a ^ b; }>());
    add("shl", "b", lanes_by<[](U a, u32 b) { return b < width ? a << b : U{0}; }>());
    add("shr", "ub", lanes_by<[](U a, u32 b) { return b < width ? (a >> b) : U{0}; }>());
    add("shr", "s", lanes_by<[](S a, u32 b) { return (a >> (b < width ? b : width - 1)); }>());
    add("min", "u", lanes_by<[](U a, U b) { return a < b ? a : b; }>());
    add("max", "u", lanes_by<[](U a, U b) { return a < b ? b : a; }>());
    add("min", "s", lanes_by<[](S a, S b) { return a < b ? a : b; }>());
    add("max", "s", lanes_by<[](S a, S b) { return a < b ? b : a; }>());
    add("mul.lo", "us", lanes_by<[](U a, U b) { return a * b; }>());
    add("mad.lo", "us", lanes_by<[](U a, U b, U c) { return a * b + c; }>());
    add("div", "u", lanes_by<[](U a, U b) { return b == 0 ? ~U{0} : a / b; }>());  // lanes that take no part may have 0
    add("rem", "u", lanes_by<[](U a, U b) { return b == 0 ? a : a % b; }>());
    add("popc", "b", lanes_by<[](U a) { return static_cast<u32>(std::popcount(a)); }>());
    add("clz", "b", lanes_by<[](U a) { return static_cast<u32>(std::countl_zero(a)); }>());
    add("bfi", "b", lanes_by<[](U field, U a, u32 first, u32 count) {
          first &= 0xff;
          count &= 0xff;
          if (first >= width) return a;
          const U mask = (count < width ? (U{1} << count) - 1 : ~U{0}) << first;
          return (a & ~mask) | (field << first & mask);
        }>());
  }
}

/// Byte n of the result is that of the eight bytes of b and a which nibble n of the selector names.
u32 permute(u32 a, u32 b, u32 selector) {
  const u64 bytes = u64{b} << 32 | a;
  u32 permuted = 0;
  for (u32 n = 0; n < 4; ++n) {
    const u32 nibble = selector >> (4 * n) & 0xf;
    u32 byte = static_cast<u32>(bytes >> (8 * (nibble & 7))) & 0xff;
    if ((nibble & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    permuted |= byte << (8 * n);
  }
  return permuted;
}

/// "mov.b64 %rd, {%r, %r}", its inverse, or a plain one.
void encode_move(const statement& parsed, register_file& registers, instruction& encoded) {
  if (parsed.operands.size() == 2) return lanes_by<[](u64 a) { return a; }>()(parsed, registers, encoded);
  if (registers.lane_bytes(parsed.operands[0], 8) == 8) {
    return lanes_by<[](u32 low, u32 high) { return u64{high} << 32 | low; }>()(parsed, registers, encoded);
  }
  encoded.run = [](warp& w, const instruction& i) {
    for_each_bit(w.active(), [&](u32 lane) {
      const u64 both = w.lanes<u64>(i.operands[0])[lane];
      w.lanes<u32>(i.operands[1])[lane] = static_cast<u32>(both);
      w.lanes<u32>(i.operands[2])[lane] = static_cast<u32>(both >> 32);
    });
  };
  encoded.operands[0] = registers.offset_of(parsed.operands[2], 8);
  for (u32 half = 0; half < 2; ++half) encoded.operands[1 + half] = registers.offset_of(parsed.operands[half], 4);
}

operation_table make_table() {
  operation_table table;
  add_integers<u16, std::int16_t>(table);
  add_integers<u32, std::int32_t>(table);
  add_integers<u64, std::int64_t>(table);
  table["mov.b64"] = encode_move;
  table["cvta.to.global.u64"] = table["cvta.global.u64"] = table["mov.u64"];
  table["mov.pred"] = lanes_by<[](bool a) { return a; }>();
  table["not.pred"] = lanes_by<[](bool a) { return !a; }>();
  table["and.pred"] = lanes_by<[](bool a, bool b) { return a && b; }>();
  table["or.pred"] = lanes_by<[](bool a, bool b) { return a || b; }>();
  table["mul.wide.u32"] = lanes_by<[](u32 a, u32 b) { return u64{a} * b; }>();
  table["shf.l.wrap.b32"] = lanes_by<[](u32 low, u32 high, u32 count) {
    return static_cast<u32>((u64{high} << 32 | low) << (count & 31) >> 32);
  }>();
  table["prmt.b32"] = lanes_by<[](u32 a, u32 b, u32 selector) { return permute(a, b, selector); }>();
  table["max.u16x2"] = lanes_by<[](u32 a, u32 b) {
    const u32 high = (a >> 16 > b >> 16 ? a : b) & 0xffff0000;
    return high | ((a & 0xffff) > (b & 0xffff) ? a & 0xffff : b & 0xffff);
  }>();
  table.merge(memory_and_warp_operations());
  return table;
}

}  // namespace

void encode(const statement& parsed, register_file& registers, instruction& encoded) {
  static const operation_table table = make_table();
  const auto entry = table.find(std::string(parsed.opcode));
  if (entry == table.end()) throw fault("an opcode that the interpreter does not know");
  entry->second(parsed, registers, encoded);
}

}  // namespace cutpoint::ptx
