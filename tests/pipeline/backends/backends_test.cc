// Tests of back ends: the one that was requested is used, the measured one runs here, and all give the same results.
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <cutpoint/backends.h>
#include <cutpoint/cut_kernel.h>
#include <gtest/gtest.h>

#include "pipeline/backends/fastest.h"
#include "tests/host/algorithms/chunkers.h"
#include "tests/host/support/choices.h"
#include "tests/host/support/streams.h"
#include "tests/host/support/value_of.h"
#include "tests/simd/support/kernel_faults.h"

namespace cutpoint::tests {
namespace {

constexpr backend every_backend[] = {backend::automatic, backend::scalar, backend::sha_ni,    backend::sse4,
                                     backend::avx2,      backend::avx512, backend::avx512_dl, backend::neon};

/// Returns the back end whose kernels cut where those of `which` are asked for. Scanners have kernels of their own for the last, and so
/// have algorithms that use AES.
backend cutting(backend which, bool has_own_of_last = false) {
  if (which == backend::sha_ni) return backend::sse4;
  return which == backend::avx512_dl && !has_own_of_last ? backend::avx512 : which;
}

/// The same for fingerprints with kernels.
backend hashing(backend which, fingerprint_kind kind) {
  if (which == backend::sha_ni && kind == fingerprint_kind::blake3) return backend::sse4;
  return which == backend::avx512_dl ? backend::avx512 : which;
}

bool runs(backend which) {
  const auto all = backends();
  return std::any_of(all.begin(), all.end(), [which](const backend_info& b) { return b.kind == which && b.runs_here; });
}

std::vector<backend> running() {
  std::vector<backend> available;
  std::copy_if(std::begin(every_backend), std::end(every_backend), std::back_inserter(available), runs);
  return available;
}

std::vector<std::uint8_t> some_bytes(std::uint64_t size) { return make_stream(content::mixed, size, 9); }

/// A kernel that belongs to no back end. It cuts one chunk up to the end.
class foreign_kernel final : public cut_kernel {
 public:
  std::uint64_t cut(byte_span bytes, std::uint64_t start) const noexcept override { return bytes.size() - start; }
  std::string_view backend() const noexcept override { return "foreign"; }
};

TEST(backends, begin_with_the_reference_and_have_their_names) {
  const auto all = backends();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.front().kind, backend::scalar);
  EXPECT_TRUE(all.front().runs_here);
  for (const backend_info& b : all) {
    EXPECT_EQ(to_string(b.kind), b.name);
    EXPECT_FALSE(b.meaning.empty()) << b.name;
    EXPECT_EQ(std::count_if(all.begin(), all.end(), [&b](const backend_info& other) { return other.kind == b.kind; }),
              1);
  }
}

TEST(parse_backend, takes_names_of_what_runs_here) {
  EXPECT_EQ(*parse_backend("auto"), backend::automatic);
  for (const backend which : running()) EXPECT_EQ(*parse_backend(to_string(which)), which);
  for (const backend_info& b : backends()) {
    EXPECT_EQ(parse_backend(b.name).ok(), b.runs_here) << b.name;
  }
  EXPECT_EQ(parse_backend("scaler").error().code(), status_code::unknown_name);
  EXPECT_NE(parse_backend("scaler").error().message().find("scalar"), std::string::npos);
  EXPECT_EQ(parse_backend("").error().code(), status_code::unknown_name);
}

TEST(chunker_on, cuts_by_the_back_end_that_was_asked_for) {
  for (const std::string& name : catalog_names()) {
    for (const backend which : running()) {
      const auto placed = value_of(chunker_on(chunker_of(name), which));
      const bool has_own_of_last = placed.scanner() != nullptr || name.ends_with("-aes");
      const backend expected = has_kernels(name) ? cutting(which, has_own_of_last) : backend::scalar;
      EXPECT_EQ(backend_of(placed), expected) << name;
      EXPECT_EQ(placed.backend(), to_string(expected)) << name;
      EXPECT_EQ(backend_of(*chunker_on(placed, backend::scalar)), backend::scalar) << name;
    }
  }
}

TEST(backend_of, is_the_reference_for_a_chunker_of_no_back_end) {
  EXPECT_EQ(backend_of(chunker_of("gear")), backend::scalar);
  EXPECT_EQ(backend_of(chunker_of("gear").by(std::make_shared<foreign_kernel>())), backend::scalar);
}

TEST(backends, that_do_not_run_here_are_refused) {
  for (const backend which : every_backend) {
    if (which == backend::automatic || runs(which)) continue;
    const status placed = error_of(chunker_on(chunker_of("gear"), which));
    EXPECT_EQ(placed.code(), status_code::unavailable);
    EXPECT_NE(placed.message().find(to_string(which)), std::string::npos) << placed.message();
    EXPECT_EQ(fingerprints_on(fingerprint_kind::sha256, which).error().code(), status_code::unavailable);
  }
}

TEST(backend_cache, measure_each_set_of_cuts_once) {
  backend_cache choices;
  const chunker cuts = chunker_of("gear", "avg_bytes=8K");
  const auto first = value_of(choices.place(cuts, backend::automatic));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(choices.place(cuts, backend::automatic)->backend(), first.backend());
}

TEST(backend_cache, yield_to_what_is_asked_for) {
  backend_cache choices;
  ASSERT_TRUE(choices.place(chunker_of("gear"), backend::automatic).ok());
  for (const backend which : running()) {
    EXPECT_EQ(choices.place(chunker_of("gear"), which)->backend(), to_string(cutting(which)));
    EXPECT_EQ(choices.place(fingerprint_kind::sha256, which)->where, hashing(which, fingerprint_kind::sha256));
  }
}

TEST(fingerprints_on, are_made_by_the_back_end_that_was_asked_for) {
  for (const fingerprint_info& info : fingerprints()) {
    const bool in_lanes = info.kind == fingerprint_kind::sha1 || info.kind == fingerprint_kind::sha256 ||
                          info.kind == fingerprint_kind::blake3;
    for (const backend which : running()) {
      const auto placed = value_of(fingerprints_on(info.kind, which));
      EXPECT_EQ(placed.where, in_lanes ? hashing(which, info.kind) : backend::scalar) << info.name;
    }
  }
}

TEST(backends, that_are_measured_to_be_fastest_run_here_and_give_the_same) {
  const auto bytes = some_bytes(100'000);
  for (const std::string& name : catalog_names()) {
    const auto placed = value_of(chunker_on(chunker_of(name), backend::automatic));
    EXPECT_TRUE(has_kernels(name) || backend_of(placed) == backend::scalar) << name;
    EXPECT_EQ(placed.find_cuts(bytes), chunker_of(name).find_cuts(bytes)) << name;
  }
  for (const fingerprint_info& info : fingerprints()) {
    const auto placed = value_of(fingerprints_on(info.kind, backend::automatic));
    EXPECT_TRUE(runs(placed.where)) << info.name;
    digest fingerprint;
    placed.batch->submit(bytes, fingerprint);
    EXPECT_TRUE(placed.batch->flush().ok());
    EXPECT_EQ(fingerprint, *value_of(fingerprinter::make(info.kind))(bytes)) << info.name;
  }
}

// Tests of repeated timing: the turns, the choice of the fastest, and the part of the sample that each turn reads.

TEST(seconds_per_byte, counts_the_bytes_that_were_done) {
  std::vector<std::uint64_t> begins;
  const double cost = seconds_per_byte({.sample_bytes = 100, .turns = 2, .turn_seconds = 60}, [&](std::uint64_t begin) {
    begins.push_back(begin);
    return begin + 50;
  });
  EXPECT_EQ(begins, (std::vector<std::uint64_t>{0, 50, 0, 50}));
  EXPECT_GE(cost, 0);
  EXPECT_LT(cost, 1);
}

TEST(find_fastest, gives_all_turns_although_others_use_the_processor) {
  std::array<int, 2> turns = {};
  find_fastest(2, 1, [&](std::size_t i, std::size_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));  // as if another program ran meanwhile
    ++turns[i];
    return 1.0;
  });
  EXPECT_EQ(turns, (std::array<int, 2>{7, 7}));
}

TEST(find_fastest, adds_up_the_parts) {
  const double costs[3][2] = {{1, 5}, {2, 2}, {5, 1}};
  EXPECT_EQ(find_fastest(3, 2, [&](std::size_t i, std::size_t round) { return costs[i][round]; }), 1u);
}

TEST(find_fastest, chooses_the_last_of_those_that_are_about_equal) {
  const double costs[4] = {1.02, 1.00, 1.02, 1.08};
  EXPECT_EQ(find_fastest(4, 1, [&](std::size_t i, std::size_t) { return costs[i]; }), 2u);
}

TEST(find_fastest, is_not_misled_by_turns_that_other_work_made_longer) {
  seeded_choices random(1);
  const auto disturbed = [&](std::size_t i, std::size_t) { return (i == 1 ? 1 : 1.2) * (random.once_in(4) ? 1.4 : 1); };
  for (int round = 0; round < 100; ++round) EXPECT_EQ(find_fastest(3, 2, disturbed), 1u);
}

TEST(find_fastest, gives_no_more_turns_to_the_slow) {
  std::vector<int> turns(4);
  const double costs[4] = {9, 1, 1.4, 1};
  EXPECT_EQ(find_fastest(4, 1, [&](std::size_t i, std::size_t) { return ++turns[i], costs[i]; }), 3u);
  EXPECT_EQ(turns[0], 2);
  EXPECT_EQ(turns[2], 3);
  EXPECT_EQ(turns[1], turns[3]);
  EXPECT_GT(turns[3], 3);
}

TEST(find_fastest, measures_nothing_if_there_is_no_choice) {
  EXPECT_EQ(find_fastest(1, 2, [](std::size_t, std::size_t) -> double { throw std::logic_error("a turn"); }), 0u);
}

}  // namespace
}  // namespace cutpoint::tests
