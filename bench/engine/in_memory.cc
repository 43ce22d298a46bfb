// Cuts and fingerprints a file that is in memory, once for each line on standard input, and says how many chunks there
// are and how many seconds it took, by the clock and of the processor: the C++ side of bench/engine/python_overhead.py.
#include <chrono>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include <cutpoint/catalog.h>
#include <cutpoint/chunks.h>

namespace {

using namespace cutpoint;

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
    chunk_columns found;  // what Python's arrays have
    if (const status outcome = feed_buffer(*threads, options, bytes, found); !outcome.ok()) {
      std::cerr << "cutpoint_in_memory: " << outcome.message() << '\n';
      return 1;
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    const double work = static_cast<double>(std::clock() - begun_work) / CLOCKS_PER_SEC;
    std::cout << found.offsets.size() << ' ' << took.count() << ' ' << work << std::endl;
  }
  return 0;
}
