// This build of Cutpoint as a library of peers, so that another build can be measured beside it in the same run.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/chunk_sizes.h>
#include <fmt/format.h>

#include "bench/peers/peers.h"
#include "build_info.h"

namespace cutpoint::bench {

namespace {

constexpr std::array<std::pair<const char*, const char*>, 11> cuts = {{{"ae-max", "2K:8K:64K"},
                                                                       {"fastcdc", "2K:8K:64K"},
                                                                       {"fastcdc2020", "2K:8K:64K"},
                                                                       {"gear", "2K:8K:64K"},
                                                                       {"mincdc4", "4K:8K:12K"},
                                                                       {"mincdchash4", "4K:8K:12K"},
                                                                       {"rabin", "2K:8K:64K"},
                                                                       {"ram", "2K:8K:64K"},
                                                                       {"ronomon", "2K:8K:64K"},
                                                                       {"seqcdc-inc", "4K:8K:16K"},
                                                                       {"xet", ""}}};
constexpr std::array<const char*, 3> hashes = {"blake3", "sha1", "sha256"};

std::array<std::optional<chunker>, cuts.size()> chunkers;
std::array<std::unique_ptr<batch_fingerprinter>, hashes.size()> fingerprinters;

template <std::size_t I>
std::size_t cut(const std::uint8_t* bytes, std::size_t size, std::uint64_t* ends) {
  return cut_all(*chunkers[I], {bytes, size}, ends);
}

template <std::size_t I>
void hash(const message* messages, std::size_t count) {
  static std::vector<digest> digests;
  digests.resize(std::max(digests.size(), count));
  for (std::size_t i = 0; i < count; ++i) {
    fingerprinters[I]->submit({messages[i].bytes, messages[i].size}, digests[i]);
  }
  static_cast<void>(fingerprinters[I]->flush());
  for (std::size_t i = 0; i < count; ++i) {
    std::copy(digests[i].view().begin(), digests[i].view().end(), messages[i].digest);
  }
}

/// Returns the name of a peer, which is never freed.
const char* name_of(backend where) {
  return (new std::string(fmt::format("{}, {}", build_commit, to_string(where))))->c_str();
}

/// Adds the works that this build has, by this back end.
template <std::size_t... Cut, std::size_t... Hash>
void add_peers(backend where, std::vector<peer>& peers, std::index_sequence<Cut...>, std::index_sequence<Hash...>) {
  const auto add_cuts = [&](std::size_t i, decltype(peer::cut) function) {
    const auto [work, size] = cuts[i];
    const auto reference = make_chunker(work, *size == '\0' ? std::vector<parameter_setting>() : *size_settings(size));
    if (!reference) return;
    chunkers[i] = chunker_on(reference->chunker, where).value();
    peers.push_back({name_of(backend_of(*chunkers[i])), work, size, true, function, nullptr});
  };
  const auto add_hashes = [&](std::size_t i, decltype(peer::hash) function) {
    auto chosen = fingerprints_on(*parse_fingerprint(hashes[i]), where);
    if (!chosen) return;
    fingerprinters[i] = std::move(chosen->batch);
    peers.push_back({name_of(chosen->where), hashes[i], "", true, nullptr, function});
  };
  (add_cuts(Cut, cut<Cut>), ...);
  (add_hashes(Hash, hash<Hash>), ...);
}

}  // namespace

}  // namespace cutpoint::bench

extern "C" __attribute__((visibility("default"))) const cutpoint::bench::peer* cutpoint_peers(const char* backend,
                                                                                              std::size_t* count) {
  using namespace cutpoint;
  static std::vector<bench::peer> peers;
  if (const auto where = parse_backend(backend); peers.empty() && where) {
    bench::add_peers(*where, peers, std::make_index_sequence<bench::cuts.size()>(),
                     std::make_index_sequence<bench::hashes.size()>());
  }
  *count = peers.size();
  return peers.data();
}
