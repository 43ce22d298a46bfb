// Names become chunkers at the sizes asked for.
#include "cli/bench_jobs.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include <cutpoint/backends.h>
#include <cutpoint/text.h>
#include <fmt/format.h>

#include "cli/chunk_sizes.h"
#include "cli/chunking_options.h"

namespace cutpoint::cli {

namespace {

/// The sizes of SeqCDC's paper, each with its own lengths of sequences and skips.
constexpr std::array<std::string_view, 3> seqcdc_sizes = {"4K", "8K", "16K"};

/// Fingerprints in the order of their use, the others after them.
constexpr std::array<std::string_view, 3> first_fingerprints = {"sha1", "sha256", "blake3"};

result<bench_job> cut_job(std::string_view name, std::string size, const chunker& cuts) {
  const auto chosen = chunker_on(cuts, backend::automatic);
  if (!chosen) return chosen.error();
  return bench_job{.kind = bench_kind::cuts,
                   .name = std::string(name),
                   .size = std::move(size),
                   .cuts = cuts,
                   .chosen = backend_of(*chosen)};
}

std::vector<std::string> all_fingerprints() {
  std::vector<std::string> names;
  for (const fingerprint_info& info : fingerprints()) {
    if (info.kind != fingerprint_kind::none) names.emplace_back(info.name);
  }
  std::stable_sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    const auto rank = [](const std::string& name) {
      return std::find(first_fingerprints.begin(), first_fingerprints.end(), name);
    };
    return rank(a) < rank(b);
  });
  return names;
}

}  // namespace

void bench_job_options::add_to(CLI::App& command) {
  command.add_option("--algorithm", algorithms_, "Only this algorithm, and what else is named (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command.add_option("--profile", profiles_, "Only this profile, and what else is named (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command.add_option("--hash", fingerprints_, "Only this fingerprint, and what else is named (repeatable)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command.add_option("--size", size_, "Chunk sizes, where a name takes them (default: 2K:8K:64K)")
      ->type_name("MIN:AVG:MAX");
}

std::string bench_job_options::size() const { return size_.value_or(std::string(usual_sizes)); }

result<std::vector<bench_job>> bench_job_options::named_cuts(const settings& sizes) const {
  std::vector<bench_job> jobs;
  for (const entry_kind kind : {entry_kind::algorithm, entry_kind::profile}) {
    for (const std::string& name : kind == entry_kind::algorithm ? algorithms_ : profiles_) {
      if (status known = check_kind(name, kind); !known.ok()) return known;
      const auto sized = chunker_at(name, sizes);
      if (!sized && size_) return sized.error();
      const chunker& cuts = sized ? *sized : (*find_entry(name))->defaults;
      auto job = cut_job(name, sized ? size() : "own", cuts);
      if (!job) return job.error();
      jobs.push_back(*std::move(job));
    }
  }
  return jobs;
}

result<std::vector<bench_job>> bench_job_options::all_cuts(const settings& sizes) const {
  std::vector<bench_job> jobs;
  for (const catalog_entry& entry : catalog()) {
    if (entry.algorithm == "fixed") continue;  // it reads no byte
    const auto sized = chunker_at(entry.name, sizes);
    auto job = cut_job(entry.name, sized ? size() : "own", sized ? *sized : entry.defaults);
    if (!job) return job.error();
    jobs.push_back(*std::move(job));
    if (!entry.name.starts_with("seqcdc") || size_) continue;
    for (const std::string_view average : seqcdc_sizes) {
      const auto own = make_chunker(entry.name, std::array{parameter_setting{"avg_bytes", std::string(average)}});
      if (!own) return own.error();
      job = cut_job(entry.name, std::string(average), own->chunker);
      if (!job) return job.error();
      jobs.push_back(*std::move(job));
    }
  }
  return jobs;
}

result<std::vector<bench_job>> bench_job_options::fingerprint_jobs(const settings& sizes) const {
  std::vector<bench_job> jobs;
  const bool is_all = algorithms_.empty() && profiles_.empty() && fingerprints_.empty();
  for (const std::string& name : is_all ? all_fingerprints() : fingerprints_) {
    const auto kind = parse_fingerprint(name);
    if (!kind) return kind.error();
    if (*kind == fingerprint_kind::none) return status(status_code::invalid_argument, "--hash none: has no speed");
    const auto chosen = fingerprints_on(*kind, backend::automatic);
    if (!chosen) return chosen.error();
    for (const std::string_view by : {"fixed", "fastcdc"}) {
      const auto cuts = by == "fixed" ? chunker_at(by, size_settings("8K").value()) : chunker_at(by, sizes);
      if (!cuts) return cuts.error();
      jobs.push_back({.kind = bench_kind::fingerprint,
                      .name = name,
                      .size = fmt::format("{} {}", by, by == "fixed" ? "8K" : size()),
                      .cuts = *cuts,
                      .fingerprint = *kind,
                      .chosen = chosen->where});
    }
  }
  return jobs;
}

result<std::vector<bench_job>> bench_job_options::jobs() const {
  const auto sizes = size_settings(size());
  if (!sizes) return sizes.error();
  const bool has_all_cuts = algorithms_.empty() && profiles_.empty() && fingerprints_.empty();
  auto cuts = has_all_cuts ? all_cuts(*sizes) : named_cuts(*sizes);
  if (!cuts) return cuts.error();
  auto hashes = fingerprint_jobs(*sizes);
  if (!hashes) return hashes.error();
  std::vector<bench_job> jobs = {
      {.kind = bench_kind::read, .name = "plain read", .size = "", .chosen = widest_backend()}};
  std::move(cuts->begin(), cuts->end(), std::back_inserter(jobs));
  std::move(hashes->begin(), hashes->end(), std::back_inserter(jobs));
  return jobs;
}

}  // namespace cutpoint::cli
