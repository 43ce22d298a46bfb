// Counts chunks, compares two ways to cut, and reports both.
#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include <cutpoint/dedup.h>
#include <cutpoint/dedup_report.h>
#include <cutpoint/memory_index.h>
#include <cutpoint/text.h>

namespace cutpoint {

namespace {

std::optional<double> ratio(std::uint64_t bytes, std::uint64_t stored_bytes) {
  if (stored_bytes == 0) return std::nullopt;
  return static_cast<double>(bytes) / static_cast<double>(stored_bytes);
}

// --- Buckets of lengths ----------------------------------------------------------------------------------------------

/// Octaves in 2^bits equal parts; lengths below 2^bits have a bucket each.
std::size_t bucket_of(std::uint64_t length, unsigned bits) {
  if (length >> bits == 0) return static_cast<std::size_t>(length);
  const auto shift = static_cast<unsigned>(std::bit_width(length)) - 1 - bits;
  return static_cast<std::size_t>((std::uint64_t{shift} << bits) + (length >> shift));
}

std::uint64_t least_of_bucket(std::size_t bucket, unsigned bits) {
  if (bucket >> bits == 0) return bucket;
  const std::uint64_t shift = (bucket >> bits) - 1;
  return (bucket - (shift << bits)) << shift;
}

std::uint64_t most_of_bucket(std::size_t bucket, unsigned bits) {
  return least_of_bucket(bucket + 1, bits) - 1;  // of the last, 0 - 1, which is right
}

}  // namespace

// --- Lengths ---------------------------------------------------------------------------------------------------------

void length_distribution::add(std::uint64_t length, std::uint64_t chunk_count) {
  if (chunk_count == 0) return;
  counts_[bucket_of(length, fraction_bits)] += chunk_count;
  min_ = chunk_count_ == 0 ? length : std::min(min_, length);
  max_ = std::max(max_, length);
  chunk_count_ += chunk_count;
  byte_count_ += length * chunk_count;
}

void length_distribution::merge(const length_distribution& other) {
  if (other.chunk_count_ == 0) return;
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  min_ = chunk_count_ == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  chunk_count_ += other.chunk_count_;
  byte_count_ += other.byte_count_;
}

std::optional<std::uint64_t> length_distribution::min() const {
  return chunk_count_ == 0 ? std::nullopt : std::optional(min_);
}

std::optional<std::uint64_t> length_distribution::max() const {
  return chunk_count_ == 0 ? std::nullopt : std::optional(max_);
}

std::optional<double> length_distribution::mean() const { return ratio(byte_count_, chunk_count_); }

std::optional<std::uint64_t> length_distribution::percentile(double percent) const {
  if (chunk_count_ == 0) return std::nullopt;
  const double wanted = std::ceil(std::clamp(percent, 0.0, 100.0) / 100 * static_cast<double>(chunk_count_));
  const auto rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(wanted), 1, chunk_count_);
  std::uint64_t passed = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    passed += counts_[i];
    if (passed < rank) continue;
    const std::uint64_t least = least_of_bucket(i, fraction_bits);
    return std::clamp(least + (most_of_bucket(i, fraction_bits) - least) / 2, min_, max_);
  }
  return max_;
}

std::vector<length_distribution::bucket> length_distribution::buckets(unsigned fineness) const {
  std::vector<bucket> buckets;
  if (chunk_count_ == 0) return buckets;
  const unsigned bits = std::min(fineness, fraction_bits);
  const std::size_t first = bucket_of(min_, bits);
  for (std::size_t i = first; i <= bucket_of(max_, bits); ++i) {
    buckets.push_back({.least = least_of_bucket(i, bits), .most = most_of_bucket(i, bits)});
  }
  for (std::size_t i = bucket_of(min_, fraction_bits); i <= bucket_of(max_, fraction_bits); ++i) {
    if (counts_[i] == 0) continue;
    const std::uint64_t length = std::clamp(least_of_bucket(i, fraction_bits), min_, max_);
    buckets[bucket_of(length, bits) - first].chunk_count += counts_[i];
  }
  return buckets;
}

// --- Counts ----------------------------------------------------------------------------------------------------------

std::optional<double> dedup_counts::savings() const { return ratio(duplicate_bytes(), bytes); }
std::optional<double> dedup_counts::elimination_ratio() const { return ratio(bytes, unique_bytes); }

dedup_tally::dedup_tally(fingerprint_kind fingerprint, kind_of_stream kind_of)
    : dedup_tally(std::make_unique<memory_index>(fingerprint), std::move(kind_of)) {}

dedup_tally::dedup_tally(std::unique_ptr<fingerprint_index> index, kind_of_stream kind_of)
    : kind_of_(std::move(kind_of)), index_(std::move(index)) {}

status dedup_tally::begin_stream(std::uint64_t stream) {
  kind_ = kind_of_ ? kind_of_(stream) : 0;
  if (kinds_.size() <= kind_) kinds_.resize(kind_ + 1);
  ++kinds_[kind_].stream_count;
  ++total_.stream_count;
  return {};
}

status dedup_tally::select(std::span<const delivered_chunk> chunks, std::span<std::unique_ptr<chunk_work>>) {
  selected_.erase(selected_.begin(), selected_.begin() + static_cast<std::ptrdiff_t>(delivered_));
  answers_.erase(answers_.begin(), answers_.begin() + static_cast<std::ptrdiff_t>(delivered_));
  answered_ -= std::exchange(delivered_, 0);
  selected_.resize(answered_);  // drops what a selection left that failed
  for (const delivered_chunk& chunk : chunks) selected_.push_back(chunk.fingerprint);
  answers_.resize(selected_.size());
  status inserted = index_->insert(std::span(selected_).subspan(answered_), std::span(answers_).subspan(answered_));
  if (inserted.ok()) answered_ = selected_.size();
  return inserted;
}

status dedup_tally::take(const delivered_chunk& chunk) {
  if (delivered_ == answered_) CUTPOINT_RETURN_IF_FAILED(select({&chunk, 1}, {}));
  assert(selected_[delivered_] == chunk.fingerprint);
  const std::uint64_t new_count = answers_[delivered_++] == index_answer::absent ? 1 : 0;
  for (dedup_counts* counts : {&total_, &kinds_[kind_]}) {
    counts->bytes += chunk.length * chunk.count;
    counts->chunk_count += chunk.count;
    counts->unique_bytes += chunk.length * new_count;
    counts->unique_chunk_count += new_count;
  }
  lengths_.add(chunk.length, chunk.count);
  return {};
}

status dedup_tally::end_stream(std::uint64_t, const status&) { return {}; }

void dedup_tally::add_counts(std::size_t kind, const dedup_counts& counts) {
  if (kinds_.size() <= kind) kinds_.resize(kind + 1);
  kinds_[kind] += counts;
  total_ += counts;
}

// --- Comparison ------------------------------------------------------------------------------------------------------

dedup_counts& dedup_counts::operator+=(const dedup_counts& other) noexcept {
  stream_count += other.stream_count;
  bytes += other.bytes;
  chunk_count += other.chunk_count;
  unique_bytes += other.unique_bytes;
  unique_chunk_count += other.unique_chunk_count;
  return *this;
}

std::string kind_of_file(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == name.size()) return "(none)";
  return lower_case(name.substr(dot));
}

std::optional<double> cut_differences::dirty_bytes_per_boundary() const { return ratio(dirty_bytes, boundary_count); }

cut_comparison::cut_comparison(std::uint64_t segment_bytes)
    : segment_bytes_(segment_bytes), exact_(*this), other_(*this) {}

cut_differences cut_comparison::differences() const {
  const std::lock_guard lock(mutex_);
  return differences_;
}

status cut_comparison::face::begin_stream(std::uint64_t) {
  stream_bytes = 0;
  return {};
}

status cut_comparison::face::take(const delivered_chunk& c) {
  const std::lock_guard lock(comparison_->mutex_);
  stream_bytes += c.length * c.count;
  equal_chunks* last = waiting.empty() ? nullptr : &waiting.back();
  if (last != nullptr && last->stream_index == ended_streams && last->end() == c.offset && last->length == c.length) {
    last->count += c.count;
  } else {
    waiting.push_back({.stream_index = ended_streams, .offset = c.offset, .length = c.length, .count = c.count});
  }
  comparison_->compare();
  return {};
}

status cut_comparison::face::end_stream(std::uint64_t, const status&) {
  const std::lock_guard lock(comparison_->mutex_);
  ++ended_streams;
  if (this == &comparison_->other_ && stream_bytes != 0 && comparison_->segment_bytes_ != 0) {
    comparison_->differences_.boundary_count += (stream_bytes - 1) / comparison_->segment_bytes_;
  }
  comparison_->compare();
  return {};
}

void cut_comparison::pass(face& cuts, std::uint64_t count) {
  equal_chunks& first = cuts.waiting.front();
  first.offset += count * first.length;
  first.count -= count;
  if (first.count == 0) cuts.waiting.pop_front();
}

void cut_comparison::pass_dirty(std::uint64_t count) {
  const std::uint64_t length = other_.waiting.front().length;
  differences_.chunk_count += count;
  differences_.bytes += count * length;
  differences_.dirty_chunk_count += count;
  differences_.dirty_bytes += count * length;
  pass(other_, count);
}

/// Goes on as far as both sides are known. Each step is done with a row, or with the part of one that another covers.
void cut_comparison::compare() {
  while (!other_.waiting.empty()) {
    const equal_chunks& o = other_.waiting.front();
    const auto starting_before = [&](std::uint64_t position) {
      return std::min(o.count, (position - o.offset + o.length - 1) / o.length);
    };
    if (exact_.waiting.empty()) {
      if (o.stream_index >= exact_.ended_streams) return;
      pass_dirty(o.count);
      continue;
    }
    const equal_chunks& e = exact_.waiting.front();
    if (e.stream_index < o.stream_index || (e.stream_index == o.stream_index && e.end() <= o.offset)) {
      pass(exact_, e.count);
    } else if (e.stream_index > o.stream_index) {
      pass_dirty(o.count);
    } else if (o.offset < e.offset) {
      pass_dirty(starting_before(e.offset));
    } else if (e.length != o.length || (o.offset - e.offset) % e.length != 0) {
      pass_dirty(starting_before(e.end()));
    } else {
      const std::uint64_t clean = std::min(o.count, (e.end() - o.offset) / e.length);
      differences_.chunk_count += clean;
      differences_.bytes += clean * o.length;
      pass(exact_, (o.offset - e.offset) / e.length + clean);
      pass(other_, clean);
    }
  }
}

// What follows from counts and times.

namespace {

std::optional<double> inverse(double seconds_per_byte) {
  if (seconds_per_byte <= 0) return std::nullopt;
  return 1 / seconds_per_byte;
}

}  // namespace

std::optional<double> bytes_per_entry(const fingerprint_index& index) {
  if (index.size() == 0) return std::nullopt;
  return static_cast<double>(index.memory_bytes()) / static_cast<double>(index.size());
}

std::int64_t exact_comparison::missed_bytes(const dedup_counts& other) const {
  return static_cast<std::int64_t>(tally->total().duplicate_bytes()) -
         static_cast<std::int64_t>(other.duplicate_bytes());
}

std::optional<double> exact_comparison::missed_share(const dedup_counts& other) const {
  const std::uint64_t duplicates = tally->total().duplicate_bytes();
  if (duplicates == 0) return std::nullopt;
  return static_cast<double>(missed_bytes(other)) / static_cast<double>(duplicates);
}

std::vector<stage_cost> dedup_report::stages() const { return costs_of_stages(work.lanes, reading); }

double dedup_report::lane_seconds(std::size_t lane, stage which) const {
  const double outside = lane == 0 && which == stage::reading ? reading.seconds : 0;
  return outside + work.lanes[lane].at(which).seconds;
}

std::vector<device_cost> dedup_report::devices() const { return costs_of_devices(work.lanes); }

std::optional<std::string> dedup_report::bottleneck() const {
  if (tally->total().bytes == 0) return std::nullopt;
  return bottleneck_of(stages(), devices(), thread_count);
}

throughput_model dedup_report::model() const {
  throughput_model model;
  const auto bytes = static_cast<double>(tally->total().bytes);
  if (bytes == 0) return model;
  const auto per_byte = [&](stage which) {
    double seconds = 0;
    for (const lane_record& lane : work.lanes) seconds += lane.at(which).seconds;
    return seconds / bytes;
  };
  model.chunking = per_byte(stage::chunking) + per_byte(stage::joining);
  model.fingerprinting = per_byte(stage::fingerprinting);
  model.index = per_byte(stage::delivery);
  const auto threads = static_cast<double>(thread_count);
  model.serial = inverse(model.chunking + model.fingerprinting + model.index);
  model.pipelined = inverse(std::max({model.chunking, model.fingerprinting, model.index}));
  model.parallel = inverse(std::max({model.chunking / threads, model.fingerprinting / threads, model.index}));
  return model;
}

std::optional<double> dedup_report::bytes_per_second() const {
  if (wall_seconds <= 0 || tally->total().bytes == 0) return std::nullopt;
  return static_cast<double>(tally->total().bytes) / wall_seconds;
}

std::uint64_t dedup_report::segment_bytes() const {
  return feed->join == join_kind::exact ? work.segment_bytes : feed->segment_bytes;
}

std::vector<dedup_counts> dedup_report::classes() const {
  if (context.rules().empty()) return {};
  std::vector<dedup_counts> sums(context.rules().size() + 1);
  for (std::size_t kind = 0; kind < tally->kinds().size(); ++kind) sums[kind_rules[kind]] += tally->kinds()[kind];
  return sums;
}

std::vector<std::size_t> dedup_report::kinds_by_bytes() const {
  const std::vector<dedup_counts>& kinds = tally->kinds();
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i].stream_count != 0) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return kinds[a].bytes != kinds[b].bytes ? kinds[a].bytes > kinds[b].bytes : kind_names[a] < kind_names[b];
  });
  return order;
}

}  // namespace cutpoint
