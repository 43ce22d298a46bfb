// cutpoint_interfaces: what each way into the engine costs beside one call for all bytes, for C++ and C.
//
// Each round measures every way on the same bytes, one after the other, in an order that turns, so that ratios are of the
// same minute. All must give the same chunks and fingerprints, or no speed is shown and the exit code is 1.
#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <cutpoint/catalog.h>
#include <cutpoint/chunks.h>
#include <cutpoint/cutpoint.h>
#include <cutpoint/text.h>
#include <cutpoint/timing.h>
#include <fmt/format.h>

namespace cutpoint::bench {

namespace {

struct options {
  std::string bytes = "1G";
  std::string piece = "64K";
  std::string cuts = "fastcdc";
  std::string fingerprint = "sha256";
  std::uint64_t threads = 0;
  int rounds = 7;
};

/// What came out, in order.
struct answer {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;

  void add(std::uint64_t offset, std::uint64_t length, std::uint64_t times, const std::uint8_t* digest) {
    count += times;
    sum = (sum ^ offset ^ (length << 40U)) * 0x9e3779b97f4a7c15;
    for (int i = 0; i < 8; ++i) sum = sum * 0x100000001b3 ^ digest[i];
  }
  void add(const chunk_record& each) { add(each.offset, each.length, each.count, each.fingerprint.bytes.data()); }
  void add(const cutpoint_chunk& each) { add(each.offset, each.length, each.count, each.digest); }
  friend bool operator==(const answer&, const answer&) = default;
};

/// What all ways are given.
struct work {
  feed_options job;
  cutpoint_feed_options c_job;
  std::vector<std::uint8_t> bytes;
  std::size_t piece_bytes;
  engine* threads;
  cutpoint_engine* c_threads;
  std::vector<cutpoint_chunk>* c_room;  ///< the caller's, for all chunks

  [[nodiscard]] byte_span piece(std::size_t begin) const {
    return byte_span(bytes).subspan(begin, std::min(piece_bytes, bytes.size() - begin));
  }
};

status of_c(cutpoint_status code) {
  if (code == CUTPOINT_OK) return {};
  return {status_code::backend_failure, fmt::format("the C interface: {}", cutpoint_status_name(code))};
}

chunk_callback adding_to(answer& got) {
  return chunk_callback([&got](const delivered_chunk& chunk) {
    got.add(record_of(chunk));
    return status();
  });
}

status one_shot(const work& work, answer& got) {
  chunk_callback add = adding_to(got);
  return feed_buffer(*work.threads, work.job, work.bytes, add);
}

status as_vector(const work& work, answer& got) {
  const auto found = chunk_buffer(*work.threads, work.job, work.bytes);
  if (!found) return found.error();
  for (const chunk_record& each : *found) got.add(each);
  return {};
}

status in_pieces(const work& work, answer& got) {
  chunk_callback add = adding_to(got);
  auto feed = work.threads->open(work.job, add);
  if (!feed) return feed.error();
  status fed = feed->begin(0);
  for (std::size_t begin = 0; begin < work.bytes.size() && fed.ok(); begin += work.piece_bytes)
    fed = feed->write(work.piece(begin));
  if (fed.ok()) fed = feed->end();
  return fed.ok() ? feed->finish() : fed;
}

status pulled(const work& work, answer& got) {
  memory_source source(work.bytes);
  auto reader = chunk_reader::open(*work.threads, work.job, source);
  if (!reader) return reader.error();
  std::vector<chunk_record> some(256);
  for (;;) {
    const auto count = reader->read(some);
    if (!count) return count.error();
    if (*count == 0) return {};
    for (std::size_t i = 0; i < *count; ++i) got.add(some[i]);
  }
}

status one_shot_in_c(const work& work, answer& got) {
  std::vector<cutpoint_chunk>& chunks = *work.c_room;
  std::size_t count = 0;
  const int code = cutpoint_chunk_buffer(work.c_threads, &work.c_job, work.bytes.data(), work.bytes.size(),
                                         chunks.data(), chunks.size(), &count, nullptr);
  for (std::size_t i = 0; i < std::min(count, chunks.size()); ++i) got.add(chunks[i]);
  return of_c(code);
}

/// Pieces to a feed for C; `after_each` follows each.
status feed_in_c(const work& work, const cutpoint_receiver* receiver,
                 const std::function<void(cutpoint_feed*)>& after_each) {
  cutpoint_feed* feed = nullptr;
  int code = cutpoint_feed_create(work.c_threads, &work.c_job, receiver, &feed, nullptr);
  if (code == CUTPOINT_OK) code = cutpoint_feed_begin(feed, 0);
  for (std::size_t begin = 0; begin < work.bytes.size() && code == CUTPOINT_OK; begin += work.piece_bytes) {
    const byte_span piece = work.piece(begin);
    code = cutpoint_feed_write(feed, piece.data(), piece.size());
    after_each(feed);
  }
  if (code == CUTPOINT_OK) code = cutpoint_feed_end(feed, CUTPOINT_OK);
  if (code == CUTPOINT_OK) code = cutpoint_feed_finish(feed);
  after_each(feed);
  cutpoint_feed_destroy(feed);
  return of_c(code);
}

status called_in_c(const work& work, answer& got) {
  cutpoint_receiver receiver = {};
  receiver.struct_bytes = sizeof receiver;
  receiver.context = &got;
  receiver.take_chunk = [](void* context, const cutpoint_chunk* chunk, const void*) {
    static_cast<answer*>(context)->add(*chunk);
    return 0;
  };
  return feed_in_c(work, &receiver, [](cutpoint_feed*) {});
}

status taken_in_c(const work& work, answer& got) {
  return feed_in_c(work, nullptr, [&got](cutpoint_feed* feed) {
    std::array<cutpoint_chunk, 256> some;
    std::size_t count = 0;
    while (cutpoint_feed_take(feed, some.data(), some.size(), &count) == CUTPOINT_OK && count != 0) {
      for (std::size_t i = 0; i < count; ++i) got.add(some[i]);
    }
  });
}

struct way {
  const char* name;
  status (*run)(const work&, answer&);
};
constexpr std::array ways = {way{"C++ feed_buffer", one_shot},
                             way{"C++ chunk_buffer", as_vector},
                             way{"C++ feed::write", in_pieces},
                             way{"C++ chunk_reader", pulled},
                             way{"C cutpoint_chunk_buffer", one_shot_in_c},
                             way{"C cutpoint_feed_write, callback", called_in_c},
                             way{"C cutpoint_feed_write, take", taken_in_c}};

status compare(const work& work, int rounds) {
  std::array<std::vector<double>, ways.size()> seconds;
  std::array<std::vector<double>, ways.size()> ratios;
  std::optional<answer> expected;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const std::size_t which = (i + static_cast<std::size_t>(round)) % ways.size();
      answer got;
      const auto begin = std::chrono::steady_clock::now();
      if (status ran = ways[which].run(work, got); !ran.ok()) return ran;
      seconds[which].push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      if (expected && got != *expected) {
        return {status_code::backend_failure, fmt::format("{} gives other chunks than the others", ways[which].name)};
      }
      expected = got;
    }
    for (std::size_t i = 0; i < ways.size(); ++i) ratios[i].push_back(seconds[i].back() / seconds[0].back());
  }
  fmt::print("| way | GiB/s | time over that of {} |\n|---|---|---|\n", ways[0].name);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const double rate = static_cast<double>(work.bytes.size()) / static_cast<double>(GiB) / median(seconds[i]);
    fmt::print("| {} | {:.3f} | {:.3f} |\n", ways[i].name, rate, median(ratios[i]));
  }
  fmt::print("{} chunks each, alike\n", expected->count);
  return {};
}

status run(const options& given) {
  const auto byte_count = parse_size(given.bytes);
  if (!byte_count) return byte_count.error();
  const auto piece_bytes = parse_size(given.piece);
  if (!piece_bytes) return piece_bytes.error();
  const auto cuts = parse_canonical(given.cuts + (given.cuts.find('(') == std::string::npos ? "()" : ""));
  if (!cuts) return cuts.error();
  const auto kind = parse_fingerprint(given.fingerprint);
  if (!kind) return kind.error();
  auto threads = engine::make({.threads = given.threads});
  if (!threads) return threads.error();
  const cutpoint_engine_options c_options = {.struct_bytes = sizeof c_options, .threads = given.threads};
  cutpoint_engine* c_threads = nullptr;
  if (status made = of_c(cutpoint_engine_create(&c_options, &c_threads, nullptr)); !made.ok()) return made;
  const std::string canonical = cuts->canonical();
  std::vector<cutpoint_chunk> room(*byte_count / 1024 + 1);
  work work{.job = {.cuts = *cuts, .fingerprint = *kind},
            .c_job = {},
            .bytes = std::vector<std::uint8_t>(*byte_count),
            .piece_bytes = std::max<std::uint64_t>(1, *piece_bytes),
            .threads = &*threads,
            .c_threads = c_threads,
            .c_room = &room};
  work.c_job.struct_bytes = sizeof work.c_job;
  work.c_job.cuts = canonical.c_str();
  work.c_job.fingerprint = given.fingerprint.c_str();
  std::uint64_t state = 1;
  for (std::uint8_t& byte : work.bytes)
    byte = static_cast<std::uint8_t>((state = state * 6'364'136'223'846'793'005 + 1) >> 56U);
  const status compared = compare(work, given.rounds);
  cutpoint_engine_destroy(c_threads);
  return compared;
}

int main(int argc, char** argv) {
  options given;
  CLI::App app("What each way into the engine costs beside one call for all bytes, for C++ and C.");
  app.add_option("--bytes", given.bytes, "random bytes that are cut")->capture_default_str();
  app.add_option("--piece", given.piece, "bytes of each write")->capture_default_str();
  app.add_option("--cuts", given.cuts, "an algorithm or a canonical string")->capture_default_str();
  app.add_option("--hash", given.fingerprint, "fingerprint")->capture_default_str();
  app.add_option("--threads", given.threads, "threads that work; 0: one for each processor")->capture_default_str();
  app.add_option("--rounds", given.rounds, "rounds")->capture_default_str()->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, argc, argv);
  if (status ran = run(given); !ran.ok()) {
    fmt::print(stderr, "cutpoint_interfaces: {}\n", ran.message());
    return 1;
  }
  return 0;
}

}  // namespace

}  // namespace cutpoint::bench

int main(int argc, char** argv) { return cutpoint::bench::main(argc, argv); }
