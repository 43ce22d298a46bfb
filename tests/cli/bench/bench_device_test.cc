// A GPU's kernels on data of the user, which the host double of a device stands for.
#include <algorithm>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "cli/bench/report.h"
#include "pipeline/costs/calibration.h"
#include "tests/cuda/support/host_offload.h"

namespace cutpoint::cli {
namespace {

constexpr std::uint64_t batch_bytes = 16 * KiB;

const cancellation uncancelled;

/// Devices on the host. A call fails if `before` does.
class host_devices final : public device_provider {
 public:
  explicit host_devices(std::function<status(cuda::executor_call)> before = {}) : before_(std::move(before)) {}

  result<std::unique_ptr<cuda::offload>> make(int, const chunker& cuts, const fingerprint_recipe& fingerprint,
                                              const cuda::batch_limits& limits, cuda::offload_use use) const override {
    return cuda::make_host_offload({.order = cuda::thread_order::reversed(), .before = before_}, cuts, fingerprint,
                                   limits, use);
  }

 private:
  std::function<status(cuda::executor_call)> before_;
};

bench_job job_of(std::string_view name, std::vector<parameter_setting> settings) {
  return {.kind = bench_kind::cuts,
          .name = std::string(name),
          .size = "1K:2K:4K",
          .cuts = make_chunker(name, settings).value().chunker,
          .timed = {backend::cuda}};
}

bench_job gear() { return job_of("gear", {{"min_bytes", "1K"}, {"avg_bytes", "2K"}, {"max_bytes", "4K"}}); }

bench_row measured(const bench_job& job, byte_span data, const device_provider& devices = host_devices()) {
  return measure_device(job, cutting_on(devices, 0, *job.cuts, data, batch_bytes), data, 3, uncancelled).value();
}

TEST(bench_device, cuts_data_of_many_batches_as_the_reference_does) {
  const aligned_bytes data = aligned_bytes::random(200'000);
  // The cuts of maxp depend on bytes before a chunk.
  const bench_job maxp = job_of("maxp", {{"half_window", "100"}, {"min_bytes", "64"}, {"max_bytes", "64K"}});
  ASSERT_GT(maxp.cuts->behind(), 0U);
  for (const bench_job& job : {gear(), maxp, job_of("seqcdc-inc", {{"avg_bytes", "2K"}})}) {
    std::uint64_t copies = 0;
    const host_devices counted([&](cuda::executor_call call) {
      copies += call == cuda::executor_call::copy_in ? 1 : 0;
      return status();
    });
    const bench_row row = measured(job, data.view(), counted);
    EXPECT_GE(copies, 4 * (200'000 / batch_bytes)) << "three rounds and one before them";
    ASSERT_EQ(row.cells.size(), 1U);
    const bench_cell& cell = row.cells.front();
    EXPECT_EQ(cell.problem, "");
    EXPECT_EQ(cell.outcome, bench_outcome::measured);
    EXPECT_EQ(to_string(row.place), "device");
    EXPECT_DOUBLE_EQ(row.mean_bytes.value(), 200'000.0 / static_cast<double>(job.cuts->find_cuts(data.view()).size()));
    EXPECT_TRUE(0 < *cell.lowest && *cell.lowest <= *cell.bytes_per_second && *cell.bytes_per_second <= *cell.highest);
    EXPECT_GT(cell.copied.value(), 0);
    EXPECT_FALSE(cell.of_read);
  }
  const chunker cuts = *gear().cuts;
  const auto in_short_batches = cutting_on(host_devices(), 0, cuts, data.view().first(20'000), 1 * KiB).value()();
  EXPECT_EQ(in_short_batches.value().chunks, cuts.find_cuts(data.view().first(20'000))) << "less than a chunk each";
}

TEST(bench_device, goes_by_the_bytes_given_and_the_clock_of_the_device) {
  const std::vector<std::uint8_t> zeros(100 * KiB);
  EXPECT_EQ(measured(gear(), zeros).mean_bytes, 4 * KiB) << "nothing but maxima";
  const bench_job job = gear();
  const device_pass pass{.chunks = job.cuts->find_cuts(zeros), .copying_seconds = 0.5, .cutting_seconds = 0.25};
  const bench_row row = measure_device(job, device_cutting([&] { return pass; }), zeros, 2, uncancelled).value();
  EXPECT_DOUBLE_EQ(row.cells[0].bytes_per_second.value(), 400 * KiB);
  EXPECT_DOUBLE_EQ(row.cells[0].copied.value(), 200 * KiB);
}

TEST(bench_device, names_wrong_cuts_in_any_round_by_their_offset) {
  const std::vector<std::uint8_t> zeros(100 * KiB);
  const bench_job job = gear();
  int round = 0;
  const device_cutting cutting = [&]() -> result<device_pass> {
    device_pass pass{.chunks = job.cuts->find_cuts(zeros), .copying_seconds = 1, .cutting_seconds = 1};
    if (++round == 3) pass.chunks[2].length = 1;
    return pass;
  };
  const bench_row row = measure_device(job, cutting, zeros, 5, uncancelled).value();
  EXPECT_EQ(row.cells[0].outcome, bench_outcome::wrong_answer);
  EXPECT_EQ(row.cells[0].problem, "cuts another chunk at offset 8192 than the reference");
  EXPECT_FALSE(row.cells[0].bytes_per_second);
}

TEST(bench_device, says_why_it_cannot_cut) {
  const std::vector<std::uint8_t> zeros(100 * KiB);
  const bench_row endless = measured(job_of("gear", {{"max_bytes", "0"}}), zeros);
  EXPECT_EQ(endless.cells[0].outcome, bench_outcome::unavailable);
  EXPECT_EQ(endless.cells[0].problem, "chunks without a maximum are cut on the processor");
  for (const cuda::executor_call failing : {cuda::executor_call::allocate, cuda::executor_call::launch}) {
    const host_devices full([&](cuda::executor_call call) {
      return call == failing ? status(status_code::memory_limit, "the device is full") : status();
    });
    const bench_row row = measured(gear(), zeros, full);
    EXPECT_EQ(row.cells[0].outcome, bench_outcome::unavailable);
    EXPECT_EQ(row.cells[0].problem, "the device is full");
  }
  const cancellation& at_once = []() -> const cancellation& {
    static cancellation stopped;
    stopped.request();
    return stopped;
  }();
  const bench_job job = gear();
  EXPECT_EQ(measure_device(job, cutting_on(host_devices(), 0, *job.cuts, zeros, batch_bytes), zeros, 1, at_once)
                .error()
                .code(),
            status_code::cancelled);
}

TEST(bench_device, has_reports_in_every_format) {
  const std::vector<std::uint8_t> zeros(100 * KiB);
  const bench_job job = gear();
  const bench_job endless = job_of("gear", {{"max_bytes", "0"}});
  bench_facts facts;
  facts.is_sorted = true;
  facts.device_name = "Host Double";
  facts.rows = {measured(job, zeros), measured(endless, zeros)};
  facts.rows[1].job = &endless;
  const json report = bench_json(facts);
  EXPECT_EQ(json_line(*report.find("back_ends")),
            "[{\"name\":\"cuda\",\"runs_here\":true,\"device\":\"Host Double\"}]\n");
  const json& row = report.find("rows")->elements()[0];
  EXPECT_EQ(*row.find("place")->text(), "device");
  const json& cell = *row.find("back_ends")->find("cuda");
  EXPECT_EQ(*cell.find("outcome")->text(), "measured");
  EXPECT_GT(cell.find("copied_bytes_per_second")->number().value(), 0);
  const auto lines = lines_of(report);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].bytes_per_second, *facts.rows[0].cells[0].bytes_per_second);
  EXPECT_EQ(title_of(lines[0]), "Cuts by a GPU, data in its memory");
  EXPECT_NE(sorted_tables(report, bench_format::markdown).find("| gear 1K:2K:4K | 4.00 KiB | cuda |"),
            std::string::npos);
  const std::string closing = closing_text(facts);
  EXPECT_NE(closing.find("-  gear 1K:2K:4K: chunks without a maximum"), std::string::npos) << closing;
  EXPECT_NE(closing.find("cuda is Host Double: its kernels alone, by its own clock;"), std::string::npos) << closing;
  EXPECT_EQ(closing.find("does not run"), std::string::npos) << closing;
}

}  // namespace
}  // namespace cutpoint::cli
