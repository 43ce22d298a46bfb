// Compares the whole answer of each back end with the reference's before it is measured.
#include "cli/bench/contenders.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace cutpoint::cli {

namespace {

bench_contender wrong_contender(backend where, std::string problem) {
  return {.where = where, .outcome = bench_outcome::wrong_answer, .problem = std::move(problem)};
}

timed_work reading_work(backend where, byte_span data) {
  return [where, data](std::uint64_t begin) {
    const std::uint64_t count = std::min<std::uint64_t>(data.size() - begin, work_block_bytes);
    static_cast<void>(plain_read(data.subspan(begin, count), where));
    return begin + count;
  };
}

double mean_of(byte_span data, const std::vector<chunk>& chunks) {
  return static_cast<double>(data.size()) / static_cast<double>(chunks.size());
}

checked_bench_job prepare_reads(byte_span data) {
  checked_bench_job contest;
  for (const backend_info& b : processor_backends()) {
    if (b.runs_here)
      contest.contenders.push_back({.where = b.kind, .work = reading_work(b.kind, data)});
    else
      contest.contenders.push_back({.where = b.kind, .outcome = bench_outcome::does_not_run});
  }
  return contest;
}

backend used_backend(const chunker& candidate) { return backend_of(candidate); }
backend used_backend(const chosen_fingerprinter& candidate) { return candidate.where; }

/// Adds a contender for every back end but the scalar one: what `check` makes of what `make` returned.
template <class Make, class Check>
void add_contenders(checked_bench_job& contest, Make&& make, Check&& check) {
  for (const backend_info& b : processor_backends()) {
    if (b.kind == backend::scalar) continue;
    auto candidate = make(b.kind);
    if (!candidate) {
      contest.contenders.push_back({.where = b.kind, .outcome = bench_outcome::does_not_run});
    } else if (used_backend(*candidate) != b.kind) {
      contest.contenders.push_back({.where = b.kind, .outcome = bench_outcome::no_kernel});
    } else {
      contest.contenders.push_back(check(b.kind, *candidate));
    }
  }
}

result<checked_bench_job> prepare_cuts(const bench_job& job, byte_span data) {
  const auto reference = chunker_on(*job.cuts, backend::scalar);
  if (!reference) return reference.error();
  const std::vector<chunk> expected = reference->find_cuts(data);
  checked_bench_job contest{.contenders = {{.where = backend::scalar, .work = cutting_work(*reference, data)}},
                            .mean_bytes = mean_of(data, expected)};
  add_contenders(
      contest, [&](backend where) { return chunker_on(*job.cuts, where); },
      [&](backend where, const chunker& candidate) { return cutting_contender(where, candidate, data, expected); });
  return contest;
}

result<std::vector<digest>> digests_of(batch_fingerprinter& batch, byte_span data, const std::vector<chunk>& chunks) {
  std::vector<digest> digests(chunks.size());
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    batch.submit(data.subspan(chunks[i].offset, chunks[i].length), digests[i]);
  }
  const status flushed = batch.flush();
  return flushed.ok() ? result<std::vector<digest>>(std::move(digests)) : flushed;
}

result<checked_bench_job> prepare_fingerprints(const bench_job& job, byte_span data) {
  const auto cuts = chunker_on(*job.cuts, backend::automatic);
  if (!cuts) return cuts.error();
  const auto chunks = std::make_shared<const std::vector<chunk>>(cuts->find_cuts(data));
  auto library = fingerprints_on(job.fingerprint, backend::scalar);
  if (!library) return library.error();
  const auto expected = digests_of(*library->batch, data, *chunks);
  if (!expected) return expected.error();
  checked_bench_job contest{
      .contenders = {{.where = backend::scalar, .work = hashing_work(std::move(library->batch), data, chunks)}},
      .mean_bytes = mean_of(data, *chunks)};
  add_contenders(
      contest, [&](backend where) { return fingerprints_on(job.fingerprint, where); },
      [&](backend where, chosen_fingerprinter& hasher) {
        return hashing_contender(where, std::move(hasher.batch), data, chunks, *expected);
      });
  return contest;
}

}  // namespace

std::string_view to_string(bench_kind kind) {
  constexpr std::array<std::string_view, 3> names = {"read", "cuts", "fingerprint"};
  return names[static_cast<std::size_t>(kind)];
}

result<checked_bench_job> prepare(const bench_job& job, byte_span data) {
  if (job.kind == bench_kind::read) return prepare_reads(data);
  return job.kind == bench_kind::cuts ? prepare_cuts(job, data) : prepare_fingerprints(job, data);
}

bench_contender cutting_contender(backend where, const chunker& cuts, byte_span data, std::span<const chunk> expected) {
  const std::vector<chunk> chunks = cuts.find_cuts(data);
  const auto [wrong, right] = std::mismatch(chunks.begin(), chunks.end(), expected.begin(), expected.end());
  if (wrong != chunks.end() || right != expected.end()) {
    const std::uint64_t offset = right != expected.end() ? right->offset : data.size();
    return wrong_contender(where, fmt::format("cuts another chunk at offset {} than the reference", offset));
  }
  return {.where = where, .work = cutting_work(cuts, data)};
}

bench_contender hashing_contender(backend where, std::shared_ptr<batch_fingerprinter> batch, byte_span data,
                                  std::shared_ptr<const std::vector<chunk>> chunks, std::span<const digest> expected) {
  const auto digests = digests_of(*batch, data, *chunks);
  if (!digests) return wrong_contender(where, digests.error().message());
  const auto wrong = std::mismatch(digests->begin(), digests->end(), expected.begin(), expected.end()).first;
  if (wrong != digests->end()) {
    const chunk& c = (*chunks)[static_cast<std::size_t>(wrong - digests->begin())];
    return wrong_contender(
        where, fmt::format("gives another fingerprint of the chunk of {} bytes at offset {} than the library", c.length,
                           c.offset));
  }
  return {.where = where, .work = hashing_work(std::move(batch), data, std::move(chunks))};
}

}  // namespace cutpoint::cli
