// Random batches for `expect_reference_cuts`: streams, the part of them in the batch, and the partitions.
#pragma once

#include "tests/cuda/support/cut_harness.h"
#include "tests/host/support/streams.h"

namespace cutpoint::cuda {

/// Random streams of up to `longest` bytes: whole, without their end, or without their first chunks.
class drawn_streams {
 public:
  drawn_streams(std::uint64_t longest, tests::choices& random) {
    for (std::uint64_t count = random.between(1, 5); count != 0; --count) {
      const auto what = tests::all_contents[random.between(0, tests::all_contents.size() - 1)];
      const auto& stream = streams_.emplace_back(tests::make_stream(what, random.between(1, longest), random));
      shown_.push_back({.stream = stream,
                        .shown = random.once_in(2) ? stream.size() : random.between(1, stream.size()),
                        .first_chunk = random.once_in(2) ? 0 : random.between(0, 5)});
    }
  }
  [[nodiscard]] const std::vector<shown_stream>& shown() const { return shown_; }

 private:
  std::vector<std::vector<std::uint8_t>> streams_;
  std::vector<shown_stream> shown_;
};

inline partitioning random_partitioning(tests::choices& random) {
  return {.partition_bytes = std::uint64_t{1} << random.between(6, 13),
          .rounds = static_cast<std::uint32_t>(random.between(1, 3)),
          .threads = static_cast<std::uint32_t>(32 * random.between(1, 3)),
          .blocks = static_cast<std::uint32_t>(random.between(1, 3)),
          .order = random.once_in(3)   ? thread_order::forward()
                   : random.once_in(2) ? thread_order::reversed()
                                       : thread_order::shuffled(random.word())};
}

}  // namespace cutpoint::cuda
