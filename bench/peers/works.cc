#include "bench/peers/works.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <cutpoint/backends.h>
#include <cutpoint/chunk_sizes.h>
#include <cutpoint/cut_cursor.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/text.h>
#include <fmt/format.h>

namespace cutpoint::bench {

namespace {

constexpr std::uint64_t message_bytes = 8 * KiB;

using chunk_ends = std::vector<std::uint64_t>;
using digest_list = std::vector<digest>;
using cut_function = std::function<std::size_t(std::uint64_t* ends)>;

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
std::pair<contender, chunk_ends> cutting_contender(std::string name, const cut_function& cut, byte_span data) {
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
  if (const status hashed = hash_all(*batch, data, messages, *our_digests); !hashed.ok()) return hashed;
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

}  // namespace cutpoint::bench
