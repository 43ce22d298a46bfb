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

}  // namespace
}  // namespace cutpoint::cli
