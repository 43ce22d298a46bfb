// cutpoint_device: measures what Google Benchmark cannot on one GPU: its limits, lanes that share it, and variants of its scans.
//
// It compares answers before it measures. It exits with 1 if an answer is wrong or something fails (the rest is still
// measured), and with 2 for wrong usage or without a usable GPU.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <span>

#include <CLI/CLI.hpp>
#include <cutpoint/catalog.h>
#include <cutpoint/topology.h>
#include <cutpoint/version.h>
#include <fmt/format.h>

#include "bench/common/usual_data.h"
#include "bench/device/end_to_end.h"
#include "bench/device/runtime.h"
#include "build_info.h"
#include "cuda/device/devices.h"

namespace cutpoint::bench {

namespace {

constexpr std::uint64_t usual_sample_bytes = 64 * MiB;
constexpr std::uint64_t usual_host_bytes = 1 * GiB;

struct options {
  int device = 0;
  std::vector<std::string> names;
  double seconds = 0;
  std::uint64_t most_bytes = unlimited;
  bool is_quick = false;
  bool has_variants = false;
  std::string markdown;
  std::string json;
};

/// Returns the names to measure: those of `--name`, else all, or with `--quick` one of each kind of kernel.
std::vector<named_cuts> chosen(const options& settings) {
  const std::vector<std::string> quick = {"gear",   "fastcdc",    "rabin", "buzhash",
                                          "ae-max", "seqcdc-inc", "fixed", "xet"};
  const std::vector<std::string>& wanted = settings.names.empty() && settings.is_quick ? quick : settings.names;
  std::vector<named_cuts> all = usual_cuts();
  std::erase_if(all, [&](const named_cuts& each) {
    return !wanted.empty() && std::find(wanted.begin(), wanted.end(), each.name) == wanted.end();
  });
  return all;
}

/// Replaces a file as a whole, so that no half of it is ever seen.
status write(const std::string& path, const std::string& text) {
  if (path.empty()) return {};
  const std::string unfinished = path + ".new";
  std::ofstream file(unfinished, std::ios::binary);
  file << text;
  file.close();
  return file && std::rename(unfinished.c_str(), path.c_str()) == 0
             ? status()
             : status(status_code::io_error, fmt::format("{}: cannot be written", path));
}

status write_files(const options& settings, const device_facts& facts) {
  CUTPOINT_RETURN_IF_FAILED(write(settings.markdown, device_markdown(facts)));
  return write(settings.json, device_json(facts));
}

status check_names(const options& settings) {
  for (const std::string& name : settings.names) {
    if (const auto entry = find_entry(name); !entry) return entry.error();
  }
  return {};
}

result<cuda::device_info> usable_device(int device) {
  CUTPOINT_RETURN_IF_FAILED(cuda::check_device(device));
  const auto all = cuda::devices();
  if (!all) return all.error();
  return all->at(static_cast<std::size_t>(device));
}

std::vector<named_fact> about(const cuda::device_info& device, const std::vector<named_fact>& clocks) {
  const topology machine = discover_topology();
  const auto gibibytes = [](std::uint64_t bytes) { return static_cast<double>(bytes) / static_cast<double>(GiB); };
  std::vector<named_fact> facts = {
      {"device", fmt::format("{}, {:.1f} GiB, {} multiprocessors, compute capability {}, L2 {:.1f} MiB", device.name,
                             gibibytes(device.memory_bytes), device.multiprocessor_count,
                             cuda::to_string(device.compute_capability), 1024 * gibibytes(device.l2_bytes))}};
  facts.insert(facts.end(), clocks.begin(), clocks.end());
  facts.push_back({"link", device.link == cuda::pci_link{}
                               ? "unknown"
                               : fmt::format("PCI Express {}.0 x{}", device.link.generation, device.link.width)});
  facts.push_back({"CUDA", fmt::format("driver for {}, build with {}", cuda::to_string(device.driver),
                                       cuda::to_string(device.runtime))});
  facts.push_back({"host", machine.problem.empty()
                               ? fmt::format("{}, {} processors", machine.processor_model, machine.processor_count)
                               : machine.problem});
  facts.push_back({"cutpoint", fmt::format("{}, commit {}", version(), build_commit)});
  facts.push_back({"build", fmt::format("{}, `{}`", build_compiler, build_flags)});
  return facts;
}

/// All measurements, the most important first. Files with the results are written after each row, so that none is lost if
/// the program is killed.
class measurement {
 public:
  measurement(const options& settings, device_facts& facts, const device_data& data, deadline end)
      : settings_(settings), facts_(facts), data_(data), end_(end) {}

  /// `host` is the memory that `data.here` views.
  void run(std::span<std::uint8_t> host) {
    const auto lock = memory_lock::make(host, data_.device);
    if (!lock) {
      facts_.host_problem = lock.error().message();
      return;
    }
    known_chunks();
    for (const named_cuts& each : chosen(settings_)) {
      say(fmt::format("{}, sha1, from host memory", each.name));
      add(facts_.end_to_end, measure_end_to_end(each.name, each.cuts, data_, plan(), end_));
    }
  }

 private:
  static void say(const std::string& what) { fmt::print(stderr, "cutpoint_device: {}\n", what); }

  template <class Row>
  void add(std::vector<Row>& rows, Row row) {
    rows.push_back(std::move(row));
    static_cast<void>(write_files(settings_, facts_));  // the last call reports a failure
  }

  void known_chunks() {
    for (const auto kind : {fingerprint_kind::sha1, fingerprint_kind::sha256, fingerprint_kind::blake3}) {
      say(fmt::format("known chunks, {}, from host memory", name_of(kind)));
      add(facts_.known_chunks, measure_known_chunks(kind, data_, plan(), end_));
    }
  }

  [[nodiscard]] lane_sweep plan() const {
    lane_sweep all = settings_.is_quick ? lane_sweep{.lanes = {1, 3}, .batch_sizes = {32 * MiB}} : lane_sweep{};
    all.batch_sizes = no_larger_than(data_.here.size(), all.batch_sizes);
    return all;
  }

  const options& settings_;
  device_facts& facts_;
  const device_data& data_;
  deadline end_;
};

result<device_facts> measure(const options& settings, const cuda::device_info& device) {
  const auto seconds = std::chrono::duration<double>(settings.seconds > 0 ? settings.seconds
                                                     : settings.is_quick  ? 60
                                                                          : 1200);
  const deadline end = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(seconds);
  CUTPOINT_RETURN_IF_FAILED(use_device(settings.device));
  device_facts facts{.device = device.name, .about = about(device, reported_clocks(settings.device))};
  const std::uint64_t host_bytes = std::min(usual_host_bytes, settings.most_bytes);
  const std::uint64_t largest = std::min(resident_batch_sizes(device.memory_bytes).back(), settings.most_bytes);
  const auto there = random_device_bytes(std::max(host_bytes, largest));
  if (!there) return there.error();
  const auto limits = measure_limits(*there);
  if (!limits) return limits.error();
  facts.limits = *limits;
  auto here = copy_from_device(there->data(), host_bytes);
  if (!here) return here.error();
  if (settings.has_variants) {
    const status measured = measure_variants(*there, facts.variants);
    if (!measured.ok())
      facts.variants.push_back({.name = "variants", .variant = "the rest", .problem = measured.message()});
    CUTPOINT_RETURN_IF_FAILED(check_random_bytes(*there));
    return facts;
  }
  const device_data data{settings.device, *here, byte_span(*here).first(std::min(usual_sample_bytes, host_bytes))};
  measurement(settings, facts, data, end).run(*here);
  return facts;
}

int complain(const status& failure, int exit_code) {
  fmt::print(stderr, "cutpoint_device: {}\n", failure.message());
  return exit_code;
}

int main(int argc, char** argv) {
  options settings;
  CLI::App app("Measures one GPU: its limits, lanes that share it, and variants of its scans", "cutpoint_device");
  app.add_option("--device", settings.device, "number of the GPU in cutpoint info")->capture_default_str();
  app.add_option("--name", settings.names, "names of the catalog; default: all, at 2K:8K:64K if they take it");
  app.add_flag("--quick", settings.is_quick, "a few names and sizes, within a minute");
  app.add_flag("--variants", settings.has_variants, "measure only variants of the scans' tuning and ways to wait");
  app.add_option("--seconds", settings.seconds,
                 "begin no measurement after this time; default 1200, or 60 with --quick");
  app.add_option("--bytes", settings.most_bytes, "no more data and no larger batches than this, as for a rehearsal")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(64 * KiB, unlimited));
  app.add_option("--markdown", settings.markdown, "file of the report; default: standard output");
  app.add_option("--json", settings.json, "file of the report in JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (const status names = check_names(settings); !names.ok()) return complain(names, 2);
  const auto device = usable_device(settings.device);
  if (!device) return complain(device.error(), 2);
  const auto facts = measure(settings, *device);
  if (!facts) return complain(facts.error(), 1);
  if (settings.markdown.empty()) fmt::print("{}", device_markdown(*facts));
  if (const status written = write_files(settings, *facts); !written.ok()) return complain(written, 1);
  const std::vector<std::string> failed = failures(*facts);
  for (const std::string& sentence : failed) fmt::print(stderr, "cutpoint_device: {}\n", sentence);
  return failed.empty() ? 0 : 1;
}

}  // namespace

}  // namespace cutpoint::bench

int main(int argc, char** argv) { return cutpoint::bench::main(argc, argv); }
