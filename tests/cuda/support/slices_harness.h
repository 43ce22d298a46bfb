// A scheme's cuts on the host: pieces of streams packed into one buffer, and all kernels of cuda/slices.h run over it
// in the order in which a device runs them.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <cutpoint/chunker.h>
#include <gtest/gtest.h>

#include "cuda/batch_room.h"
#include "cuda/host_machine.h"
#include "cuda/slicer.h"

namespace cutpoint::cuda {

/// Bytes in a buffer as a batch has them: aligned to 16 bytes, and garbage up to the next multiple of 16 past the last.
class packed_buffer {
 public:
  explicit packed_buffer(byte_span bytes) : units_((bytes.size() + sizeof(bytes16) - 1) / sizeof(bytes16)) {
    size_ = bytes.size();
    if (bytes.empty()) return;
    std::memset(units_.data(), 0xa5, units_.size() * sizeof(bytes16));
    std::memcpy(units_.data(), bytes.data(), bytes.size());
  }
  [[nodiscard]] packed_bytes view() const { return {reinterpret_cast<const std::uint8_t*>(units_.data()), size_}; }

 private:
  std::vector<bytes16> units_;
  std::uint64_t size_ = 0;
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

/// Chunks of a buffer, by position, in order: found by the slicer that devices have, on the host.
template <class Scheme>
std::vector<chunk> cut_in_slices(const Scheme& scheme, packed_bytes in, const std::vector<piece>& pieces,
                                 const slicing& how) {
  host_machine machine({.order = how.order, .block_count = how.blocks, .thread_count = how.threads});
  const auto cutting = slicer_of<host_machine, Scheme>::make(machine, scheme);
  const slice_plan plan{.slice_bytes = how.slice_bytes, .least_chunk = scheme.sizes.least_chunk};
  std::vector<slice> slices;
  for (std::uint32_t p = 0; p < pieces.size(); ++p) append_slices(plan, pieces[p], p, slices);
  if (slices.empty()) return {};
  const batch_limits limits{.bytes = in.byte_count, .pieces = pieces.size()};
  const slice_plan room_plan{.most_slices = slices.size(), .most_chunks = slices.back().row + slices.back().room};
  const auto room = batch_room<host_machine>::allocate(machine, room_plan, limits, Scheme::levels);
  const auto chunks_room = chunk_room<host_machine>::allocate(machine, room_plan.most_chunks);
  slice_job job = room->job(in, static_cast<std::uint32_t>(slices.size()), chunks_room->list());
  std::copy(pieces.begin(), pieces.end(), room->pieces.data());
  std::copy(slices.begin(), slices.end(), room->slices.data());
  *job.batch.overflowed = 0;
  job.rounds = how.rounds;
  const status cut = (*cutting)->enqueue(machine, job);
  EXPECT_TRUE(cut.ok()) << cut.message();
  EXPECT_EQ(*job.batch.overflowed, 0u);
  std::vector<chunk> chunks(cut.ok() ? *job.chunks.count : 0);
  for (std::size_t i = 0; i < chunks.size(); ++i) chunks[i] = {job.chunks.begins[i], job.chunks.lengths[i]};
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
    pieces.push_back({.begin = base,
                      .start = base + start - begin,
                      .stop = packed.size(),
                      .end = packed.size(),
                      .ends = ends ? 1u : 0u});
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
    return it == end
               ? std::string("nothing")
               : std::string("[") + std::to_string(it->offset) + ", " + std::to_string(it->offset + it->length) + ")";
  };
  ADD_FAILURE() << reference.canonical() << ", " << packed.size() << " bytes in slices of " << how.slice_bytes
                << ": chunk " << at - found.begin() << " is " << text(at, found.end()) << " instead of "
                << text(instead, expected.end());
}

}  // namespace cutpoint::cuda
