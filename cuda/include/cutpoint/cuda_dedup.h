// Finds on a device which chunks of a batch are new, so that a program compresses or sends only these.
//
// The header is over Thrust, which comes with the CUDA toolkit, and all of it is here: nvcc compiles it for a device, and a
// plain compiler for the processor, if THRUST_DEVICE_SYSTEM is THRUST_DEVICE_SYSTEM_CPP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

#include <cutpoint/status.h>
#include <thrust/binary_search.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/memory.h>
#include <thrust/merge.h>
#include <thrust/remove.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/system_error.h>
#include <thrust/tabulate.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>

#if defined(__CUDACC__)
#define CUTPOINT_DEDUP_FUNCTION __host__ __device__
#else
#define CUTPOINT_DEDUP_FUNCTION
#endif

namespace cutpoint {

/// Not part of the interface.
namespace dedup_detail {

inline constexpr std::uint32_t key_words = 4;

/// A digest as numbers whose order is that of its bytes. A short digest is filled up with zeros.
struct digest_key {
  std::uint64_t words[key_words];
};

struct is_less {
  CUTPOINT_DEDUP_FUNCTION bool operator()(const digest_key& a, const digest_key& b) const {
    for (std::uint32_t i = 0; i < key_words; ++i) {
      if (a.words[i] != b.words[i]) return a.words[i] < b.words[i];
    }
    return false;
  }
};

struct is_equal {
  CUTPOINT_DEDUP_FUNCTION bool operator()(const digest_key& a, const digest_key& b) const {
    bool equal = true;
    for (std::uint32_t i = 0; i < key_words; ++i) equal = equal && a.words[i] == b.words[i];
    return equal;
  }
};

/// Reads the digest of a chunk from an array of digests.
struct key_reader {
  const std::uint8_t* digests;
  std::uint32_t digest_bytes;

  CUTPOINT_DEDUP_FUNCTION digest_key operator()(std::size_t chunk) const {
    const std::uint8_t* const bytes = digests + chunk * digest_bytes;
    digest_key key{};
    for (std::uint32_t i = 0; i < key_words; ++i) {
      for (std::uint32_t at = 8 * i; at < 8 * i + 8; ++at) {
        key.words[i] = key.words[i] << 8 | (at < digest_bytes ? bytes[at] : 0u);
      }
    }
    return key;
  }
};

/// Whether the digest of a pair (digest, position) is in a sorted table.
struct is_in_table {
  const digest_key* table;
  std::size_t size;

  template <class Pair>
  CUTPOINT_DEDUP_FUNCTION bool operator()(const Pair& pair) const {
    const digest_key& key = thrust::get<0>(pair);
    return thrust::binary_search(thrust::seq, table, table + size, key, is_less{});
  }
};

/// Uninitialised memory for an array, from the allocator of a policy.
template <class T, class Policy>
class policy_array {
 public:
  policy_array(const Policy& policy, std::size_t size) : policy_(policy) {
    if (size == 0) return;
    const auto memory = thrust::get_temporary_buffer<T>(policy_, static_cast<std::ptrdiff_t>(size));
    if (memory.second < static_cast<std::ptrdiff_t>(size)) throw std::bad_alloc();
    pointer_ = memory.first;
    size_ = size;
  }
  policy_array(policy_array&& other) noexcept : policy_(other.policy_) { swap(other); }
  policy_array& operator=(policy_array&&) = delete;
  ~policy_array() {
    if (size_ != 0) thrust::return_temporary_buffer(policy_, pointer_, static_cast<std::ptrdiff_t>(size_));
  }

  void swap(policy_array& other) noexcept {
    std::swap(pointer_, other.pointer_);
    std::swap(size_, other.size_);
  }
  [[nodiscard]] T* begin() const { return thrust::raw_pointer_cast(pointer_); }
  [[nodiscard]] T* end() const { return begin() + size_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  Policy policy_;
  thrust::pointer<T, Policy> pointer_{};
  std::size_t size_ = 0;
};

}  // namespace dedup_detail

/// The digests of the chunks that a device has seen: a sorted table in device memory, 32 bytes for each digest. Two digests
/// are equal if all their bytes are.
///
/// `Policy` is an execution policy of Thrust, such as that of `thrust::cuda::par(allocator).on(stream)`. All work goes to its
/// stream, and all memory comes from its allocator, which must outlive the object: the table, and for each batch 36 bytes a
/// digest, what Thrust's sort takes, and a second table while the new digests are merged. Without an allocator each call
/// allocates and frees device memory.
///
/// Movable. One thread at a time may use it, and the current device must be the one of the stream.
template <class Policy>
class device_dedup {
 public:
  /// Makes an empty table for digests of 1 to 32 bytes, such as `device_chunks::digest_bytes`. Errors: invalid_argument.
  [[nodiscard]] static result<device_dedup> make(const Policy& policy, std::uint32_t digest_bytes) {
    if (digest_bytes == 0 || digest_bytes > max_digest_bytes) {
      return status(status_code::invalid_argument, "digest_bytes = " + std::to_string(digest_bytes) +
                                                       " must be between 1 and " + std::to_string(max_digest_bytes));
    }
    return device_dedup(policy, digest_bytes);
  }

  /// Inserts the digests of a batch, and writes the positions of the chunks that are new into `new_chunks`, ascending: those
  /// whose digests were not in the table, the first one of each digest. Returns how many they are. These are the answers of
  /// a `memory_index`.
  ///
  /// `digests` is [count][digest_bytes] in device memory, of any alignment. `new_chunks` has room for `count` positions in
  /// device memory and does not overlap the digests; what is after the new ones has no meaning. The call may synchronise the
  /// stream, so that it cannot be captured into a graph. When it returns, a policy that synchronises has done all work.
  ///
  /// The time is that of a sort of the batch, and of a copy of the table if anything is new.
  /// Errors: memory_limit; backend_failure. The table is then as before the call, and `new_chunks` has no meaning. Exceptions
  /// of the allocator other than std::bad_alloc and thrust::system_error are passed on.
  [[nodiscard]] result<std::uint32_t> insert(const std::uint8_t* digests, std::uint32_t count,
                                             std::uint32_t* new_chunks) {
    if (count == 0) return std::uint32_t{0};
    try {
      return insert_some(digests, count, new_chunks);
    } catch (const std::bad_alloc&) {
      return status(status_code::memory_limit, "deduplicating " + std::to_string(count) + " digests, with " +
                                                   std::to_string(size()) + " in the table, failed: out of memory");
    } catch (const thrust::system_error& failure) {
      return status(status_code::backend_failure,
                    "deduplicating " + std::to_string(count) + " digests failed: " + failure.what());
    }
  }

  /// Returns the number of digests in the table.
  [[nodiscard]] std::uint64_t size() const noexcept { return table_.size(); }

 private:
  using digest_key = dedup_detail::digest_key;
  using key_array = dedup_detail::policy_array<digest_key, Policy>;
  static constexpr std::uint32_t max_digest_bytes = sizeof(digest_key);

  device_dedup(const Policy& policy, std::uint32_t digest_bytes)
      : policy_(policy), digest_bytes_(digest_bytes), table_(policy, 0) {}

  std::uint32_t insert_some(const std::uint8_t* digests, std::uint32_t count, std::uint32_t* positions) {
    const key_array keys(policy_, count);
    thrust::tabulate(policy_, keys.begin(), keys.end(), dedup_detail::key_reader{digests, digest_bytes_});
    thrust::sequence(policy_, positions, positions + count);
    // The sort is stable, so that the first of equal digests is the first in the batch.
    thrust::stable_sort_by_key(policy_, keys.begin(), keys.end(), positions, dedup_detail::is_less{});
    const auto distinct = thrust::unique_by_key(policy_, keys.begin(), keys.end(), positions, dedup_detail::is_equal{});
    const auto pairs = thrust::make_zip_iterator(keys.begin(), positions);
    const auto absent = thrust::remove_if(policy_, pairs, pairs + (distinct.first - keys.begin()),
                                          dedup_detail::is_in_table{table_.begin(), table_.size()});
    const auto new_count = absent - pairs;
    if (new_count == 0) return 0;

    key_array merged(policy_, table_.size() + static_cast<std::size_t>(new_count));
    thrust::merge(policy_, table_.begin(), table_.end(), keys.begin(), keys.begin() + new_count, merged.begin(),
                  dedup_detail::is_less{});
    thrust::sort(policy_, positions, positions + new_count);
    table_.swap(merged);
    return static_cast<std::uint32_t>(new_count);
  }

  Policy policy_;
  std::uint32_t digest_bytes_;
  key_array table_;
};

}  // namespace cutpoint

#undef CUTPOINT_DEDUP_FUNCTION
