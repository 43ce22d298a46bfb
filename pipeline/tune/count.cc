// Counting and timing of cuts on a sample. Each range is cut before its chunks are fingerprinted, so that the time for
// cutting can be measured separately.
#include "pipeline/tune/count.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <new>
#include <utility>

#include <cutpoint/backends.h>
#include <cutpoint/context.h>
#include <cutpoint/timing.h>
#include <zstd.h>

namespace cutpoint {

namespace {

constexpr std::uint64_t timing_bytes = 32 * MiB;
constexpr std::uint64_t timing_block = 1 * MiB;

/// Two functions to be timed, which cut the data and fingerprint the chunks, and the rates measured so far.
struct candidate_work {
  timed_work cut;
  timed_work hash;
  std::vector<double> cut_rates;
};

result<candidate_work> work_of(const chunker& cuts, fingerprint_kind fingerprint, byte_span data) {
  candidate_work work{.cut = cutting_work(cuts, data), .hash = {}, .cut_rates = {}};
  if (fingerprint == fingerprint_kind::none) return work;
  CUTPOINT_TRY(auto batch, fingerprints_on(fingerprint, backend::automatic));
  work.hash = hashing_work(std::move(batch.batch), data, std::make_shared<std::vector<chunk>>(cuts.find_cuts(data)));
  return work;
}

/// Returns the chunks of a range that begins at `offset` of its input. Chunks of a fixed length keep their places in
/// the input; the first is then the rest of the chunk in which the range begins.
std::vector<chunk> chunks_of(const chunker& cuts, byte_span bytes, std::uint64_t offset) {
  const auto length = cuts.fixed_chunk_bytes();
  const std::uint64_t before = length ? offset % *length : 0;
  if (before == 0) return cuts.find_cuts(bytes);
  const std::uint64_t first = std::min<std::uint64_t>(*length - before, bytes.size());
  std::vector<chunk> chunks = {{.offset = 0, .length = first}};
  for (chunk c : cuts.find_cuts(bytes.subspan(first))) {
    c.offset += first;
    chunks.push_back(c);
  }
  return chunks;
}

}  // namespace

result<sample_counts> count_on(const content_sample& sample, const std::vector<sampled_range>& streams,
                               const chunker& cuts, new_chunks treatment) {
  std::optional<chunk_compressor> compressor;
  if (treatment == new_chunks::compressed) compressor.emplace();
  CUTPOINT_TRY(auto hash, fingerprinter::make(counting_fingerprint));
  dedup_tally tally(counting_fingerprint);
  double seconds = 0;
  std::uint64_t short_count = 0;
  std::uint64_t short_bytes = 0;
  std::vector<double> by_block(compressor ? sample_block_count : 0);
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const byte_span bytes = sample.bytes(streams[i]);
    const double begin = thread_seconds();
    const std::vector<chunk> chunks = chunks_of(cuts, bytes, streams[i].offset);
    seconds += thread_seconds() - begin;
    CUTPOINT_RETURN_IF_FAILED(tally.begin_stream(i));
    for (const chunk& c : chunks) {
      const byte_span content = bytes.subspan(c.offset, c.length);
      CUTPOINT_TRY(const auto fingerprint, hash(content));
      const delivered_chunk fed{
          .stream = i, .offset = c.offset, .length = c.length, .fingerprint = fingerprint, .bytes = content};
      const std::uint64_t known_bytes = tally.total().unique_bytes;
      CUTPOINT_RETURN_IF_FAILED(tally.take(fed));
      if (!compressor) continue;
      double& block_bytes = by_block[(streams[i].begin + c.offset) * sample_block_count / sample.bytes().size()];
      block_bytes += store_reference_bytes;
      if (tally.total().unique_bytes != known_bytes)
        block_bytes += store_record_bytes + static_cast<double>(compressor->add(content));
    }
    if (streams[i].is_cut_off && chunks.size() > 1) {
      ++short_count;
      short_bytes += chunks.back().length;
    }
    CUTPOINT_RETURN_IF_FAILED(tally.end_stream(i, {}));
  }
  const dedup_counts& total = tally.total();
  const std::uint64_t whole = std::max<std::uint64_t>(total.chunk_count - short_count, 1);
  return sample_counts{.total = total,
                       .mean_bytes = static_cast<double>(total.bytes - short_bytes) / static_cast<double>(whole),
                       .cut_bytes_per_second = seconds > 0 ? static_cast<double>(total.bytes) / seconds : 0,
                       .compression = compressor ? std::optional(compressor->total()) : std::nullopt,
                       .kept_by_block = std::move(by_block)};
}

aligned_bytes timing_data(const content_sample& sample, const std::vector<sampled_range>& streams) {
  std::vector<byte_span> blocks;
  std::uint64_t byte_count = 0;
  for (const sampled_range& stream : streams) {
    const byte_span bytes = sample.bytes(stream);
    byte_count += bytes.size();
    for (std::uint64_t begin = 0; begin < bytes.size(); begin += timing_block) {
      blocks.push_back(bytes.subspan(begin, std::min<std::uint64_t>(timing_block, bytes.size() - begin)));
    }
  }
  const std::uint64_t stride = std::max<std::uint64_t>(1, (byte_count + timing_bytes - 1) / timing_bytes);
  std::vector<byte_span> copied;
  std::uint64_t room = timing_bytes;
  for (std::size_t i = 0; i < blocks.size() && blocks[i].size() <= room; i += stride) {
    copied.push_back(blocks[i]);
    room -= blocks[i].size();
  }
  return aligned_bytes::copy(copied);
}

result<std::vector<measured_speed>> measure_speeds(const std::vector<timed_cuts>& cuts, fingerprint_kind fingerprint,
                                                   byte_span data, std::uint64_t rounds,
                                                   const std::function<void(std::uint64_t)>& round_begins,
                                                   const cancellation& cancel) {
  std::vector<candidate_work> works;
  for (const timed_cuts& each : cuts) {
    if (cancel.is_requested()) return std::vector<measured_speed>();
    CUTPOINT_TRY(auto work, work_of(each.cuts, fingerprint, data));
    works.push_back(std::move(work));
  }
  std::map<std::uint64_t, std::vector<double>> hash_rates;  // by group
  for (std::uint64_t round = 0; round < rounds; ++round) {
    if (round_begins) round_begins(round);
    std::vector<std::pair<double, double>> rates;  // of cutting and of fingerprinting
    for (std::size_t i = 0; i < works.size() && !cancel.is_requested(); ++i) {
      const double cut_rate = rate_of(works[i].cut, data.size());
      rates.emplace_back(cut_rate, works[i].hash ? rate_of(works[i].hash, data.size()) : 0);
    }
    if (round > 0 && rates.size() < works.size()) break;
    for (std::size_t i = 0; i < rates.size(); ++i) {
      works[i].cut_rates.push_back(rates[i].first);
      if (works[i].hash) hash_rates[cuts[i].group].push_back(rates[i].second);
    }
  }
  std::vector<measured_speed> speeds;
  for (std::size_t i = 0; i < works.size() && !works[i].cut_rates.empty(); ++i) {
    speeds.push_back({.cut_bytes_per_second = median(works[i].cut_rates)});
    if (works[i].hash) speeds.back().hash_bytes_per_second = median(hash_rates[cuts[i].group]);
  }
  return speeds;
}

status measure_rows(std::vector<tune_row>& rows, fingerprint_kind fingerprint, byte_span data, std::uint64_t rounds,
                    const std::function<void(std::uint64_t)>& round_begins, const cancellation& cancel) {
  std::vector<timed_cuts> cuts;
  for (const tune_row& row : rows) {
    cuts.push_back({row.candidate.cuts, static_cast<std::uint64_t>(std::lround(std::log2(row.mean_bytes)))});
  }
  CUTPOINT_TRY(const auto speeds, measure_speeds(cuts, fingerprint, data, rounds, round_begins, cancel));
  for (std::size_t i = 0; i < speeds.size(); ++i) rows[i].speed = speeds[i];
  return {};
}

struct chunk_compressor::state {
  std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context{ZSTD_createCCtx(), ZSTD_freeCCtx};
  std::vector<std::uint8_t> frame;
  std::uint64_t bytes = 0;
  std::uint64_t compressed_bytes = 0;
  double seconds = 0;
};

chunk_compressor::chunk_compressor() : state_(std::make_unique<state>()) {
  if (!state_->context) throw std::bad_alloc();
}
chunk_compressor::chunk_compressor(chunk_compressor&&) noexcept = default;
chunk_compressor& chunk_compressor::operator=(chunk_compressor&&) noexcept = default;
chunk_compressor::~chunk_compressor() = default;

std::uint64_t chunk_compressor::add(byte_span chunk) {
  state& s = *state_;
  s.frame.resize(std::max(s.frame.size(), ZSTD_compressBound(chunk.size())));
  const double begin = thread_seconds();
  const std::size_t size = ZSTD_compressCCtx(s.context.get(), s.frame.data(), s.frame.size(), chunk.data(),
                                             chunk.size(), usual_compression_level);
  s.seconds += thread_seconds() - begin;
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();  // with room for any frame, nothing else can fail
  const bool pays = size <= chunk.size() - chunk.size() / paying_compression_divisor;
  s.bytes += chunk.size();
  s.compressed_bytes += pays ? size : chunk.size();
  return pays ? size : chunk.size();
}

measured_compression chunk_compressor::total() const {
  if (state_->bytes == 0) return {};
  const auto bytes = static_cast<double>(state_->bytes);
  return {.compressed_share = static_cast<double>(state_->compressed_bytes) / bytes,
          .bytes_per_second = bytes / std::max(state_->seconds, 1e-9)};
}

}  // namespace cutpoint
