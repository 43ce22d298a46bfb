// Tuning values. They change the speed of kernels but not their results.
#pragma once

#include <cstdint>

namespace cutpoint::cuda {

/// Tuning of the scans of rolling hashes for compute capability 9.0. A table of 256 entries takes 32 KiB of shared memory
/// (a copy for each lane that shared memory serves in a cycle), the staged bytes take 40 KiB. So three blocks fit on a
/// multiprocessor with one table, two with two. Of 8.0's 164 KiB two blocks fit with one table, one with two.
struct rolling_tuning {
  /// Threads of a block on a device, a multiple of 32. On the host the launch decides.
  std::uint32_t threads_per_block = 256;
  /// Bytes that a thread scans after its 64 bytes of warm-up, a multiple of 64. Longer runs need less warm-up (64 / run_bytes
  /// of all work). With shorter runs a smaller batch keeps the whole device busy.
  std::uint32_t run_bytes = 512;
  /// Steps of 64 bytes per thread in shared memory, at least 2: one is scanned while the others are copied.
  std::uint32_t stages = 2;

  bool operator==(const rolling_tuning&) const = default;
};

/// Of scans with two tables, which take 104 KiB otherwise, on devices whose blocks have less shared memory: 99 KiB with compute
/// capability 8.6, 8.9 and 12.0. Two tables and the staged bytes of half as many threads take 84 KiB.
inline constexpr rolling_tuning small_block_tuning{.threads_per_block = 128};

/// Tuning of partitions.
struct partition_tuning {
  /// The most that the length of a partition is over the length in which two chains of cuts meet on random data; the least is
  /// 1. With longer partitions fewer chains fail to meet within a partition and need another round.
  std::uint32_t resync_multiple = 4;
  /// Partitions that keep a device busy while other batches are copied and cut: a batch that would have fewer has shorter
  /// ones. About four warps for each multiprocessor.
  std::uint32_t busy_partitions = 512;
  /// The minimum length of a partition in bytes, unless its stream range is shorter.
  std::uint32_t min_partition_bytes = 64 * 1024;
  /// The fewest rounds in which all partitions are joined in parallel, before one warp joins the rest.
  std::uint32_t min_rounds = 4;
  /// The length that a chain has passed after all rounds, over that in which two chains meet.
  std::uint32_t rounds_multiple = 8;
};

}  // namespace cutpoint::cuda
