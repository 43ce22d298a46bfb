// Tables of machines that few tests run on.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cli/bench/report.h"

namespace cutpoint::cli {
namespace {

bench_cell cell(std::string_view name) {
  return {.name = name,
          .bytes_per_second = 100e9,
          .lowest = 99e9,
          .highest = 101e9,
          .of_read = 1,
          .of_link = 1,
          .of_device = 1};
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
    all.push_back(text.substr(begin, text.find('\n', begin) - begin));
  }
  return all;
}

TEST(bench_tables, of_the_engine_fit_with_a_gpu) {
  const engine_job job{.name = "toeplitz128-aes",
                       .size = "2K:8K:64K",
                       .hash = "sha512-256",
                       .feed = {.cuts = catalog().front().defaults}};
  bench_facts facts;
  facts.name_width = label(job).size();
  facts.setups = {
      {.name = "processor"}, {.name = "cuda", .where = backend::cuda}, {.name = "hybrid", .where = backend::hybrid}};
  facts.engine_rows = {{.job = &job, .mean_bytes = 8192, .cells = {cell("processor"), cell("cuda"), cell("hybrid")}}};
  const auto table = lines(latest_engine_row_text(facts));
  const std::string& head = table[table.size() - 2];
  EXPECT_EQ(head.size(), table.back().size()) << head << '\n' << table.back();
  EXPECT_LE(head.size(), 115u) << head;
  for (const std::string column : {"mean", "processor", "cuda", "hybrid", "gain"})
    EXPECT_NE(head.find(column), std::string::npos);
  EXPECT_EQ(closing_text(facts).find("GPU"), std::string::npos);
}

TEST(bench_tables, of_a_side_that_cannot_be_used_are_one_line) {
  bench_facts facts;
  facts.setups = {{.name = "processor"},
                  {.name = "cuda", .where = backend::cuda, .problem = "no driver"},
                  {.name = "hybrid", .where = backend::hybrid, .problem = "no driver"}};
  EXPECT_EQ(closing_text(facts), "\nNo GPU here: no driver. What one would bring: cutpoint info --plan --rates FILE\n");
}

TEST(bench_tables, of_an_interrupted_run_do_not_name_what_was_not_measured) {
  bench_facts facts;
  facts.is_interrupted = facts.is_sorted = true;
  EXPECT_EQ(closing_text(facts), "");
  EXPECT_EQ(sorted_tables(bench_json(facts), bench_format::text), "");
}

/// A report of a plain read with this spread and of a cut whose rates are those of a machine `speed` times as fast.
json report_of(double speed, double spread, std::uint64_t rounds) {
  const bench_job read{.kind = bench_kind::read, .name = "plain read", .size = ""};
  const bench_job cuts{.kind = bench_kind::cuts, .name = "gear", .size = "8K"};
  bench_facts facts;
  facts.rounds = rounds;
  for (const bench_job* job : {&read, &cuts}) {
    bench_row& row = facts.rows.emplace_back(bench_row{.job = job, .mean_bytes = {}, .cells = {cell("scalar")}});
    row.cells[0].bytes_per_second = speed * 1e9;
    row.cells[0].lowest = speed * 1e9 * (1 - spread / 2);
    row.cells[0].highest = speed * 1e9 * (1 + spread / 2);
  }
  return bench_json(facts);
}

std::string comparison_of(double speed, double spread, std::uint64_t rounds) {
  return comparison_text(report_of(1, 0.02, 5), report_of(speed, spread, rounds), bench_format::text);
}

TEST(bench_comparisons, say_that_the_machine_differs_where_the_plain_read_does) {
  for (const std::uint64_t rounds : {3U, 5U}) {
    EXPECT_NE(comparison_of(1.5, 0.02, rounds).find("\nThe plain read differs by more than its spread: "),
              std::string::npos);
    EXPECT_EQ(comparison_of(1.5, 1.5, rounds).find("plain read differs"), std::string::npos);
  }
}

TEST(bench_comparisons, call_nothing_faster_or_slower_with_fewer_than_five_rounds) {
  EXPECT_NE(comparison_of(1.5, 0.02, 5).find("+50.0 %  faster\n"), std::string::npos);
  EXPECT_NE(comparison_of(0.5, 0.02, 5).find("-50.0 %  slower\n"), std::string::npos);
  EXPECT_NE(comparison_of(0.5, 0.02, 5).find("\n2 of 2 rates differ"), std::string::npos);
  EXPECT_EQ(comparison_of(1.5, 0.02, 4).find("%  faster"), std::string::npos);
  EXPECT_NE(comparison_of(1.5, 0.02, 4).find("\nWith fewer than 5 rounds nothing is called faster or slower; "),
            std::string::npos);
}

TEST(bench_tables, end_with_a_doubt_where_rounds_differ_much) {
  EXPECT_EQ(doubt_text(report_of(1, 0.24, 5)), "");
  EXPECT_EQ(doubt_text(report_of(1, 1.3, 5))
                .find("\nOther work ran on this machine: half of the rows of a table have a spread of 130 % or"),
            0u);
  EXPECT_EQ(doubt_text(report_of(1, 0, 1)), "");
}

}  // namespace
}  // namespace cutpoint::cli
