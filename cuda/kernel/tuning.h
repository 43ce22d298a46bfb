// Numbers that change how fast kernels are and never what they compute, apart from the kernels.
#pragma once

#include <cstdint>

namespace cutpoint::cuda {

/// Shape of the scans of rolling hashes on compute capability 9.0. A table of 256 entries takes 32 KiB of shared memory
/// (a copy for every lane that is served in a cycle), the bytes on their way 40 KiB: three blocks per multiprocessor
/// with one table, two with two.
struct rolling_tuning {
  /// Threads of a block on a device, a multiple of 32. On the host the launch decides.
  std::uint32_t threads_per_block = 256;
  /// Bytes that a thread scans after its 64 bytes of warm-up, a multiple of 64. More: less warm-up (64 / run_bytes of
  /// all work). Less: a smaller batch keeps the whole device busy.
  std::uint32_t run_bytes = 512;
  /// Steps of 64 bytes per thread in shared memory, at least 2: one is scanned while the others are on their way.
  std::uint32_t stages = 2;
};

/// How a batch is partitioned.
struct partition_tuning {
  /// A partition is so many times as long as two chains of cuts take to meet, on random data. More: fewer partitions that do not
  /// meet within themselves and wait for the next round. Less: more warps have work.
  std::uint32_t resync_multiple = 4;
  /// The shortest partition in bytes, unless its stream range is shorter.
  std::uint32_t min_partition_bytes = 64 * 1024;
  /// Rounds in which all partitions are joined at once, before one warp does the rest.
  std::uint32_t rounds = 4;
};

}  // namespace cutpoint::cuda
