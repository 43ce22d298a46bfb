// Whole cuts by the kernels' own source on the host: scans, cutters and slices, against the references.
#include <gtest/gtest.h>

#include "cuda/schemes.h"
#include "tests/cuda/support/slices_harness.h"
#include "tests/host/support/streams.h"
#include "tests/host/support/tiny_parameters.h"

namespace cutpoint::cuda {
namespace {

using tests::choices;
using tests::seeded_choices;

/// Some streams of all lengths up to `longest`, whole, broken off, or begun before.
class drawn_streams {
 public:
  drawn_streams(std::uint64_t longest, choices& random) {
    for (std::uint64_t count = random.between(1, 5); count != 0; --count) {
      const auto what = tests::all_contents[random.between(0, tests::all_contents.size() - 1)];
      const auto& stream = streams_.emplace_back(tests::make_stream(what, random.between(1, longest), random));
      parts_.push_back({.stream = stream,
                        .shown = random.once_in(2) ? stream.size() : random.between(1, stream.size()),
                        .first_chunk = random.once_in(2) ? 0 : random.between(0, 5)});
    }
  }
  [[nodiscard]] const std::vector<stream_part>& parts() const { return parts_; }

 private:
  std::vector<std::vector<std::uint8_t>> streams_;
  std::vector<stream_part> parts_;
};

slicing drawn_slicing(choices& random) {
  return {.slice_bytes = std::uint64_t{1} << random.between(6, 13),
          .rounds = static_cast<std::uint32_t>(random.between(0, 3)),
          .threads = static_cast<std::uint32_t>(32 * random.between(1, 3)),
          .blocks = static_cast<std::uint32_t>(random.between(1, 3)),
          .order = random.once_in(3)   ? thread_order::forward()
                   : random.once_in(2) ? thread_order::reversed()
                                       : thread_order::shuffled(random.word())};
}

template <class Parameters>
class scheme : public testing::Test {};

using schemes = testing::Types<gear_parameters, ram_parameters>;
TYPED_TEST_SUITE(scheme, schemes);

TYPED_TEST(scheme, cuts_as_the_reference_does) {
  constexpr std::size_t which = algorithm_parameters(TypeParam{}).index();
  for (std::uint64_t seed = 1; seed <= 60 && !this->HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    seeded_choices random(seed);
    const auto reference = chunker::make(tests::tiny_parameters(which, random));
    ASSERT_TRUE(reference.ok()) << reference.error().message();
    const drawn_streams streams(random.once_in(4) ? 200 : 20'000, random);
    expect_reference_cuts(make_scheme(std::get<TypeParam>(reference->parameters())), *reference, streams.parts(),
                          drawn_slicing(random));
  }
}

}  // namespace
}  // namespace cutpoint::cuda
