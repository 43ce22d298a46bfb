// Cuts and fingerprints a file that is in memory, once for each line on standard input, and says how many chunks there
// are and how many seconds it took, by the clock and of the processor: the C++ side of bench/python_overhead.py.
#include <chrono>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include <cutpoint/catalog.h>
#include <cutpoint/engine.h>

namespace {

using namespace cutpoint;

/// Keeps what Python's arrays have.
struct lists final : chunk_receiver {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint64_t> lengths;
  std::vector<std::uint8_t> digests;

  status begin_stream(std::uint64_t) override { return {}; }
  status end_stream(std::uint64_t, const status&) override { return {}; }
  status take(const fed_chunk& c) override {
    const byte_span digest = c.fingerprint.view();
    for (std::uint64_t i = 0; i < c.count; ++i) {
      offsets.push_back(c.offset + i * c.length);
      lengths.push_back(c.length);
      digests.insert(digests.end(), digest.begin(), digest.end());
    }
    return {};
  }
};

status cut(engine& threads, const feed_options& options, byte_span bytes, lists& into) {
  auto opened = threads.open(options, into);
  if (!opened) return opened.error();
  if (status begun = opened->begin(0); !begun.ok()) return begun;
  if (status written = opened->write(bytes); !written.ok()) return written;
  if (status ended = opened->end(); !ended.ok()) return ended;
  return opened->finish();
}

std::vector<std::uint8_t> read(const char* path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(file.tellg()));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) {
    std::cerr << "usage: cutpoint_in_memory FILE CUTS FINGERPRINT\n";
    return 2;
  }
  const auto cuts = make_chunker(words[2], {});
  const auto fingerprint = parse_fingerprint(words[3]);
  auto threads = engine::make();
  if (!cuts || !fingerprint || !threads) {
    std::cerr << "cutpoint_in_memory: no such cuts or fingerprint, or no threads\n";
    return 1;
  }
  const std::vector<std::uint8_t> bytes = read(words[1]);
  const feed_options options{.cuts = cuts->chunker, .fingerprint = *fingerprint};
  for (std::string line; std::getline(std::cin, line);) {
    const std::clock_t begun_work = std::clock();
    const auto begun = std::chrono::steady_clock::now();
    lists found;
    if (const status outcome = cut(*threads, options, bytes, found); !outcome.ok()) {
      std::cerr << "cutpoint_in_memory: " << outcome.message() << '\n';
      return 1;
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    const double work = static_cast<double>(std::clock() - begun_work) / CLOCKS_PER_SEC;
    std::cout << found.offsets.size() << ' ' << took.count() << ' ' << work << std::endl;
  }
  return 0;
}
