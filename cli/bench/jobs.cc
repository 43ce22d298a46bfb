// Makes jobs from names, sizes and fingerprints.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <span>
#include <string_view>

#include <cutpoint/backends.h>
#include <cutpoint/catalog.h>
#include <cutpoint/chunk_sizes.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/speed.h>
#include <fmt/format.h>

#include "cli/bench/measure.h"
#include "cli/common/options.h"
#include "cli/options/chunking_options.h"

namespace cutpoint::cli {

namespace {

/// The averages of SeqCDC's paper. Algorithms that have defaults of their own for them are measured at these too.
constexpr std::array<std::string_view, 3> own_averages = {"4K", "8K", "16K"};

/// The fingerprints that come first, in this order.
constexpr std::array<std::string_view, 3> first_fingerprints = {"sha1", "sha256", "blake3"};

/// The algorithms that the engine is measured with by default: one of each kind, from the fastest to the slowest.
constexpr std::array<std::string_view, 6> few_algorithms = {"seqcdc-inc", "ram", "ae-max", "gear", "fastcdc", "rabin"};

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

/// Sizes and settings that make them, of which one gives each algorithm a mean near 8 KiB on random bytes: an average alone; a divisor
/// and a minimum of a half each; for the two masks of FastCDC; and powers of two.
struct sized_settings {
  std::string_view size;
  std::vector<parameter_setting> settings;
};
const std::array<sized_settings, 4> near_8k = {
    {{"8K", {{"avg_bytes", "8K"}}},
     {"4K:4K:16K", {{"min_bytes", "4K"}, {"avg_bytes", "4K"}, {"max_bytes", "16K"}}},
     {"6656", {{"avg_bytes", "6656"}}},
     {"4K:4K:16K", {{"min_exp", "12"}, {"mask_bits", "12"}, {"max_exp", "14"}, {"normalization", "0"}}}}};

/// Returns how far the mean on random bytes is from 8 KiB, as a factor's logarithm.
double distance_from_8k(const chunker& cuts) {
  static const aligned_bytes sample = aligned_bytes::random(4 * MiB);
  const auto count = static_cast<double>(cuts.find_cuts(sample.view()).size());
  return std::abs(std::log2(static_cast<double>(sample.view().size()) / count / (8 * KiB)));
}

/// Returns the back ends that are timed, where `automatic` stands for `chosen`.
std::vector<backend> timed_of(backend chosen, std::vector<backend> timed) {
  std::ranges::replace(timed, backend::automatic, chosen);
  return timed;
}

/// Returns why no fingerprint of a kind can be made here, or an empty string.
std::string problem_of(fingerprint_kind kind) {
  const auto maker = fingerprinter::make(kind);
  return maker ? std::string() : maker.error().message();
}

}  // namespace

void bench_job_options::add_to(option_list& options) {
  options.add_value("--algorithm", algorithms_, "NAME", "Measure this algorithm, and no unnamed ones (repeatable)");
  options.add_value("--profile", profiles_, "NAME", "Measure this profile, and no unnamed ones (repeatable)");
  options.add_value("--hash", fingerprints_, "NAME", "Measure this fingerprint, and no unnamed ones (repeatable)");
  options.add_value("--size", sizes_, "MIN:AVG:MAX",
                    "Chunk sizes, for names that take sizes (repeatable; default: 2K:8K:64K)");
}

std::vector<std::string> bench_job_options::sizes() const {
  return sizes_.empty() ? std::vector{std::string(usual_sizes)} : sizes_;
}

result<bench_job_options::sized_cuts> bench_job_options::cuts_near_8k(const std::string& name) const {
  sized_cuts nearest{name, "own", (*find_entry(name))->defaults};
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [size, settings] : near_8k) {
    const auto sized = make_chunker(name, settings);
    if (!sized) continue;  // it has other parameters
    CUTPOINT_TRY(const auto fastest, chunker_on(sized->chunker, backend::automatic));
    const double distance = distance_from_8k(fastest);
    if (distance < least) nearest = {name, std::string(size), sized->chunker};
    least = std::min(least, distance);
  }
  return nearest;
}

/// Adds a name at each of the sizes, or once at its own sizes if it takes none and no sizes were given for it.
status bench_job_options::add_sized(std::vector<sized_cuts>& all, const std::string& name) const {
  if (has_equal_means_ && sizes_.empty() && (*find_entry(name))->kind == entry_kind::algorithm) {
    CUTPOINT_TRY(auto nearest, cuts_near_8k(name));
    all.push_back(std::move(nearest));
    return {};
  }
  for (const std::string& size : sizes()) {
    CUTPOINT_TRY(const auto settings, checked_sizes(size));
    const auto sized = chunker_at(name, settings);
    if (!sized && has_names() && !sizes_.empty()) return sized.error();
    if (sized) {
      all.push_back({name, size, *sized});
    } else {
      all.push_back({name, "own", (*find_entry(name))->defaults});
      return {};
    }
  }
  return {};
}

bench_job_options::cuts_or_why bench_job_options::cuts_of(const std::vector<std::string>& algorithms) const {
  std::vector<sized_cuts> all;
  for (const std::string& name : algorithms) CUTPOINT_RETURN_IF_FAILED(add_sized(all, name));
  return all;
}

bench_job_options::cuts_or_why bench_job_options::named_cuts() const {
  std::vector<std::string> names;
  for (const entry_kind kind : {entry_kind::algorithm, entry_kind::profile}) {
    for (const std::string& name : kind == entry_kind::algorithm ? algorithms_ : profiles_) {
      CUTPOINT_RETURN_IF_FAILED(check_kind(name, kind));
      names.push_back(name);
    }
  }
  return cuts_of(names);
}

bench_job_options::cuts_or_why bench_job_options::all_cuts() const {
  std::vector<sized_cuts> all;
  for (const catalog_entry& entry : catalog()) {
    if (entry.defaults.fixed_chunk_bytes()) continue;  // it reads no byte
    CUTPOINT_RETURN_IF_FAILED(add_sized(all, std::string(entry.name)));
    if (has_equal_means_) all.back().is_timed = entry.kind == entry_kind::algorithm || !sizes_.empty();
    if (entry.sized_defaults.empty() || !sizes_.empty() || has_equal_means_) continue;
    for (const std::string_view average : own_averages) {
      CUTPOINT_TRY(const auto own,
                   make_chunker(entry.name, std::array{parameter_setting{"avg_bytes", std::string(average)}}));
      all.push_back({std::string(entry.name), std::string(average), own.chunker});
    }
  }
  return all;
}

result<std::vector<bench_job>> bench_job_options::fingerprint_jobs(const std::vector<backend>& timed) const {
  std::vector<bench_job> jobs;
  const bool is_all = !has_names() && fingerprints_.empty();
  for (const std::string& name : is_all ? all_fingerprints() : fingerprints_) {
    CUTPOINT_TRY(const auto kind, parse_fingerprint(name));
    if (kind == fingerprint_kind::none) return usage_error("--hash none: makes no fingerprints that could be measured");
    const std::string problem = problem_of(kind);
    if (!problem.empty() && !is_all)
      return status(status_code::unavailable, fmt::format("--hash {}: {}", name, problem));
    auto chosen = backend::scalar;
    if (problem.empty()) {
      CUTPOINT_TRY(const auto fastest, fingerprints_on(kind, backend::automatic));
      chosen = fastest.where;
    }
    const auto add = [&](std::string_view algorithm, const std::string& size) -> status {
      CUTPOINT_TRY(const auto settings, checked_sizes(size));
      CUTPOINT_TRY(const auto cuts, chunker_at(algorithm, settings));
      jobs.push_back({.kind = bench_kind::fingerprint,
                      .name = name,
                      .size = fmt::format("{} {}", algorithm, size),
                      .cuts = cuts,
                      .fingerprint = kind,
                      .chosen = chosen,
                      .timed = timed_of(chosen, timed),
                      .problem = problem});
      return {};
    };
    CUTPOINT_RETURN_IF_FAILED(add("fixed", "8K"));
    if (has_equal_means_ && sizes_.empty()) continue;
    for (const std::string& size : sizes()) CUTPOINT_RETURN_IF_FAILED(add("fastcdc", size));
  }
  return jobs;
}

result<std::vector<bench_job>> bench_job_options::kernel_jobs(const std::vector<backend>& timed) const {
  const bool is_all = !has_names() && fingerprints_.empty();
  CUTPOINT_TRY(const auto cuts, is_all ? all_cuts() : named_cuts());
  std::vector<bench_job> jobs = {
      {.kind = bench_kind::read, .name = "plain read", .size = "", .chosen = widest_backend()}};
  jobs.front().timed = timed_of(widest_backend(), timed);
  for (const sized_cuts& each : cuts) {
    CUTPOINT_TRY(const auto chosen, chunker_on(each.cuts, backend::automatic));
    jobs.push_back({.kind = bench_kind::cuts,
                    .name = each.name,
                    .size = each.size,
                    .cuts = each.cuts,
                    .chosen = backend_of(chosen),
                    .timed = each.is_timed ? timed_of(backend_of(chosen), timed) : std::vector<backend>()});
  }
  for (const missing_entry& each : is_all ? missing_entries() : std::span<const missing_entry>()) {
    jobs.push_back(
        {.kind = bench_kind::cuts, .name = std::string(each.name), .size = "own", .problem = each.why.message()});
  }
  CUTPOINT_TRY(auto hashes, fingerprint_jobs(timed));
  std::move(hashes.begin(), hashes.end(), std::back_inserter(jobs));
  return jobs;
}

result<std::vector<engine_job>> bench_job_options::engine_jobs() const {
  const std::vector<std::string> few = fingerprints_.empty()
                                           ? std::vector<std::string>(few_algorithms.begin(), few_algorithms.end())
                                           : std::vector<std::string>{"fastcdc"};
  CUTPOINT_TRY(const auto cuts, has_names() ? named_cuts() : cuts_of(few));
  std::vector<std::string> hashes = fingerprints_;
  if (hashes.empty())
    hashes = has_names() || has_equal_means_ ? std::vector<std::string>{"sha256"}
                                             : std::vector<std::string>{"sha1", "sha256"};
  std::vector<engine_job> jobs;
  for (const sized_cuts& each : cuts) {
    for (const std::string& hash : hashes) {
      CUTPOINT_TRY(const auto kind, parse_fingerprint(hash));
      const std::string problem = problem_of(kind);
      if (!problem.empty() && !fingerprints_.empty())
        return status(status_code::unavailable, fmt::format("--hash {}: {}", hash, problem));
      jobs.push_back({.name = each.name,
                      .size = each.size,
                      .hash = hash,
                      .feed = {.cuts = each.cuts, .fingerprint = kind},
                      .problem = problem});
    }
  }
  return jobs;
}

}  // namespace cutpoint::cli
