#include "bench/peers/peers.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include <cutpoint/backends.h>
#include <cutpoint/bytes.h>
#include <cutpoint/chunk_sizes.h>
#include <cutpoint/cut_cursor.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/text.h>
#include <cutpoint/timing.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cutpoint::bench {

result<std::vector<peer>> load_peers(const std::string& path, backend where) {
  using export_function = const peer* (*)(const char*, std::size_t*);
  void* const library = ::dlopen(path.c_str(), RTLD_NOW);
  void* const symbol = library == nullptr ? nullptr : ::dlsym(library, "cutpoint_peers");
  if (symbol == nullptr) return status{status_code::unavailable, ::dlerror()};
  std::size_t count = 0;
  const peer* const first = reinterpret_cast<export_function>(symbol)(std::string(to_string(where)).c_str(), &count);
  return std::vector<peer>(first, first + count);
}

std::vector<peer_group> group_by_work(const std::vector<peer>& peers) {
  std::vector<peer_group> groups;
  for (const peer& each : peers) {
    const std::string work = *each.size == '\0' ? each.work : fmt::format("{} {}", each.work, each.size);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const peer_group& g) { return g.work == work; });
    if (group == groups.end()) group = groups.insert(group, {work, {}});
    group->peers.push_back(each);
  }
  return groups;
}

namespace {

/// The rates of one comparison, by contender and round.
using rate_table = std::vector<std::vector<double>>;

/// Returns the median of what `value` returns for each round.
template <class Value>
double median_of_rounds(std::uint64_t rounds, Value&& value) {
  std::vector<double> values;
  for (std::uint64_t round = 0; round < rounds; ++round) values.push_back(value(round));
  return median(values);
}

void set_medians(comparison& all, const rate_table& rates) {
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const std::vector<double>& own = rates[i];
    contender& each = all.contenders[i];
    each.bytes_per_second = median(own);
    each.share_of_read =
        median_of_rounds(own.size(), [&](std::uint64_t round) { return own[round] / rates[0][round]; });
    each.our_ratio = median_of_rounds(own.size(), [&](std::uint64_t round) { return rates[1][round] / own[round]; });
    std::vector<double> sorted = own;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t quarter = sorted.size() / 4;
    each.spread = (sorted[sorted.size() - 1 - quarter] - sorted[quarter]) / each.bytes_per_second;
  }
}

}  // namespace

std::string place_of(std::uint64_t bytes, std::span<const cache_info> caches) {
  const auto has_room = [&](const cache_info& each) { return each.kind != "instruction" && each.bytes / 2 >= bytes; };
  const auto nearest = std::find_if(caches.begin(), caches.end(), has_room);
  return nearest == caches.end() ? "memory" : fmt::format("L{}", nearest->level);
}

void measure(std::span<comparison> all, std::uint64_t rounds, const rate_function& rate) {
  std::vector<rate_table> rates(all.size());
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (std::size_t c = 0; c < all.size(); ++c) {
      const std::size_t count = all[c].contenders.size();
      rates[c].resize(count, std::vector<double>(rounds));
      for (std::size_t turn = 0; turn < count; ++turn) {
        const std::size_t i = (round + turn) % count;
        const auto run = [&] { all[c].contenders[i].run(round % all[c].buffer_count); };
        rates[c][i][round] = rate(run, all[c].buffer_bytes);
      }
    }
  }
  for (std::size_t c = 0; c < all.size(); ++c) set_medians(all[c], rates[c]);
}

std::size_t cut_all(const chunker& cuts, byte_span data, std::uint64_t* ends) {
  cut_cursor cursor(cuts);
  std::size_t count = 0;
  for (std::uint64_t begin = 0; begin < data.size(); ends[count++] = begin) {
    begin += *cursor.next_cut({.bytes = data, .start = begin, .at_end = true}, begin);
  }
  return count;
}

namespace {

constexpr std::uint64_t message_bytes = 8 * KiB;

using chunk_ends = std::vector<std::uint64_t>;
using digest_list = std::vector<digest>;
using timed_cuts = std::function<std::size_t(byte_span buffer, std::uint64_t* ends)>;

contender plain_reader(const std::vector<byte_span>& buffers, backend where) {
  return {.name = "read", .run = [buffers, where](std::size_t buffer) {
            [[maybe_unused]] volatile std::uint64_t sum = plain_read(buffers[buffer], where);
          }};
}

/// Returns a contender that has cut all buffers once, and its chunks' ends.
std::pair<contender, chunk_ends> cutting_contender(std::string name, const timed_cuts& cut,
                                                   const std::vector<byte_span>& buffers) {
  const auto ends = std::make_shared<chunk_ends>(buffers.front().size() / KiB + 1);
  chunk_ends all;
  for (const byte_span buffer : buffers) {
    const std::size_t count = cut(buffer, ends->data());
    all.insert(all.end(), ends->begin(), ends->begin() + static_cast<std::ptrdiff_t>(count));
  }
  return {{.name = std::move(name),
           .run = [=](std::size_t buffer) { cut(buffers[buffer], ends->data()); },
           .chunk_count = all.size()},
          std::move(all)};
}

agreement compare(const peer& p, bool is_equal) {
  if (is_equal) return agreement::equal;
  return p.has_same_definition ? agreement::wrong : agreement::other_definition;
}

/// Returns messages whose digests are written to `answers`.
std::vector<message> messages_of(const std::vector<byte_span>& spans, digest_list& answers) {
  std::vector<message> messages(spans.size());
  for (std::size_t i = 0; i < spans.size(); ++i) {
    messages[i] = {spans[i].data(), spans[i].size(), answers[i].bytes.data()};
  }
  return messages;
}

status hash_all(batch_fingerprinter& batch, const std::vector<byte_span>& messages, digest_list& answers) {
  for (std::size_t i = 0; i < messages.size(); ++i) batch.submit(messages[i], answers[i]);
  return batch.flush();
}

}  // namespace

result<std::vector<contender>> cutting_contenders(std::span<const peer> peers, const std::vector<byte_span>& buffers,
                                                  backend where) {
  const peer& first = peers.front();
  std::vector<parameter_setting> sizes;
  if (*first.size != '\0') sizes = *size_settings(first.size);
  const auto reference = make_chunker(first.work, sizes);
  if (!reference) return reference.error();
  const auto cuts = chunker_on(reference->chunker, where);
  if (!cuts) return cuts.error();

  auto [ours, expected] = cutting_contender(
      std::string(to_string(backend_of(*cuts))),
      [own_cuts = *cuts](byte_span buffer, std::uint64_t* ends) { return cut_all(own_cuts, buffer, ends); }, buffers);
  std::vector<contender> all = {plain_reader(buffers, where), std::move(ours)};
  for (const peer& p : peers) {
    auto [theirs, their_ends] = cutting_contender(
        p.name,
        [cut = p.cut](byte_span buffer, std::uint64_t* ends) { return cut(buffer.data(), buffer.size(), ends); },
        buffers);
    theirs.answer = compare(p, their_ends == expected);
    all.push_back(std::move(theirs));
  }
  return all;
}

std::vector<message_set> message_sets(const std::vector<byte_span>& buffers) {
  const chunker cuts =
      chunker_on(chunker_at("fastcdc", *size_settings(std::string(usual_sizes))).value(), backend::automatic).value();
  std::vector<message_set> sets = {{format_size(message_bytes), {}}, {fmt::format("fastcdc {}", usual_sizes), {}}};
  for (const byte_span buffer : buffers) {
    auto& equal = sets[0].buffers.emplace_back();
    for (std::uint64_t begin = 0; begin < buffer.size(); begin += message_bytes) {
      equal.push_back(buffer.subspan(begin, std::min<std::uint64_t>(message_bytes, buffer.size() - begin)));
    }
    auto& unequal = sets[1].buffers.emplace_back();
    for (const chunk& each : cuts.find_cuts(buffer)) unequal.push_back(buffer.subspan(each.offset, each.length));
  }
  return sets;
}

result<std::vector<contender>> hashing_contenders(std::span<const peer> peers, const std::vector<byte_span>& buffers,
                                                  const message_set& messages, backend where) {
  const auto kind = parse_fingerprint(peers.front().work);
  if (!kind) return kind.error();
  auto chosen = fingerprints_on(*kind, where);
  if (!chosen) return chosen.error();

  const std::shared_ptr<batch_fingerprinter> batch = std::move(chosen->batch);
  const auto our_digests = std::make_shared<std::vector<digest_list>>();
  std::uint64_t count = 0;
  for (const auto& buffer : messages.buffers) {
    CUTPOINT_RETURN_IF_FAILED(hash_all(*batch, buffer, our_digests->emplace_back(buffer.size())));
    count += buffer.size();
  }
  std::vector<contender> all = {
      plain_reader(buffers, where),
      {.name = std::string(to_string(chosen->where)),
       .run = [=, to_hash = messages.buffers](
                  std::size_t buffer) { static_cast<void>(hash_all(*batch, to_hash[buffer], (*our_digests)[buffer])); },
       .chunk_count = count}};
  for (const peer& p : peers) {
    const auto theirs = std::make_shared<std::vector<digest_list>>();
    std::vector<std::vector<message>> to_hash;
    for (const auto& buffer : messages.buffers) {
      const digest empty{.bytes = {}, .size = our_digests->front().front().size};
      to_hash.push_back(messages_of(buffer, theirs->emplace_back(buffer.size(), empty)));
      p.hash(to_hash.back().data(), to_hash.back().size());
    }
    const agreement answer = compare(p, *theirs == *our_digests);
    all.push_back({.name = p.name,
                   .run = [hash = p.hash, to_hash = std::move(to_hash),
                           theirs](std::size_t buffer) { hash(to_hash[buffer].data(), to_hash[buffer].size()); },
                   .chunk_count = count,
                   .answer = answer});
  }
  return all;
}

namespace {

constexpr std::size_t read = 0;
constexpr std::size_t ours = 1;
constexpr std::size_t first_peer = 2;

std::string_view name_of(agreement answer) {
  switch (answer) {
    case agreement::equal:
      return "equal";
    case agreement::other_definition:
      return "other_definition";
    case agreement::wrong:
      break;
  }
  return "wrong";
}

std::string speed_text(const contender& each) {
  return fmt::format("{:>7.2f} {:>4.0f} %", each.bytes_per_second / static_cast<double>(GiB), 100 * each.share_of_read);
}

std::string line(const comparison& all, const contender& peer) {
  const contender& our = all.contenders[ours];
  std::string ratio = "-";  // speeds of unequal answers are not compared
  std::string answer = fmt::format("{} and {}: {}", our.chunk_count, peer.chunk_count,
                                   peer.answer == agreement::wrong ? "WRONG" : "another definition");
  if (peer.answer == agreement::equal) {
    ratio = fmt::format("{:.2f}", peer.our_ratio);
    answer = fmt::format("{}, equal", peer.chunk_count);
  }
  return fmt::format("{:<30} {}  {:<9} {:<20} {} {:>6} {:>4.0f} %  {}\n", all.work, speed_text(our), our.name,
                     peer.name, speed_text(peer), ratio, 100 * std::max(our.spread, peer.spread), answer);
}

nlohmann::ordered_json to_json(const contender& each) {
  return {{"name", each.name},
          {"bytes_per_second", each.bytes_per_second},
          {"share_of_read", each.share_of_read},
          {"spread", each.spread},
          {"chunk_count", each.chunk_count}};
}

nlohmann::ordered_json to_json(const comparison& all) {
  nlohmann::ordered_json peers = nlohmann::ordered_json::array();
  for (std::size_t i = first_peer; i < all.contenders.size(); ++i) {
    const contender& each = all.contenders[i];
    nlohmann::ordered_json peer = to_json(each);
    peer["answer"] = name_of(each.answer);
    peer["our_ratio"] = nullptr;
    if (each.answer == agreement::equal) peer["our_ratio"] = each.our_ratio;
    peers.push_back(std::move(peer));
  }
  return {{"input", all.input},
          {"place", all.place},
          {"bytes", all.buffer_bytes},
          {"buffers", all.buffer_count},
          {"work", all.work},
          {"read_bytes_per_second", all.contenders[read].bytes_per_second},
          {"ours", to_json(all.contenders[ours])},
          {"peers", std::move(peers)}};
}

}  // namespace

bool peers_report::is_right() const {
  return std::none_of(comparisons.begin(), comparisons.end(), [](const comparison& all) {
    return std::any_of(all.contenders.begin(), all.contenders.end(),
                       [](const contender& each) { return each.answer == agreement::wrong; });
  });
}

std::string peers_report::table() const {
  std::string out = fmt::format(
      "{}; {}\none thread; medians of {} rounds, GiB/s, and the share of a plain read of the same memory\n"
      "ratio: ours over the peer's; spread: of the middle half of the rounds, the larger one of ours and the peer's\n",
      machine, build, rounds);
  const comparison* last = nullptr;
  for (const comparison& all : comparisons) {
    if (last == nullptr || all.input != last->input || all.buffer_bytes != last->buffer_bytes) {
      const std::string times = all.buffer_count > 1 ? fmt::format("{} times ", all.buffer_count) : "";
      out += fmt::format("\n{}, {}{} in {}\n{:<30} {:>7} {:>6}  {:<9} {:<20} {:>7} {:>6} {:>6} {:>6}  {}\n", all.input,
                         times, format_size(all.buffer_bytes), all.place, "", "ours", "read", "by", "peer", "peer's",
                         "read", "ratio", "spread", "chunks");
    }
    for (std::size_t i = first_peer; i < all.contenders.size(); ++i) out += line(all, all.contenders[i]);
    last = &all;
  }
  return out;
}

std::string peers_report::json() const {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const comparison& all : comparisons) list.push_back(to_json(all));
  const nlohmann::ordered_json report = {
      {"machine", machine}, {"build", build}, {"rounds", rounds}, {"comparisons", std::move(list)}};
  return report.dump(2) + "\n";
}

}  // namespace cutpoint::bench
