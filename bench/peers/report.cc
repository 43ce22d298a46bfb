#include "bench/peers/report.h"

#include <algorithm>
#include <string_view>

#include <cutpoint/bytes.h>
#include <cutpoint/text.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cutpoint::bench {

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
