#include "bench/device/random_words.cuh"

#include <string>

#include <thrust/equal.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/system_error.h>
#include <thrust/tabulate.h>

#include "host/core/splitmix.h"

namespace cutpoint::bench {
namespace {

struct random_word {
  __host__ __device__ std::uint64_t operator()(std::uint64_t i) const {
    return splitmix64::mixed((i + 1) * splitmix64::step);
  }
};

/// Calls f, whose operations of Thrust wait for their end.
template <class Function>
auto with_status(const char* what, Function f) -> result<decltype(f())> {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return status(status_code::memory_limit, std::string(what) + " failed: out of memory");
  } catch (const thrust::system_error& failure) {
    return status(status_code::backend_failure, std::string(what) + " failed: " + failure.what());
  }
}

}  // namespace

status make_random_words(std::uint64_t* words, std::uint64_t count) {
  const auto outcome = with_status("making random bytes", [&] {
    thrust::tabulate(thrust::device, words, words + count, random_word{});
    return true;
  });
  return outcome ? status() : outcome.error();
}

result<bool> are_random_words(const std::uint64_t* words, std::uint64_t count) {
  return with_status("checking random bytes", [&] {
    const auto expected =
        thrust::make_transform_iterator(thrust::make_counting_iterator(std::uint64_t{0}), random_word{});
    return thrust::equal(thrust::device, words, words + count, expected);
  });
}

}  // namespace cutpoint::bench
