// What is told of a GPU: every figure beside its limit and its target, and what could not be measured.
#include "bench/device/report.h"

#include <numeric>

#include <cutpoint/chunker.h>
#include <cutpoint/timing.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "bench/device/answers.h"

namespace cutpoint::bench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(median, is_the_one_in_the_middle) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

TEST(resident_batch_sizes, are_those_of_which_four_fit) {
  EXPECT_THAT(resident_batch_sizes(141 * GiB), ElementsAre(64 * MiB, 256 * MiB, 1 * GiB, largest_batch));
  EXPECT_THAT(resident_batch_sizes(8 * GiB), ElementsAre(64 * MiB, 256 * MiB, 1 * GiB));
  EXPECT_THAT(resident_batch_sizes(1 * MiB), ElementsAre(64 * MiB));
}

TEST(sizes_no_larger_than, are_each_there_once) {
  EXPECT_THAT(no_larger_than(128 * MiB, {64 * MiB, 256 * MiB, 1 * GiB}), ElementsAre(64 * MiB, 128 * MiB));
  EXPECT_THAT(no_larger_than(1 * MiB, {64 * MiB, 256 * MiB}), ElementsAre(1 * MiB));
  EXPECT_THAT(no_larger_than(unlimited, {64 * MiB, 256 * MiB}), ElementsAre(64 * MiB, 256 * MiB));
}

TEST(calls_per_sample, make_a_sample_long_enough_and_no_longer) {
  EXPECT_EQ(calls_per_sample(1), 1);
  EXPECT_EQ(calls_per_sample(0.02), 1);
  EXPECT_EQ(calls_per_sample(0.003), 7);
  EXPECT_EQ(calls_per_sample(1e-6), 64);
  EXPECT_EQ(calls_per_sample(0), 64);
}

TEST(batches, are_judged_by_the_fastest) {
  const std::vector<batch_rate> rates = {{64, 500}, {256, 901}, {1024, 1000}, {4096, 990}};
  EXPECT_EQ(best_of(rates)->batch_bytes, 1024u);
  EXPECT_EQ(best_of({}), std::nullopt);
}

device_facts some_facts() {
  device_facts facts{.device = "Test GPU", .about = {{"host", "some processor"}}};
  facts.limits = {.read = 4e12,
                  .copy = 3.9e12,
                  .link_in_pinned = 50e9,
                  .link_out_pinned = 49e9,
                  .link_in_duplex = 41e9,
                  .link_out_duplex = 40e9,
                  .launch_seconds = 9.5e-6,
                  .integer_operations = 16e12};
  facts.end_to_end = {{.name = "gear",
                       .canonical = "gear(avg_bytes=8192)",
                       .rates = {{1, {8 * MiB, 20e9}}, {1, {32 * MiB, 30e9}}, {3, {32 * MiB, 47.5e9}}}},
                      {.name = "xet", .canonical = "gear(avg_bytes=65536)", .problem = out_of_time},
                      {.name = "rabin", .canonical = "rabin(avg_bytes=8192)", .problem = "wrong answer: chunk 0"}};
  facts.known_chunks = {{.name = "blake3",
                         .canonical = "fixed(avg_bytes=8192)",
                         .fingerprint = fingerprint_kind::blake3,
                         .rates = {{1, {32 * MiB, 25e9}}, {3, {32 * MiB, 45e9}}}}};
  return facts;
}

TEST(device_markdown, has_each_figure_beside_its_limit_and_its_target) {
  const std::string text = device_markdown(some_facts());
  EXPECT_THAT(text, HasSubstr("# Cutpoint on Test GPU\n\n- host: some processor\n"));
  EXPECT_THAT(text, HasSubstr("| device memory, plain read | 4000.0 |\n"));
  EXPECT_THAT(text, HasSubstr("| device to host, pinned memory, both ways at once | 40.0 |\n"));
  EXPECT_THAT(text,
              HasSubstr("32-bit integer operations (add, xor): 16.0 T/s. A launch of an empty kernel and the wait "
                        "for it: 9.5 µs.\n"));
  EXPECT_THAT(text, HasSubstr("| gear | 30.0, 32M | 47.5, 32M | 95 % | 47.5 (100 %) |\n"));
  EXPECT_THAT(text, HasSubstr("| blake3 | 25.0, 32M | 45.0, 32M | 90 % | 47.5 (95 %) |\n"));
}

TEST(device_markdown, names_what_is_missing) {
  device_facts facts = some_facts();
  EXPECT_THAT(device_markdown(facts),
              HasSubstr("\n## What is missing\n\n- from host memory, xet, sha1: not measured: out of time\n"
                        "- from host memory, rabin, sha1: wrong answer: chunk 0\n"));
  facts.end_to_end.resize(1);
  EXPECT_THAT(device_markdown(facts), Not(HasSubstr("What is missing")));
  facts.host_problem = "CUDA: locking host memory failed: out of memory";
  EXPECT_THAT(device_markdown(facts),
              HasSubstr("- data in pinned host memory: CUDA: locking host memory failed: out of memory\n"));
  EXPECT_THAT(failures(facts), ElementsAre(HasSubstr("locking host memory failed")));
}

TEST(device_markdown, compares_variants_with_the_usual_scan) {
  device_facts facts = some_facts();
  EXPECT_THAT(device_markdown(facts), Not(HasSubstr("Variants")));
  facts.variants = {{.name = "gear", .variant = "usual", .bytes_per_second = 1e12},
                    {.name = "gear", .variant = "runs of 256 bytes", .bytes_per_second = 0.9e12},
                    {.name = "gear", .variant = "3 stages", .problem = "it marks other positions"},
                    {.name = "launch and wait", .variant = "the thread sleeps", .seconds = 8e-6}};
  const std::string text = device_markdown(facts);
  EXPECT_THAT(text, HasSubstr("| gear | runs of 256 bytes | 900.0 | 90 % | - |\n| gear | 3 stages | - | - | - |\n"
                              "| launch and wait | the thread sleeps | - | - | 8.0 |\n"));
  EXPECT_THAT(failures(facts), Contains("gear, 3 stages: it marks other positions"));
}

TEST(failures, are_all_problems_but_the_end_of_the_time) {
  device_facts facts = some_facts();
  EXPECT_THAT(failures(facts), ElementsAre("from host memory, rabin, sha1: wrong answer: chunk 0"));
  facts.end_to_end.pop_back();
  EXPECT_THAT(failures(facts), IsEmpty());
}

TEST(device_json, has_the_same_figures) {
  const auto json = nlohmann::json::parse(device_json(some_facts()));
  EXPECT_EQ(json["device"], "Test GPU");
  EXPECT_EQ(json["about"]["host"], "some processor");
  EXPECT_EQ(json["limits"]["read"], 4e12);
  EXPECT_EQ(json["end_to_end"][0]["target_bytes_per_second"], 47.5e9);
  EXPECT_EQ(json["end_to_end"][2]["problem"], "wrong answer: chunk 0");
  EXPECT_EQ(json["end_to_end"][0]["rates"][2]["lanes"], 3);
  EXPECT_EQ(json["limits"]["launch_seconds"], 9.5e-6);
  EXPECT_EQ(json["known_chunks"][0]["fingerprint"], "blake3");
  EXPECT_EQ(json["known_chunks"][0]["rates"][1]["bytes_per_second"], 45e9);
}

}  // namespace
// A device's answer that is another than the reference's is named by its chunk.

namespace {

std::vector<std::uint8_t> ramp() {
  std::vector<std::uint8_t> bytes(1000);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  return bytes;
}

sample_answer expected(fingerprint_kind kind) {
  return *reference_answer(*chunker::make(fixed_parameters{.avg_bytes = 300}), kind, ramp());
}

TEST(device_answers, are_those_of_the_reference) {
  const sample_answer answer = expected(fingerprint_kind::sha1);
  EXPECT_EQ(answer.lengths, (std::vector<std::uint32_t>{300, 300, 300, 100}));
  EXPECT_EQ(answer.digests.size(), 4 * 20u);
  EXPECT_EQ(answer_fault(answer, answer.lengths, answer.digests), "");
  const sample_answer cuts_only = expected(fingerprint_kind::none);
  EXPECT_EQ(answer_fault(cuts_only, cuts_only.lengths, {}), "");
}

TEST(device_answers, for_a_longer_stream_are_those_that_the_sample_decides) {
  for (const auto& [reach, count] :
       {std::pair(300u, 3u), std::pair(400u, 3u), std::pair(401u, 2u), std::pair(1001u, 0u)}) {
    sample_answer answer = expected(fingerprint_kind::sha1);
    answer.keep_decided(1000, reach);
    EXPECT_EQ(answer.lengths.size(), count) << reach;
    EXPECT_EQ(answer.digests.size(), count * 20) << reach;
  }
}

TEST(device_answers, of_other_chunks_are_named_by_the_first) {
  const sample_answer answer = expected(fingerprint_kind::sha1);
  const auto fault = [&](const std::vector<std::uint32_t>& lengths) {
    return answer_fault(answer, lengths, answer.digests);
  };
  EXPECT_EQ(fault({300, 299, 301, 100}), "wrong answer: chunk 1 is 299 bytes, the reference's 300 bytes");
  EXPECT_EQ(fault({300, 300, 300}), "wrong answer: chunk 3 is nothing, the reference's 100 bytes");
  EXPECT_EQ(fault({300, 300, 300, 100, 1}), "wrong answer: chunk 4 is 1 bytes, the reference's nothing");
}

TEST(device_answers, of_other_digests_are_named_by_their_chunk) {
  sample_answer answer = expected(fingerprint_kind::sha1);
  auto digests = answer.digests;
  digests[2 * 20 + 19] ^= 1;
  EXPECT_EQ(answer_fault(answer, answer.lengths, digests),
            "wrong answer: the digest of chunk 2 is another than the reference's");
  digests.pop_back();
  EXPECT_EQ(answer_fault(answer, answer.lengths, digests), "wrong answer: 79 bytes of digests, the reference has 80");
}

}  // namespace
}  // namespace cutpoint::bench
