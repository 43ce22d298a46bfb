// The operations that access memory, with all their checks, and those that lanes and warps do together.
#include <cstring>

#include "tests/cuda/ptx/warp.h"

namespace cutpoint::ptx {
namespace {

enum class space { global, shared, parameter };

/// The bytes of an aligned access and their history. A byte within a word counts as the word.
struct place {
  u8* bytes;
  word_history* words;
};

template <space Space>
place find(warp& w, u64 address, u64 size) {
  if (address % size != 0) throw fault("an address is not a multiple of " + std::to_string(size));
  const region& target = Space == space::global   ? w.memory.global_at(address, size)
                         : Space == space::shared ? w.memory.shared
                                                  : w.memory.parameters;
  if (!target.has(address, size)) {
    throw fault(std::to_string(size) + " bytes are not within the launch's shared memory or parameters");
  }
  return {target.bytes(address), target.history(address)};
}

template <space Space>
u64 address_of(warp& w, const instruction& i, u32 lane) {
  return Space == space::shared ? w.lanes<u32>(i.operands[0])[lane] + static_cast<u32>(i.offset)
                                : w.lanes<u64>(i.operands[0])[lane] + static_cast<u64>(i.offset);
}

void add_read(const warp& w, u32 lane, const place& source, u64 size) {
  for (u64 word = 0; word < (size + 3) / 4; ++word) source.words[word].add_read(w.clock(), w.clock().number(lane));
}

template <space Space>
void load(warp& w, const instruction& i) {
  const u64 size = u64{i.count} * i.type_bytes;
  for_each_bit(w.active(), [&](u32 lane) {
    const place from = find<Space>(w, address_of<Space>(w, i, lane), size);
    add_read(w, lane, from, size);
    for (u32 n = 0; n < i.count; ++n) {
      u64 value = 0;
      std::memcpy(&value, from.bytes + n * i.type_bytes, i.type_bytes);
      std::memcpy(w.lanes<u8>(i.operands[1 + n]) + lane * i.lane_bytes, &value, i.lane_bytes);
    }
  });
}

template <space Space>
void store(warp& w, const instruction& i) {
  for_each_bit(w.active(), [&](u32 lane) {
    const place to = find<Space>(w, address_of<Space>(w, i, lane), u64{i.count} * i.type_bytes);
    for (u32 n = 0; n < i.count; ++n) {
      const u8* const value = w.lanes<u8>(i.operands[1 + n]) + lane * i.lane_bytes;
      for (u32 at = 0; at < i.type_bytes; at += 4) {
        u8* const word = to.bytes + n * i.type_bytes + at;
        to.words[(n * i.type_bytes + at) / 4].add_write(w.clock(), w.clock().number(lane),
                                                        std::memcmp(word, value + at, 4) != 0);
        std::memcpy(word, value + at, 4);
      }
    }
  });
}

/// Encodes "ld.global.v2.u32", for example, for registers that are as wide as the type, or wider.
template <space Space, bool IsLoad>
void encode_access(const statement& parsed, register_file& registers, instruction& encoded) {
  std::string_view type = parsed.opcode.substr(parsed.opcode.rfind('.') + 1);
  const auto vector = parsed.opcode.find(".v");
  if (vector != std::string_view::npos) encoded.count = static_cast<u32>(number(parsed.opcode.substr(vector + 2, 1)));
  encoded.type_bytes = static_cast<u32>(number(type.substr(1))) / 8;
  if (parsed.operands.size() != encoded.count + 1) throw fault("a wrong number of operands");
  registers.read_address(parsed.operands[IsLoad ? encoded.count : 0], encoded, Space == space::shared ? 4 : 8);
  const auto* const values = parsed.operands.data() + (IsLoad ? 0 : 1);
  encoded.lane_bytes = registers.lane_bytes(values[0], encoded.type_bytes);
  for (u32 n = 0; n < encoded.count; ++n) encoded.operands[1 + n] = registers.offset_of(values[n], encoded.lane_bytes);
  encoded.run = IsLoad ? load<Space> : store<Space>;
}

template <space Space>
void add_accesses(operation_table& table, const std::string& name) {
  for (const char* type : {".u8", ".u32", ".u64", ".v2.u32", ".v2.u64", ".v4.u32"}) {
    table["ld." + name + type] = encode_access<Space, true>;
    if (std::strcmp(type, ".u8") != 0) table["st." + name + type] = encode_access<Space, false>;
  }
}

/// "cp.async.cg.shared.global [destination], [source], 16, 16", or 4 bytes by "ca". The copy is done at its wait, the latest
/// moment.
void begin_copy(warp& w, const instruction& i) {
  for_each_bit(w.active(), [&](u32 lane) {
    const u64 source = address_of<space::global>(w, i, lane);
    const u32 destination = w.lanes<u32>(i.operands[1])[lane] + i.operands[2];
    add_read(w, lane, find<space::global>(w, source, i.type_bytes), i.type_bytes);
    const place to = find<space::shared>(w, destination, i.type_bytes);
    for (u32 word = 0; word < i.type_bytes / 4; ++word) {
      to.words[word].add_write(w.clock(), w.clock().number(lane), true);
      to.words[word].written = word_history::arriving;
    }
    w.copies.push_back({lane, w.copy_groups[lane], i.type_bytes, destination, source});
  });
}

void encode_copy(const statement& parsed, register_file& registers, instruction& encoded) {
  if (parsed.operands.size() != 4 || parsed.operands[2] != parsed.operands[3]) throw fault("a copy that is filled up");
  instruction destination;
  registers.read_address(parsed.operands[0], destination, 4);
  registers.read_address(parsed.operands[1], encoded, 8);
  encoded.operands[1] = destination.operands[0];
  encoded.operands[2] = static_cast<u32>(destination.offset);
  encoded.type_bytes = static_cast<u32>(number(parsed.operands[2]));
  encoded.run = begin_copy;
}

void wait_for_copies(warp& w, const instruction& i) {
  std::erase_if(w.copies, [&](const pending_copy& each) {
    if ((w.active() >> each.lane & 1) == 0 || each.group + i.operands[0] >= w.copy_groups[each.lane]) return false;
    const place to = find<space::shared>(w, each.destination, each.size);
    for (u32 word = 0; word < each.size / 4; ++word) to.words[word].written = w.clock().now();
    std::memcpy(to.bytes, find<space::global>(w, each.source, each.size).bytes, each.size);
    return true;
  });
}

/// Whether all members that operand `index` names have come. They are the same in all lanes.
bool members_have_met(warp& w, const instruction& i, u32 index) {
  return w.have_met(w.lanes<u32>(i.operands[index])[std::countr_zero(w.active())]);
}

void shuffle(warp& w, const instruction& i) {
  if (!members_have_met(w, i, 4)) return;
  u32 received[32];
  for_each_bit(w.active(), [&](u32 lane) {
    if (w.lanes<u32>(i.operands[3])[lane] != 31) throw fault("a shuffle of fewer lanes than a warp has");
    const u32 from = w.lanes<u32>(i.operands[2])[lane] & 31;
    if ((w.active() >> from & 1) == 0) throw fault("a lane takes the value of one that takes no part");
    received[lane] = w.lanes<u32>(i.operands[1])[from];
  });
  for_each_bit(w.active(), [&](u32 lane) { w.lanes<u32>(i.result)[lane] = received[lane]; });
  w.predicate(i.operands[0]) |= w.active();
}

void ballot(warp& w, const instruction& i) {
  if (!members_have_met(w, i, 1)) return;
  const u32 votes = w.predicate(i.operands[0]) & w.active();
  for_each_bit(w.active(), [&](u32 lane) { w.lanes<u32>(i.result)[lane] = votes; });
}

void any(warp& w, const instruction& i) {
  if (!members_have_met(w, i, 1)) return;
  u32& result = w.predicate(i.result);
  const bool is_any = (w.predicate(i.operands[0]) & w.active()) != 0;
  result = is_any ? result | w.active() : result & ~w.active();
}

template <u32 ResultBytes>
void encode_vote(const statement& parsed, register_file& registers, instruction& encoded) {
  encoded.result = registers.offset_of(parsed.operands.at(0), ResultBytes);
  encoded.operands[0] = registers.offset_of(parsed.operands.at(1), 0);
  encoded.operands[1] = registers.offset_of(parsed.operands.at(2), 4);
  encoded.run = ResultBytes == 0 ? any : ballot;
}

/// The encoder of an operation without operands in registers.
template <auto Run>
encoder plain() {
  return [](const statement&, register_file&, instruction& encoded) { encoded.run = Run; };
}

}  // namespace

void run_jump(warp& w, const instruction& i) { w.branch(w.active(), i.target); }
void run_branch(warp& w, const instruction& i) {
  const u32 truth = w.predicate(i.operands[0]);
  w.branch((i.if_not ? ~truth : truth) & w.active(), i.target);
}

operation_table memory_and_warp_operations() {
  operation_table table;
  add_accesses<space::global>(table, "global");
  add_accesses<space::global>(table, "global.cs");  // a hint for caches
  add_accesses<space::shared>(table, "shared");
  add_accesses<space::parameter>(table, "param");
  table["cp.async.cg.shared.global"] = table["cp.async.ca.shared.global"] = encode_copy;
  table["cp.async.commit_group"] =
      plain<[](warp& w, const instruction&) { for_each_bit(w.active(), [&](u32 lane) { ++w.copy_groups[lane]; }); }>();
  table["cp.async.wait_group"] = [](const statement& parsed, register_file&, instruction& encoded) {
    encoded.operands[0] = static_cast<u32>(number(parsed.operands.at(0)));
    encoded.run = wait_for_copies;
  };
  table["shfl.sync.idx.b32"] = [](const statement& parsed, register_file& registers, instruction& encoded) {
    if (parsed.operands.size() != 6) throw fault("a shuffle without its predicate");
    encoded.result = registers.offset_of(parsed.operands[0], 4);
    encoded.operands[0] = registers.offset_of(parsed.operands[1], 0);
    for (u32 n = 1; n < 5; ++n) encoded.operands[n] = registers.offset_of(parsed.operands[n + 1], 4);
    encoded.run = shuffle;
  };
  table["vote.sync.ballot.b32"] = encode_vote<4>;
  table["vote.sync.any.pred"] = encode_vote<0>;
  table["bar.warp.sync"] = [](const statement& parsed, register_file& registers, instruction& encoded) {
    encoded.operands[0] = registers.offset_of(parsed.operands.at(0), 4);
    encoded.run = [](warp& w, const instruction& i) {
      if (members_have_met(w, i, 0)) w.synchronise();
    };
  };
  table["bar.sync"] = plain<[](warp& w, const instruction&) { w.arrive_at_barrier(); }>();
  table["ret"] = plain<[](warp& w, const instruction&) { w.end_lanes(); }>();
  return table;
}

}  // namespace cutpoint::ptx
