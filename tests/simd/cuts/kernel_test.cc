// Tests every cut kernel on every instruction set against its reference, with random parameters and those of the
// catalog.
#include "tests/host/support/choices.h"
#include "tests/host/support/faults.h"
#include "tests/host/support/streams.h"
#include "tests/simd/cuts/kernel_cases.h"

namespace cutpoint::tests {
namespace {

class kernel : public on_every_set<algorithm_case> {
 protected:
  chunker drawn_kernel() { return by_kernel(chunker_of(kernel_parameters(of().which, random_))); }

  /// Makes a stream of each kind of content in turn.
  std::vector<std::uint8_t> drawn_stream(int round, std::uint64_t size) {
    return make_stream(all_contents[static_cast<std::size_t>(round) % all_contents.size()], size, random_);
  }

  seeded_choices random_{std::get<0>(GetParam()).which + 5001};
};

TEST_P(kernel, cuts_streams_of_every_length_as_its_reference) {
  for (int round = 0; round < of().rounds; ++round) {
    const chunker cuts = drawn_kernel();
    const auto stream = drawn_stream(round, 330);
    for (std::size_t size = 0; size <= stream.size(); ++size) {
      ASSERT_EQ(cuts_fault(cuts, byte_span(stream).first(size)), "");
    }
  }
}

TEST_P(kernel, cuts_from_every_start_as_its_reference) {
  for (int round = 0; round < of().rounds; ++round) {
    const chunker cuts = drawn_kernel();
    ASSERT_EQ(starts_fault(cuts, drawn_stream(round, random_.between(1, 1200))), "");
  }
}

TEST_P(kernel, cuts_whole_streams_as_its_reference) {
  for (int round = 0; round < of().rounds; ++round) {
    for (const content what : all_contents) {
      const chunker cuts = drawn_kernel();
      ASSERT_EQ(cuts_fault(cuts, make_stream(what, random_.between(1, 9000), random_)), "") << name_of(what);
    }
  }
}

TEST_P(kernel, cuts_alike_at_every_alignment) {
  for (int round = 0; round < of().rounds; ++round) {
    const chunker cuts = drawn_kernel();
    const auto stream = drawn_stream(round, 2064);
    for (std::size_t shift = 0; shift <= 64; ++shift) {
      ASSERT_EQ(cuts_fault(cuts, byte_span(stream).subspan(shift, 2000)), "") << "from byte " << shift;
    }
  }
}

TEST_P(kernel, reads_nothing_outside_the_stream) {
  const guarded_pages pages(1);
  const byte_span bytes = pages.bytes();
  for (int round = 0; round < of().rounds; ++round) {
    const chunker cuts = drawn_kernel();
    const auto stream = drawn_stream(round, bytes.size());
    std::copy(stream.begin(), stream.end(), pages.bytes().begin());
    for (std::size_t size = 1; size <= 200; ++size) {
      ASSERT_EQ(cuts_fault(cuts, bytes.last(size)), "");
      ASSERT_EQ(cuts_fault(cuts, bytes.first(size)), "");
    }
    ASSERT_EQ(starts_fault(cuts, bytes, 61), "");
    ASSERT_EQ(starts_fault(cuts, bytes.last(700), 3), "");
  }
}

int few_rounds() { return is_emulated() ? 180 : 39; }  // `case_count` takes a thirtieth of 180 there

INSTANTIATE_TEST_SUITE_P(few_rounds, kernel,
                         testing::Combine(testing::ValuesIn(kernel_algorithms(few_rounds())),
                                          testing::ValuesIn(complete_sets)),
                         set_case_name);
INSTANTIATE_TEST_SUITE_P(full, kernel,
                         testing::Combine(testing::ValuesIn(kernel_algorithms(1300)), testing::ValuesIn(complete_sets)),
                         set_case_name);

/// Returns those whose kernels for `avx512_dl` have wider instructions for AES.
std::vector<algorithm_case> aes_algorithms(int rounds) {
  std::vector<algorithm_case> cases = kernel_algorithms(rounds);
  std::erase_if(cases, [](const algorithm_case& each) { return !algorithm_name(each.which).ends_with("_aes"); });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(few_rounds_by_wide_aes, kernel,
                         testing::Combine(testing::ValuesIn(aes_algorithms(few_rounds())),
                                          testing::Values(simd::instruction_set::avx512_dl)),
                         set_case_name);
INSTANTIATE_TEST_SUITE_P(full_by_wide_aes, kernel,
                         testing::Combine(testing::ValuesIn(aes_algorithms(1300)),
                                          testing::Values(simd::instruction_set::avx512_dl)),
                         set_case_name);

class gear_kernel : public on_every_set<std::string> {};

TEST_P(gear_kernel, cuts_by_every_number_of_positions_as_its_reference) {
  seeded_choices random(7);
  const chunker by_default = chunker_of(of());
  for (int round = 0; round < case_count(39, 1300); ++round) {
    const chunker cuts =
        round == 0 ? by_default : chunker_of(kernel_parameters(by_default.parameters().index(), random));
    const content what = all_contents[static_cast<std::size_t>(round) % all_contents.size()];
    const auto stream = make_stream(what, random.between(1, round == 0 ? 300'000 : 9000), random);
    const auto all = on_set_by_positions(cuts, set());
    ASSERT_FALSE(all.empty());
    for (const chunker& by_positions : all) {
      ASSERT_EQ(by_positions.backend(), to_string(set()));
      ASSERT_EQ(cuts_fault(by_positions, stream), "") << name_of(what);
      ASSERT_EQ(starts_fault(by_positions, stream, 1 + stream.size() / 50), "") << name_of(what);
    }
  }
}

TEST_P(gear_kernel, looks_at_nothing_outside_the_stream_by_any_number_of_positions) {
  const guarded_pages pages(3);
  seeded_choices random(8);
  const std::size_t which = chunker_of(of()).parameters().index();
  for (int round = 0; round < case_count(39, 400); ++round) {
    const chunker cuts = chunker_of(kernel_parameters(which, random));
    const auto stream = make_stream(content::random, pages.bytes().size(), random);
    std::copy(stream.begin(), stream.end(), pages.bytes().begin());
    for (const chunker& by_positions : on_set_by_positions(cuts, set())) {
      const std::uint64_t size = random.between(1, stream.size());
      ASSERT_EQ(cuts_fault(by_positions, byte_span(pages.bytes()).last(size)), "");
      ASSERT_EQ(cuts_fault(by_positions, byte_span(pages.bytes()).first(size)), "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(by_positions, gear_kernel,
                         testing::Combine(testing::Values(std::string("gear"), std::string("xet"),
                                                          std::string("fastcdc"), std::string("fastcdc2020"),
                                                          std::string("borg2-fastcdc")),
                                          testing::ValuesIn(complete_sets)),
                         set_case_name);

std::vector<std::string> names_with_kernels() {
  std::vector<std::string> names = catalog_names();
  std::erase_if(names, [](const std::string& name) { return !has_kernels(name); });
  return names;
}

class catalog_kernel : public on_every_set<std::string> {};

TEST_P(catalog_kernel, cuts_by_default_as_its_reference) {
  const chunker cuts = by_kernel(chunker_of(of()));
  const chunk_limits limits = limits_of(cuts.parameters());
  const std::uint64_t size = std::min<std::uint64_t>(3 * limits.longest, 300'000) + 1;
  seeded_choices random(6);
  for (const content what : all_contents) {
    const auto stream = make_stream(what, size, random);
    ASSERT_EQ(cuts_fault(cuts, stream), "") << name_of(what);
    for (const std::uint64_t bound : {limits.shortest, limits.longest, size / 2}) {
      for (std::uint64_t length = bound - std::min<std::uint64_t>(bound, 2); length <= bound + 2; ++length) {
        if (length > size) break;
        ASSERT_EQ(cuts_fault(cuts, byte_span(stream).first(length)), "") << name_of(what);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(of_the_catalog, catalog_kernel,
                         testing::Combine(testing::ValuesIn(names_with_kernels()), testing::ValuesIn(complete_sets)),
                         set_case_name);

}  // namespace
}  // namespace cutpoint::tests
