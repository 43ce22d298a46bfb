// Small kernel bodies, for the host and for a device, which together use every part of a block. Each writes one word
// for each thread.
#pragma once

#include "cuda/kernel/block.h"

namespace cutpoint::cuda {

/// Uses shared memory, by index and by offset, and a variable that crosses barriers: out[i] = in[n-1-i] + i.
struct reverse_kernel {
  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block, const std::uint32_t* in, std::uint32_t* out) const {
    const auto copy = block.template shared<std::uint32_t>(block.thread_count());
    auto stored = block.template per_thread<std::uint32_t>(0);
    block.for_each_thread([&](auto thread) {
      copy.at_offset(thread.index() * sizeof(std::uint32_t)) = in[thread.index()];
      stored[thread] = thread.index();
    });
    block.for_each_thread(
        [&](auto thread) { out[thread.index()] = copy[copy.size() - 1 - thread.index()] + stored[thread]; });
  }
};

/// Uses copies into the places of other threads, with two groups in flight: out[i] = in[(i + 1) mod n].
struct rotate_kernel {
  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block, const std::uint32_t* in, std::uint32_t* out) const {
    const std::uint32_t count = block.thread_count();
    const auto staged = block.template shared<std::uint32_t>(2 * count);
    auto pipeline = block.template pipeline<std::uint32_t>();
    block.for_each_thread([&](auto thread) {
      for (std::uint32_t half = 0; half < 2; ++half) {
        pipeline.copy(thread, staged, half * count + thread.index(), in + thread.index());
        pipeline.commit(thread);
      }
      pipeline.template wait<1>(thread);
    });
    block.for_each_thread([&](auto thread) { out[thread.index()] = staged[(thread.index() + 1) % count]; });
    block.for_each_thread([&](auto thread) { pipeline.template wait<0>(thread); });
    block.for_each_thread([&](auto thread) {
      if (staged[count + thread.index()] != in[thread.index()]) out[thread.index()] = 0;
    });
  }
};

/// Uses every warp operation. `warp_operations_expected` has the expected output.
struct warp_kernel {
  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block, const std::uint32_t* in, std::uint32_t* out) const {
    block.for_each_warp([&](auto warp) {
      const std::uint32_t* const mine = in + warp.index() * warp_size;
      std::uint32_t* const results = out + warp.index() * warp_size;
      const std::uint32_t odd = warp.ballot([&](std::uint32_t lane) { return mine[lane] % 2 == 1; });
      const bool large = warp.any([&](std::uint32_t lane) { return mine[lane] > 0xf0000000; });
      const std::uint32_t fifth = warp.broadcast(5, [&](std::uint32_t lane) { return mine[lane]; });
      auto stored = warp.template per_lane<std::uint32_t>(odd);
      warp.for_each_lane([&](std::uint32_t lane) { stored[lane] += fifth + (large ? lane : 0); });
      warp.for_each_lane([&](std::uint32_t lane) { results[lane] = stored[lane]; });
      warp.shuffle([&](std::uint32_t lane) { return mine[lane]; },
                   [](std::uint32_t lane) { return (lane * 7 + 3) % warp_size; },
                   [&](std::uint32_t lane, std::uint32_t value) { results[lane] ^= value; });
    });
  }
};

}  // namespace cutpoint::cuda
