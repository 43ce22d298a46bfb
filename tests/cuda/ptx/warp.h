// The state of a launch, a block and a warp while a kernel is interpreted.
#pragma once

#include <array>
#include <bit>
#include <random>
#include <vector>

#include "tests/cuda/ptx/program.h"

namespace cutpoint::ptx {

/// The order of warps and blocks, from a seed.
using random_order = std::mt19937;

template <class Each>
void for_each_bit(u32 bits, Each each) {
  for (; bits != 0; bits &= bits - 1) each(static_cast<u32>(std::countr_zero(bits)));
}

/// The sizes and the arguments of a launch, in one dimension.
struct launch {
  const kernel* code = nullptr;
  u32 blocks = 0;
  u32 threads = 0;  ///< of a block
  u64 shared_bytes = 0;
  std::vector<u8> parameters;
};

/// Runs a launch to its end. Throws `fault`.
void run(const launch& work, device_memory& memory, random_order& order);

/// The memory of a block, with the regions that were found last.
class block_memory {
 public:
  block_memory(device_memory& global, const launch& work);

  [[nodiscard]] region& global_at(u64 address, u64 size) {
    region*& last = last_[address >> 9 & 15];
    if (last == nullptr || !last->has(address, size)) last = &global_.at(address, size);
    return *last;
  }

  region shared;
  region parameters;

 private:
  device_memory& global_;
  std::array<region*, 16> last_{};
};

/// An asynchronous copy to shared memory that is not waited for.
struct pending_copy {
  u32 lane;
  u32 group;
  u32 size;
  u64 destination;
  u64 source;
};

/// A warp, whose lanes may be at several instructions. Those at the lowest one run first, so that they meet again.
class warp {
 public:
  enum class state { runs, waits, ended };
  static constexpr u32 all_lanes = ~u32{0};

  /// `first_thread` is the number of lane 0 in its block. `time` counts the synchronisations of all launches; this one began
  /// at `launched`.
  warp(const launch& work, block_memory& memory, u32 block, u32 first_thread, u32 launched, u32& time);

  /// Runs until all lanes wait at the block's barrier or have ended.
  state run();
  /// Leaves the block's barrier.
  void pass_barrier();

  template <class T>
  [[nodiscard]] T* lanes(u32 offset) {
    return registers_.lanes<T>(offset);
  }
  [[nodiscard]] u32& predicate(u32 offset) { return *lanes<u32>(offset); }
  [[nodiscard]] u32 active() const { return active_; }
  [[nodiscard]] const thread_clock& clock() const { return clock_; }

  void branch(u32 jumping, u32 target);
  void end_lanes();
  /// Whether all these lanes are at the instruction that runs now. If not, the active ones wait there for the others.
  bool have_met(u32 members);
  void arrive_at_barrier();
  void synchronise() { clock_.synchronise(thread_clock::same_warp, ++time_); }

  block_memory& memory;
  std::vector<pending_copy> copies;
  std::array<u32, 32> copy_groups{};  ///< committed by each lane

 private:
  static constexpr u32 nowhere = ~u32{0};
  static constexpr u32 most_branches = 1 << 28;
  struct group {
    u32 at;
    u32 lanes;
  };

  void choose_group();

  const std::vector<instruction>& code_;
  register_image registers_;
  u32& time_;
  thread_clock clock_;
  u32 at_ = 0;  ///< the instruction after the one that runs
  u32 active_ = all_lanes;
  u32 next_ = nowhere;  ///< the first instruction of `others_`
  u32 live_ = all_lanes;
  u32 branches_ = 0;
  std::vector<group> others_;
  std::vector<group> waiting_;
  bool at_barrier_ = false;
};

}  // namespace cutpoint::ptx
