// A scheme's cuts on the host: pieces of streams packed into one buffer, and all kernels of cuda/slices.h run over it
// in the order in which a device runs them.
#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include <cutpoint/chunker.h>
#include <gtest/gtest.h>

#include "cuda/host_block.h"
#include "cuda/scheme.h"
#include "cuda/slices.h"

namespace cutpoint::cuda {

/// Bytes in a buffer as a batch has them: aligned to 16 bytes, and garbage up to the next multiple of 16 past the last.
class packed_buffer {
 public:
  explicit packed_buffer(byte_span bytes)
      : units_((bytes.size() + sizeof(bytes16) - 1) / sizeof(bytes16),
               bytes16{.words = {0xa5a5a5a5, 0xa5a5a5a5, 0xa5a5a5a5, 0xa5a5a5a5}}),
        size_(bytes.size()) {
    if (!bytes.empty()) std::memcpy(units_.data(), bytes.data(), bytes.size());
  }
  [[nodiscard]] packed_bytes view() const { return {reinterpret_cast<const std::uint8_t*>(units_.data()), size_}; }

 private:
  std::vector<bytes16> units_;
  std::uint64_t size_;
};

/// What a batch has of a stream: from the chunk number `first_chunk` on, and no more than the stream's first `shown`
/// bytes.
struct stream_part {
  byte_span stream;
  std::uint64_t shown = 0;
  std::size_t first_chunk = 0;
};

/// How a batch is sliced, and how its kernels are run.
struct slicing {
  std::uint64_t slice_bytes = 4096;
  std::uint32_t rounds = 2;  ///< of settling
  std::uint32_t threads = 64;
  std::uint32_t blocks = 2;
  thread_order order = thread_order::forward();
};

/// Runs a kernel as a launch does; what it does wrong is a failure of the test.
template <class Kernel>
void run_kernel(const Kernel& kernel, const slicing& how, std::uint32_t blocks, std::uint32_t threads) {
  host_launch launch{.block_count = blocks, .thread_count = threads, .order = how.order};
  if constexpr (requires { kernel.shared_bytes(threads); }) launch.shared_bytes = kernel.shared_bytes(threads);
  for (const std::string& fault : run_on_host(launch, [&](auto& block) { kernel(block); })) ADD_FAILURE() << fault;
}

template <class Kernel>
void run_kernel(const Kernel& kernel, const slicing& how) {
  run_kernel(kernel, how, how.blocks, how.threads);
}

/// The candidates that a scheme's scan marks, as many words as it has levels and words in each. Every word is garbage
/// before.
template <class Scheme>
std::vector<std::uint64_t> candidates_of(const Scheme& scheme, packed_bytes in, const slicing& how) {
  in.words = packed_bytes::candidate_words(in.byte_count);
  std::vector<std::uint64_t> marks(Scheme::levels * in.words, 0xbadbadbadbadbadb);
  if constexpr (Scheme::levels != 0) {
    in.candidates = marks.data();
    run_kernel(scheme.scan(in, scheme.table.data()), how);
  }
  return marks;
}

/// Slices of `slice_bytes` (the last of a piece may be shorter), in order.
inline std::vector<slice> slices_of(const std::vector<piece>& pieces, std::uint64_t slice_bytes) {
  std::vector<slice> slices;
  for (std::uint32_t p = 0; p < pieces.size(); ++p) {
    for (std::uint64_t begin = pieces[p].start; begin < pieces[p].end; begin += slice_bytes) {
      slices.push_back({.begin = begin,
                        .end = std::min(begin + slice_bytes, pieces[p].end),
                        .piece = p,
                        .is_first = begin == pieces[p].start ? 1u : 0u});
    }
  }
  return slices;
}

/// Chunks of a buffer, by position, in order.
template <class Scheme>
std::vector<chunk> cut_in_slices(const Scheme& scheme, packed_bytes in, const std::vector<piece>& pieces,
                                 const slicing& how) {
  std::vector<std::uint64_t> marks = candidates_of(scheme, in, how);
  in.candidates = marks.data();
  in.words = packed_bytes::candidate_words(in.byte_count);
  const std::vector<slice> slices = slices_of(pieces, how.slice_bytes);
  const auto slice_count = static_cast<std::uint32_t>(slices.size());
  const auto capacity = static_cast<std::uint32_t>(how.slice_bytes / scheme.sizes.least_chunk + 1);
  std::vector<std::uint32_t> own_ends(std::size_t{slice_count} * capacity);
  std::vector<std::uint32_t> prefix_ends(own_ends.size());
  std::vector<own_chain> own(slice_count);
  std::uint32_t overflowed = 0;

  const auto cutter = scheme.cutter(scheme.table.data());
  using cutter_type = std::remove_const_t<decltype(cutter)>;
  const slice_work<cutter_type> work{.in = in,
                                     .pieces = pieces.data(),
                                     .slices = slices.data(),
                                     .slice_count = slice_count,
                                     .capacity = capacity,
                                     .own_ends = own_ends.data(),
                                     .prefix_ends = prefix_ends.data(),
                                     .own = own.data(),
                                     .overflowed = &overflowed,
                                     .cutter = cutter};
  std::vector<slice_state> states(slice_count);
  std::vector<slice_state> settled(slice_count);
  run_kernel(map_kernel<cutter_type>{.work = work, .states = states.data()}, how);
  for (std::uint32_t round = 0; round < how.rounds; ++round) {
    run_kernel(settle_kernel<cutter_type>{.work = work, .before = states.data(), .after = settled.data()}, how);
    states.swap(settled);
  }
  run_kernel(finish_kernel<cutter_type>{.work = work, .states = states.data()}, how, 1, warp_size);

  std::vector<std::uint32_t> counts(slice_count + 1);
  run_kernel(count_kernel{.states = states.data(),
                          .own = own.data(),
                          .slice_count = slice_count,
                          .capacity = capacity,
                          .counts = counts.data(),
                          .overflowed = &overflowed},
             how);
  EXPECT_EQ(overflowed, 0u);
  std::vector<std::uint32_t> firsts(slice_count + 1);
  std::exclusive_scan(counts.begin(), counts.end(), firsts.begin(), std::uint32_t{0});
  std::vector<std::uint64_t> begins(firsts.back());
  std::vector<std::uint32_t> lengths(firsts.back());
  std::uint32_t count = 0;
  run_kernel(gather_kernel<cutter_type>{.work = work,
                                        .states = states.data(),
                                        .firsts = firsts.data(),
                                        .to = {.begins = begins.data(), .lengths = lengths.data(), .count = &count}},
             how);
  EXPECT_EQ(count, firsts.back());
  std::vector<chunk> chunks(count);
  for (std::size_t i = 0; i < chunks.size(); ++i) chunks[i] = {.offset = begins[i], .length = lengths[i]};
  return chunks;
}

/// Cuts parts of streams that lie one after the other in one buffer, and expects of each the reference's chunks: those
/// from its first on that what is shown decides by the reach alone. `scheme` is that of the chunker's parameters.
template <class Scheme>
void expect_reference_cuts(const Scheme& scheme, const chunker& reference, const std::vector<stream_part>& parts,
                           const slicing& how) {
  std::vector<std::uint8_t> packed;
  std::vector<piece> pieces;
  std::vector<chunk> expected;
  const auto cutter = scheme.cutter(scheme.table.data());
  EXPECT_EQ(cutter.reach, reference.reach());
  EXPECT_EQ(scheme.sizes.behind, reference.behind());
  for (const stream_part& part : parts) {
    const std::vector<chunk> chunks = reference.find_cuts(part.stream);
    if (part.first_chunk >= chunks.size() || chunks[part.first_chunk].offset >= part.shown) continue;
    const std::uint64_t start = chunks[part.first_chunk].offset;
    const std::uint64_t begin = start - std::min(start, scheme.sizes.behind);
    const bool ends = part.shown == part.stream.size();
    const std::uint64_t base = packed.size();
    const byte_span shown = part.stream.subspan(begin, part.shown - begin);
    packed.insert(packed.end(), shown.begin(), shown.end());
    pieces.push_back({.begin = base, .start = base + start - begin, .end = packed.size(), .ends = ends ? 1u : 0u});
    for (std::size_t i = part.first_chunk; i < chunks.size(); ++i) {
      const chunk& each = chunks[i];
      if (!ends && (each.offset >= part.shown || part.shown - each.offset < reference.reach())) break;
      expected.push_back({.offset = base + each.offset - begin, .length = each.length});
    }
  }
  const packed_buffer buffer(packed);
  const std::vector<chunk> found = cut_in_slices(scheme, buffer.view(), pieces, how);
  const auto [at, instead] = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
  if (at == found.end() && instead == expected.end()) return;
  const auto text = [](const auto& it, const auto& end) {
    return it == end ? std::string("nothing")
                     : "[" + std::to_string(it->offset) + ", " + std::to_string(it->offset + it->length) + ")";
  };
  ADD_FAILURE() << reference.canonical() << ", " << packed.size() << " bytes in slices of " << how.slice_bytes
                << ": chunk " << at - found.begin() << " is " << text(at, found.end()) << " instead of "
                << text(instead, expected.end());
}

}  // namespace cutpoint::cuda
