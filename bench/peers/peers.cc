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

result<std::vector<peer>> load_peers(const std::string& path) {
  using export_function = const peer* (*)(std::size_t*);
  void* const library = ::dlopen(path.c_str(), RTLD_NOW);
  void* const symbol = library == nullptr ? nullptr : ::dlsym(library, "cutpoint_peers");
  if (symbol == nullptr) return status{status_code::unavailable, ::dlerror()};
  std::size_t count = 0;
  const peer* const first = reinterpret_cast<export_function>(symbol)(&count);
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

void measure(comparison& all, std::uint64_t rounds, const rate_function& rate) {
  const std::size_t count = all.contenders.size();
  std::vector<std::vector<double>> rates(count);
  std::vector<std::vector<double>> shares(count);
  std::vector<std::vector<double>> ratios(count);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::vector<double> now(count);
    for (std::size_t turn = 0; turn < count; ++turn) {
      const std::size_t i = (round + turn) % count;
      now[i] = rate(all.contenders[i].run);
    }
    const double read = now[0];
    const double ours = now[1];
    for (std::size_t i = 0; i < count; ++i) {
      rates[i].push_back(now[i]);
      shares[i].push_back(now[i] / read);
      ratios[i].push_back(ours / now[i]);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    contender& each = all.contenders[i];
    each.bytes_per_second = median(rates[i]);
    each.share_of_read = median(shares[i]);
    each.our_ratio = median(ratios[i]);
  }
}

namespace {

constexpr std::uint64_t message_bytes = 8 * KiB;

using chunk_ends = std::vector<std::uint64_t>;
using digest_list = std::vector<digest>;
using timed_cuts = std::function<std::size_t(std::uint64_t* ends)>;

contender plain_reader(byte_span data) {
  return {.name = "read",
          .run = [data] { [[maybe_unused]] volatile std::uint64_t sum = plain_read(data, backend::automatic); }};
}

std::size_t cut_all(const chunker& cuts, byte_span data, std::uint64_t* ends) {
  cut_cursor cursor(cuts);
  std::size_t count = 0;
  for (std::uint64_t begin = 0; begin < data.size(); ends[count++] = begin) {
    begin += *cursor.next_cut({.bytes = data, .start = begin, .at_end = true}, begin);
  }
  return count;
}

/// Returns a contender that has cut once, and its chunks' ends.
std::pair<contender, chunk_ends> cutting_contender(std::string name, const timed_cuts& cut, byte_span data) {
  const auto ends = std::make_shared<chunk_ends>(data.size() / KiB + 1);
  const std::size_t count = cut(ends->data());
  return {{.name = std::move(name), .run = [=] { cut(ends->data()); }, .chunk_count = count},
          chunk_ends(ends->begin(), ends->begin() + static_cast<std::ptrdiff_t>(count))};
}

agreement compare(const peer& p, bool is_equal) {
  if (is_equal) return agreement::equal;
  return p.has_same_definition ? agreement::wrong : agreement::other_definition;
}

/// Returns messages whose digests are written to `answers`.
std::vector<message> messages_of(byte_span data, const std::vector<chunk>& chunks, digest_list& answers) {
  std::vector<message> messages(chunks.size());
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    messages[i] = {data.data() + chunks[i].offset, chunks[i].length, answers[i].bytes.data()};
  }
  return messages;
}

status hash_all(batch_fingerprinter& batch, byte_span data, const std::vector<chunk>& messages, digest_list& answers) {
  for (std::size_t i = 0; i < messages.size(); ++i) {
    batch.submit(data.subspan(messages[i].offset, messages[i].length), answers[i]);
  }
  return batch.flush();
}

}  // namespace

result<std::vector<contender>> cutting_contenders(std::span<const peer> peers, byte_span data) {
  const peer& first = peers.front();
  std::vector<parameter_setting> sizes;
  if (*first.size != '\0') sizes = *size_settings(first.size);
  const auto reference = make_chunker(first.work, sizes);
  if (!reference) return reference.error();
  const auto cuts = chunker_on(reference->chunker, backend::automatic);
  if (!cuts) return cuts.error();

  auto [ours, expected] = cutting_contender(
      std::string(to_string(backend_of(*cuts))),
      [own_cuts = *cuts, data](std::uint64_t* ends) { return cut_all(own_cuts, data, ends); }, data);
  std::vector<contender> all = {plain_reader(data), std::move(ours)};
  for (const peer& p : peers) {
    auto [theirs, their_ends] = cutting_contender(
        p.name, [cut = p.cut, data](std::uint64_t* ends) { return cut(data.data(), data.size(), ends); }, data);
    theirs.answer = compare(p, their_ends == expected);
    all.push_back(std::move(theirs));
  }
  return all;
}

std::vector<message_set> message_sets(byte_span data) {
  std::vector<chunk> equal;
  for (std::uint64_t begin = 0; begin < data.size(); begin += message_bytes) {
    equal.push_back({begin, std::min<std::uint64_t>(message_bytes, data.size() - begin)});
  }
  const chunker cuts = chunker_at("fastcdc", *size_settings(std::string(usual_sizes))).value();
  return {{format_size(message_bytes), std::move(equal)},
          {fmt::format("fastcdc {}", usual_sizes), chunker_on(cuts, backend::automatic)->find_cuts(data)}};
}

result<std::vector<contender>> hashing_contenders(std::span<const peer> peers, byte_span data,
                                                  const std::vector<chunk>& messages) {
  const auto kind = parse_fingerprint(peers.front().work);
  if (!kind) return kind.error();
  auto chosen = fingerprints_on(*kind, backend::automatic);
  if (!chosen) return chosen.error();

  const std::shared_ptr<batch_fingerprinter> batch = std::move(chosen->batch);
  const auto our_digests = std::make_shared<digest_list>(messages.size());
  CUTPOINT_RETURN_IF_FAILED(hash_all(*batch, data, messages, *our_digests));
  std::vector<contender> all = {plain_reader(data),
                                {.name = std::string(to_string(chosen->where)),
                                 .run = [=] { static_cast<void>(hash_all(*batch, data, messages, *our_digests)); },
                                 .chunk_count = messages.size()}};
  for (const peer& p : peers) {
    const auto theirs =
        std::make_shared<digest_list>(messages.size(), digest{.bytes = {}, .size = our_digests->front().size});
    const std::vector<message> to_hash = messages_of(data, messages, *theirs);
    p.hash(to_hash.data(), to_hash.size());
    all.push_back({.name = p.name,
                   .run = [hash = p.hash, to_hash, theirs] { hash(to_hash.data(), to_hash.size()); },
                   .chunk_count = messages.size(),
                   .answer = compare(p, *theirs == *our_digests)});
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
  return fmt::format("{:<30} {}  {:<9} {:<20} {} {:>6}  {}\n", all.work, speed_text(our), our.name, peer.name,
                     speed_text(peer), ratio, answer);
}

nlohmann::ordered_json to_json(const contender& each) {
  return {{"name", each.name},
          {"bytes_per_second", each.bytes_per_second},
          {"share_of_read", each.share_of_read},
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
          {"bytes", all.data_bytes},
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
      "{}; {}\none thread; medians of {} rounds, GiB/s, and the share of a plain read of the same memory; ratio: ours "
      "over "
      "the peer's\n",
      machine, build, rounds);
  const comparison* last = nullptr;
  for (const comparison& all : comparisons) {
    if (last == nullptr || all.input != last->input || all.data_bytes != last->data_bytes) {
      out += fmt::format("\n{}, {}\n{:<30} {:>7} {:>6}  {:<9} {:<20} {:>7} {:>6} {:>6}  {}\n", all.input,
                         format_size(all.data_bytes), "", "ours", "read", "by", "peer", "peer's", "read", "ratio",
                         "chunks");
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
