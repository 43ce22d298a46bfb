// The benchmarks' data in the memory of the interpreted device. These functions stand for kernels, which would take the interpreter long.
#include "bench/device/random_words.cuh"

#include <algorithm>

#include "cuda/device/runtime.cuh"
#include "host/core/splitmix.h"
#include "tests/cuda/ptx/device.h"

namespace cutpoint::bench {
namespace {

/// Calls f with the words' address on the host, after all earlier work of the default stream.
template <class Word, class Function>
status with_words(Word* words, std::uint64_t count, Function f) {
  return cuda::check(ptx::call([&](ptx::device& devices) {
                       devices.finish(devices.queue_of(nullptr));
                       f(devices.memory.array(words, count));
                     }),
                     "random words");
}

}  // namespace

status make_random_words(std::uint64_t* words, std::uint64_t count) {
  return with_words(words, count, [&](std::uint64_t* there) {
    std::generate_n(there, count, [numbers = splitmix64(0)]() mutable { return numbers.next(); });
  });
}

result<bool> are_random_words(const std::uint64_t* words, std::uint64_t count) {
  bool are_equal = false;
  const status read = with_words(words, count, [&](const std::uint64_t* there) {
    are_equal = std::all_of(there, there + count,
                            [numbers = splitmix64(0)](std::uint64_t word) mutable { return word == numbers.next(); });
  });
  return read.ok() ? result<bool>(are_equal) : result<bool>(read);
}

}  // namespace cutpoint::bench
