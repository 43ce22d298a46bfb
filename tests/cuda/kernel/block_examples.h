// The input of the kernels of tests/cuda/kernel/block_kernels.h, and plain loops that compute their expected output.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "cuda/kernel/block.h"
#include "tests/cuda/device/on_device.h"

namespace cutpoint::cuda {

using example_words = std::array<std::uint32_t, example_threads>;

inline example_words example_input() {
  example_words words{};
  std::mt19937 random(1);
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random()) % 0xf0000000;
  words[40] = 0xffffffff;  // the only large word, in the second warp
  return words;
}

inline std::vector<std::uint32_t> example_expected(example which, const example_words& in) {
  std::vector<std::uint32_t> out(in.size());
  for (std::uint32_t i = 0; i < in.size(); ++i) {
    const std::uint32_t* const warp = in.data() + i / warp_size * warp_size;
    const std::uint32_t lane = i % warp_size;
    switch (which) {
      case example::reverse:
        out[i] = in[in.size() - 1 - i] + i;
        break;
      case example::rotate:
        out[i] = in[(i + 1) % in.size()];
        break;
      case example::warp: {
        std::uint32_t odd = 0;
        for (std::uint32_t l = 0; l < warp_size; ++l) odd |= warp[l] % 2 << l;
        out[i] = (odd + warp[5] + (i / warp_size == 1 ? lane : 0)) ^ warp[(lane * 7 + 3) % warp_size];
        break;
      }
    }
  }
  return out;
}

}  // namespace cutpoint::cuda
