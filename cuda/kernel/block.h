// The contract of kernel bodies, which nvcc compiles for a device and a plain compiler for the host.
//
// A kernel body is a function template over a block type:
//
//     template <class Block>
//     CUTPOINT_KERNEL_BODY void reverse(Block& block, std::uint32_t* values) {
//       const auto copy = block.template shared<std::uint32_t>(block.thread_count());
//       block.for_each_thread([&](auto thread) { copy[thread.index()] = values[thread.index()]; });
//       block.for_each_thread([&](auto thread) { values[thread.index()] = copy[copy.size() - 1 - thread.index()]; });
//     }
//
// A phase is one call of for_each_thread or for_each_warp. Every phase ends in the block's barrier, and no other barrier
// exists. A forgotten barrier merges two phases, which a shuffled thread order on the host detects. Code outside phases must
// do the same in every thread: it uses only the arguments, the block and values derived from them.
//
// A block has (device: cuda/device/device_block.cuh; host: cuda/host_double/host_block.h):
//
//   index(), count()             this block and the grid's number of blocks
//   thread_count()               threads of this block, a multiple of warp_size
//   shared<T>(count)             uninitialised shared memory, aligned to 16 bytes: operator[], size(), data(), and
//                                at_offset(bytes), the element that begins `bytes` after the first.
//                                All arrays together take the launch's shared_bytes; shared_size<T>(count) is the size
//                                of one
//   per_thread<T>(value)         a variable of each thread that lives across barriers: variable[thread]
//   pipeline<T>()                asynchronous copies from global to shared memory, sizeof(T) = 4, 8 or 16 bytes each:
//                                copy(thread, array, index, source)  starts one; the source is aligned to sizeof(T)
//                                commit(thread)                      closes the thread's group of copies, possibly empty
//                                wait<Newest>(thread)                waits for all its groups but the newest ones; other
//                                                                    threads may read the copies in the next phase
//   for_each_thread(body)        body(thread): thread.index(), thread.lane()
//   for_each_warp(body)          body(warp): warp.index(), and operations over functions of a lane. A function must not
//                                read memory that another lane writes in the same phase:
//                                for_each_lane(f)                    f(l) in every lane l
//                                ballot(f)                           bit l is f(l)
//                                any(f)                              true if f is true in any lane
//                                broadcast(source, f)                f(source), in every lane
//                                shuffle(f, source_of, consume)      consume(l, f(source_of(l))) in every lane l
//                                per_lane<T>(value)                  a variable of each lane, until the phase ends:
//                                                                    variable[l], in functions of lane l only
//                                sync()                              makes the lanes' earlier writes to memory visible
//                                                                    to all lanes
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define CUTPOINT_DEVICE __device__ __forceinline__
#define CUTPOINT_HOST_DEVICE __host__ __device__ __forceinline__
#define CUTPOINT_DEVICE_RARE inline __device__ __noinline__
#else
#define CUTPOINT_DEVICE inline
#define CUTPOINT_HOST_DEVICE inline
#define CUTPOINT_DEVICE_RARE inline
#endif
#if defined(__CUDA_ARCH__)
#define CUTPOINT_UNROLL _Pragma("unroll")
#define CUTPOINT_NO_UNROLL _Pragma("unroll 1")
#else
#define CUTPOINT_UNROLL
#define CUTPOINT_NO_UNROLL
#endif
/// Marks a function template over a block: device code under nvcc, plain code elsewhere. CUTPOINT_DEVICE marks functions that
/// it calls, and CUTPOINT_DEVICE_RARE functions that are called so rarely that they should not be inlined.
#define CUTPOINT_KERNEL_BODY CUTPOINT_DEVICE

namespace cutpoint::cuda {

inline constexpr std::uint32_t warp_size = 32;

/// Sixteen bytes that are loaded or stored at once. Little endian: byte i is bits 8·(i mod 4) of word i/4.
struct alignas(16) bytes16 {
  std::uint32_t words[4];

  [[nodiscard]] CUTPOINT_HOST_DEVICE std::uint32_t byte(std::uint32_t i) const {
    return (words[i / 4] >> (8 * (i % 4))) & 0xff;
  }
};

/// Returns the address `offset` bytes after `base`, modulo 2^64. `base` may be null. It is in global memory, which nvcc would not
/// know of a pointer that was a number.
[[nodiscard]] CUTPOINT_HOST_DEVICE const std::uint8_t* address_at(const std::uint8_t* base, std::uint64_t offset) {
#if defined(__CUDA_ARCH__)
  return static_cast<const std::uint8_t*>(__cvta_global_to_generic(__cvta_generic_to_global(base) + offset));
#else
  return reinterpret_cast<const std::uint8_t*>(  // NOLINT(performance-no-int-to-ptr): pointers do not wrap around
      reinterpret_cast<std::uintptr_t>(base) + offset);
#endif
}

/// Bytes of shared memory that a block's `shared<T>(count)` takes.
template <class T>
[[nodiscard]] CUTPOINT_HOST_DEVICE constexpr std::size_t shared_size(std::size_t count) {
  return (count * sizeof(T) + 15) / 16 * 16;
}

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
