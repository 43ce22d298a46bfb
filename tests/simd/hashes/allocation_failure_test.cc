// Tests batch fingerprinters when memory runs out.
#include <new>
#include <tuple>

#include <cutpoint/fingerprint.h>
#include <gtest/gtest.h>

#include "simd/hashes/fingerprints.h"
#include "tests/host/support/streams.h"
#include "tests/simd/support/kernel_faults.h"
#include "tests/simd/support/short_memory.h"

namespace cutpoint::tests {
namespace {

using simd::instruction_set;

using batch_case = std::tuple<fingerprint_kind, instruction_set>;

std::string case_name(const testing::TestParamInfo<batch_case>& info) {
  const auto [kind, set] = info.param;
  return std::string(fingerprints()[static_cast<std::size_t>(kind)].name) + "_" + std::string(to_string(set));
}

class batches_without_memory : public testing::TestWithParam<batch_case> {
 protected:
  void SetUp() override {
    if (!simd::runs_here(set())) GTEST_SKIP() << "this machine does not run " << to_string(set());
    seeded_choices random(1);
    bytes_ = make_stream(content::random, 3'000'000, random);
    for (int i = 0; i < 300; ++i) add(random.between(0, 20'000));
    if (kind() == fingerprint_kind::blake3) {  // messages that are longer than the queue
      add(1'500'000);
      add(3'000'000);
    }
    for (int i = 0; i < 50; ++i) add(random.between(0, 3000));
    add(1'000'000);  // as long as all others together: hashed alone, since most vector lanes would idle
    fingerprinter make_one_by_one_fingerprinter = *fingerprinter::make(kind());
    for (const byte_span& m : messages_) expected_.push_back(*make_one_by_one_fingerprinter(m));
  }

  std::unique_ptr<batch_fingerprinter> make() const { return simd::make_batch_fingerprinter(kind(), set()); }

  /// Submits messages as long as memory suffices, and returns their number.
  std::size_t submit_to(batch_fingerprinter& batch, std::vector<digest>& digests) const {
    std::size_t count = 0;
    try {
      for (; count < messages_.size(); ++count) batch.submit(messages_[count], digests[count]);
    } catch (const std::bad_alloc&) {
    }
    return count;
  }

  void expect_right(batch_fingerprinter& batch) const {
    std::vector<digest> digests(messages_.size());
    EXPECT_EQ(submit_to(batch, digests), messages_.size());
    EXPECT_TRUE(batch.flush().ok());
    EXPECT_EQ(digests, expected_);
  }

  fingerprint_kind kind() const { return std::get<0>(GetParam()); }
  instruction_set set() const { return std::get<1>(GetParam()); }

  std::vector<std::uint8_t> bytes_;
  std::vector<byte_span> messages_;
  std::vector<digest> expected_;

 private:
  void add(std::size_t size) { messages_.push_back(byte_span(bytes_).last(size)); }
};

INSTANTIATE_TEST_SUITE_P(all, batches_without_memory,
                         testing::Combine(testing::Values(fingerprint_kind::sha1, fingerprint_kind::sha256,
                                                          fingerprint_kind::blake3),
                                          testing::ValuesIn(complete_sets)),
                         case_name);

TEST_P(batches_without_memory, make_what_was_submitted_and_are_right_later) {
  bool was_refused = true;
  for (std::uint64_t count = 0; was_refused; ++count) {
    const auto batch = make();
    std::vector<digest> digests(messages_.size());
    std::size_t submitted = 0;
    status flushed;
    bool has_thrown = false;
    {
      const short_memory none_after(count);
      submitted = submit_to(*batch, digests);
      try {
        flushed = batch->flush();
      } catch (...) {
        has_thrown = true;
      }
      was_refused = short_memory::has_refused();
    }
    ASSERT_FALSE(has_thrown) << "from allocation " << count << " on";
    EXPECT_TRUE(flushed.ok()) << flushed.message();
    EXPECT_TRUE(
        std::equal(digests.begin(), digests.begin() + static_cast<std::ptrdiff_t>(submitted), expected_.begin()))
        << "from allocation " << count << " on";
    expect_right(*batch);
  }
}

TEST_P(batches_without_memory, are_made_whole_or_not_at_all) {
  std::unique_ptr<batch_fingerprinter> batch;
  for (std::uint64_t count = 0; batch == nullptr; ++count) {
    const short_memory none_after(count);
    try {
      batch = make();
    } catch (const std::bad_alloc&) {
    }
  }
  expect_right(*batch);
}

}  // namespace
}  // namespace cutpoint::tests

int main(int argc, char** argv) {
  if (!cutpoint::tests::short_memory::take_over_openssl()) return 2;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
