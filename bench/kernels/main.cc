// cutpoint_bench: what every scalar reference and fingerprint does a second, beside a plain read of the same bytes.
//
// Its own options stand beside Google Benchmark's. Exits with 1, and shows no speed, when an answer is wrong or an
// input cannot be read; with 2 for wrong usage.
#include <filesystem>
#include <fstream>
#include <limits>
#include <vector>

#include <CLI/CLI.hpp>
#include <benchmark/benchmark.h>
#include <cutpoint/text.h>
#include <fmt/format.h>
#include <openssl/crypto.h>

#include "bench/common/configurations.h"
#include "bench/common/inputs.h"
#include "bench/kernels/answers.h"
#include "bench/kernels/scalar.h"
#include "build_info.h"

namespace cutpoint::bench {

namespace {

constexpr std::uint64_t default_bytes = 256 * MiB;  // far over any L3 here
constexpr std::uint64_t l2_bytes = 256 * KiB;

struct options {
  std::string size;
  std::string file;
  std::string goldens = CUTPOINT_GOLDENS;
  bool with_l2 = false;
};

std::string processor_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

void state_context(const std::string& data) {
  benchmark::AddCustomContext("processor", processor_name());
  benchmark::AddCustomContext("compiler", build_compiler);
  benchmark::AddCustomContext("flags", build_flags);
  benchmark::AddCustomContext("commit", build_commit);
  benchmark::AddCustomContext("openssl", OpenSSL_version(OPENSSL_VERSION));
  benchmark::AddCustomContext("data", data);
  benchmark::AddCustomContext("answers", "checked");
}

/// What is measured, with its description.
result<std::pair<byte_vector, std::string>> make_data(const options& given) {
  const result<std::uint64_t> size = parse_size(given.size.empty() ? fmt::format("{}", default_bytes) : given.size);
  if (!size) return status{size.error().code(), fmt::format("--bytes: {}", size.error().message())};
  if (*size == 0) return status{status_code::invalid_argument, "--bytes must be at least 1"};
  if (given.file.empty()) return std::pair{random_bytes(*size), fmt::format("{} random bytes", format_size(*size))};
  result<byte_vector> bytes =
      file_bytes(given.file, given.size.empty() ? std::numeric_limits<std::uint64_t>::max() : *size);
  if (!bytes) return bytes.error();
  std::string description = fmt::format("{} bytes of the file {}", format_size(bytes->size()),
                                        std::filesystem::path(given.file).filename().string());
  return std::pair{*std::move(bytes), std::move(description)};
}

status run(const options& given) {
  const std::vector<configuration> all = configurations();
  const auto data = make_data(given);
  if (!data) return data.error();
  if (status s = check_answers(given.goldens, all); !s.ok()) return s;
  const byte_span bytes = data.value().first;
  state_context(data.value().second);
  register_scalar_benchmarks("", bytes, all);
  if (given.with_l2) register_scalar_benchmarks("l2/", bytes.first(std::min<std::size_t>(l2_bytes, bytes.size())), all);
  benchmark::SetDefaultTimeUnit(benchmark::kMillisecond);
  benchmark::RunSpecifiedBenchmarks();
  return {};
}

void describe(CLI::App& app, options& given) {
  app.name("cutpoint_bench");
  app.description("What every scalar reference and fingerprint does a second, beside a plain read of the same bytes.");
  app.add_option("--bytes", given.size, "size of the data, with suffix K, M or G; default 256M, or the whole file");
  app.add_option("--file", given.file, "measure on the bytes of a file instead of random ones");
  app.add_flag("--l2", given.with_l2, "measure also on the first 256K alone, which stay in the L2 cache");
  app.add_option("--goldens", given.goldens, "the known cuts that are checked first");
}

void print_help() {
  options unused;
  CLI::App app;
  describe(app, unused);
  fmt::print("{}\nGoogle Benchmark's options; here 5 repetitions and aggregates alone are the default:\n", app.help());
  benchmark::PrintDefaultHelp();
}

int main(int argc, char** argv) {
  // Defaults of ours, placed before what the user gives, which therefore wins.
  std::string repetitions = "--benchmark_repetitions=5";
  std::string aggregates = "--benchmark_report_aggregates_only=true";
  std::vector<char*> arguments(argv, argv + argc);
  arguments.insert(arguments.begin() + 1, {repetitions.data(), aggregates.data()});
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data(), print_help);

  options given;
  CLI::App app;
  describe(app, given);
  try {
    app.parse(count, arguments.data());
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const status outcome = run(given);
  if (!outcome.ok()) fmt::print(stderr, "cutpoint_bench: {}\n", outcome.message());
  benchmark::Shutdown();
  return outcome.ok() ? 0 : 1;
}

}  // namespace

}  // namespace cutpoint::bench

int main(int argc, char** argv) { return cutpoint::bench::main(argc, argv); }
