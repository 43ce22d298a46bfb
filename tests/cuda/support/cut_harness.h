// A harness that cuts on the host by a specification. It packs ranges of streams into one buffer and runs all kernels
// of cuda/cut/cut_kernels.h in the order of a device.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <cutpoint/chunker.h>
#include <gtest/gtest.h>
#include <host_launchers.h>

#include "cuda/batch/workspace.h"

namespace cutpoint::cuda {

/// The bytes of a batch: aligned to 16 bytes, with garbage up to the next multiple of 16 after the last byte.
class packed_buffer {
 public:
  explicit packed_buffer(byte_span bytes) : vectors_((bytes.size() + sizeof(bytes16) - 1) / sizeof(bytes16)) {
    size_ = bytes.size();
    if (bytes.empty()) return;
    std::memset(vectors_.data(), 0xa5, vectors_.size() * sizeof(bytes16));
    std::memcpy(vectors_.data(), bytes.data(), bytes.size());
  }
  [[nodiscard]] packed_bytes view() const { return {reinterpret_cast<const std::uint8_t*>(vectors_.data()), size_}; }

 private:
  std::vector<bytes16> vectors_;
  std::uint64_t size_ = 0;
};

/// The part of a stream that a batch has: the bytes from the chunk with the number `first_chunk` on, and only those
/// among the stream's first `shown` bytes.
struct shown_stream {
  byte_span stream;
  std::uint64_t shown = 0;
  std::size_t first_chunk = 0;
};

/// The partitions of a batch, and the launches of its kernels.
struct partitioning {
  std::uint64_t partition_bytes = 4096;
  std::uint32_t rounds = 2;  ///< rounds of the join
  std::uint32_t threads = 64;
  std::uint32_t blocks = 2;
  thread_order order = thread_order::forward();
};

/// Runs a kernel like a launch. Faults that the host detects fail the test.
template <class Kernel>
void run_kernel(const Kernel& kernel, const partitioning& how, std::uint32_t blocks, std::uint32_t threads) {
  host_launch launch{.block_count = blocks, .thread_count = threads, .order = how.order};
  if constexpr (requires { kernel.shared_bytes(threads); }) launch.shared_bytes = kernel.shared_bytes(threads);
  for (const std::string& fault : run_on_host(launch, [&](auto& block) { kernel(block); })) ADD_FAILURE() << fault;
}

template <class Kernel>
void run_kernel(const Kernel& kernel, const partitioning& how) {
  run_kernel(kernel, how, how.blocks, how.threads);
}

/// Returns the candidates that a specification's scan marks, all levels one after the other. Every word has garbage
/// before the scan.
template <class Specification>
std::vector<std::uint64_t> candidates_of(const Specification& specification, packed_bytes in, const partitioning& how) {
  in.words = packed_bytes::candidate_words(in.byte_count);
  std::vector<std::uint64_t> marks(Specification::levels * in.words, 0xbadbadbadbadbadb);
  if constexpr (Specification::levels != 0) {
    in.candidates = marks.data();
    run_kernel(specification.scan(in, specification.table.data()), how);
  }
  return marks;
}

/// Returns the chunks of a buffer, by position and in order, found by the same cut launcher as on a device.
template <class Specification>
std::vector<chunk> cut_in_partitions(const Specification& specification, packed_bytes in,
                                     const std::vector<stream_range>& stream_ranges, const partitioning& how) {
  host_executor executor({.order = how.order, .block_count = how.blocks, .thread_count = how.threads});
  const auto launcher = cut_launcher_for<host_executor, Specification>::make(executor, specification);
  const partition_plan plan{.partition_bytes = how.partition_bytes,
                            .min_chunk_bytes = specification.sizes.min_chunk_bytes};
  std::vector<partition> partitions;
  for (std::uint32_t p = 0; p < stream_ranges.size(); ++p) append_partitions(plan, stream_ranges[p], p, partitions);
  if (partitions.empty()) return {};
  const partition_plan workspace_plan{.max_partitions = partitions.size(),
                                      .max_chunks = partitions.back().first_slot + partitions.back().slot_count,
                                      .rounds = how.rounds};
  allocated_arrays<host_executor> arrays;
  allocated_arrays<host_executor>::allocator memory(executor, arrays);
  const auto workspace = cut_workspace::lay_out(memory, workspace_plan, stream_ranges.size(),
                                                Specification::levels * packed_bytes::candidate_words(in.byte_count));
  const auto chunk_memory = chunk_workspace::lay_out(memory, workspace_plan.max_chunks);
  auto* const temporary = memory.add<std::uint32_t>(partitions.size());
  executor.use_temporary_storage({reinterpret_cast<std::uint8_t*>(temporary), 4 * partitions.size()});
  const cut_launch_arguments job =
      workspace.job(in, stream_ranges.size(), static_cast<std::uint32_t>(partitions.size()),
                    chunk_memory.list_in(chunk_memory.bytes, chunk_memory.slots));
  std::copy(stream_ranges.begin(), stream_ranges.end(), workspace.stream_ranges());
  std::copy(partitions.begin(), partitions.end(), workspace.partitions(stream_ranges.size()));
  EXPECT_TRUE(workspace.clear_once(executor).ok());
  EXPECT_TRUE(workspace.clear_counters(executor).ok());
  const status cut = (*launcher)->enqueue(executor, job);
  EXPECT_TRUE(cut.ok()) << cut.message();
  EXPECT_EQ(*job.batch.overflowed, 0u);
  std::vector<chunk> chunks(cut.ok() ? *job.chunks.count : 0);
  for (std::size_t i = 0; i < chunks.size(); ++i) chunks[i] = {job.chunks.begins[i], job.chunks.lengths[i]};
  return chunks;
}

/// Cuts parts of streams in one buffer and expects the reference's chunks: from the first chunk of each part to the
/// last one that the shown bytes decide by the reach alone. `specification` must have the parameters of `reference`.
template <class Specification>
void expect_reference_cuts(const Specification& specification, const chunker& reference,
                           const std::vector<shown_stream>& streams, const partitioning& how) {
  std::vector<std::uint8_t> packed;
  std::vector<stream_range> stream_ranges;
  std::vector<chunk> expected;
  const auto cut_finder = specification.cut_finder(specification.table.data());
  EXPECT_EQ(cut_finder.reach, reference.reach());
  EXPECT_EQ(specification.sizes.behind, reference.behind());
  for (const shown_stream& one : streams) {
    const std::vector<chunk> chunks = reference.find_cuts(one.stream);
    if (one.first_chunk >= chunks.size() || chunks[one.first_chunk].offset >= one.shown) continue;
    const std::uint64_t start = chunks[one.first_chunk].offset;
    const std::uint64_t begin = start - std::min(start, specification.sizes.behind);
    const bool ends = one.shown == one.stream.size();
    const std::uint64_t base = packed.size();
    const byte_span shown = one.stream.subspan(begin, one.shown - begin);
    packed.insert(packed.end(), shown.begin(), shown.end());
    stream_ranges.push_back({.begin = base,
                             .start = base + start - begin,
                             .stop = packed.size(),
                             .end = packed.size(),
                             .ends = ends ? 1u : 0u});
    for (std::size_t i = one.first_chunk; i < chunks.size(); ++i) {
      const chunk& each = chunks[i];
      if (!ends && (each.offset >= one.shown || one.shown - each.offset < reference.reach())) break;
      expected.push_back({.offset = base + each.offset - begin, .length = each.length});
    }
  }
  const packed_buffer buffer(packed);
  const std::vector<chunk> actual_chunks = cut_in_partitions(specification, buffer.view(), stream_ranges, how);
  const auto [actual, instead] =
      std::mismatch(actual_chunks.begin(), actual_chunks.end(), expected.begin(), expected.end());
  if (actual == actual_chunks.end() && instead == expected.end()) return;
  const auto text = [](const auto& it, const auto& end) {
    return it == end
               ? std::string("nothing")
               : std::string("[") + std::to_string(it->offset) + ", " + std::to_string(it->offset + it->length) + ")";
  };
  ADD_FAILURE() << reference.canonical() << ", " << packed.size() << " bytes in partitions of " << how.partition_bytes
                << ": chunk " << actual - actual_chunks.begin() << " is " << text(actual, actual_chunks.end())
                << " instead of " << text(instead, expected.end());
}

/// The same by parameters, of which some may be left out.
template <class Parameters>
void expect_reference_cuts(const Parameters& parameters, const std::vector<shown_stream>& streams,
                           const partitioning& how = {}) {
  const auto reference = chunker::make(parameters);
  ASSERT_TRUE(reference.ok()) << reference.error().message();
  expect_reference_cuts(make_specification(std::get<Parameters>(reference->parameters())), *reference, streams, how);
}

/// The same for one whole stream.
template <class Parameters>
void expect_reference_cuts(const Parameters& parameters, byte_span stream, const partitioning& how = {}) {
  expect_reference_cuts(parameters, std::vector<shown_stream>{{.stream = stream, .shown = stream.size()}}, how);
}

}  // namespace cutpoint::cuda
