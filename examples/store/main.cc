// Stores streams in a folder, deduplicated, and restores them.
//
//     store put DIR NAME [FILE]     stores FILE, or standard input, under NAME; makes DIR a store if it is not one
//     store get DIR NAME            writes the stream to standard output
//     store verify DIR              checks all chunks and streams
//
// Exit codes: 0 success; 1 failure, or problems were found; 2 wrong usage; 130 interrupted.
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <unistd.h>

#include "store.h"

namespace {

constexpr int done = 0;
constexpr int failed = 1;
constexpr int wrong_usage = 2;
constexpr int interrupted = 130;

cutpoint::cancellation stop;

void catch_signals() {
  struct sigaction action = {};
  action.sa_handler = [](int) { stop.request(); };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
}

int fail(const cutpoint::status& why) {
  std::fprintf(stderr, "store: %s\n", why.message().c_str());
  return why.code() == cutpoint::status_code::cancelled ? interrupted : failed;
}

unsigned long long shown(std::uint64_t number) { return number; }

int put(const std::string& folder, const std::string& name, cutpoint::source& stream) {
  const auto kept = store::put(folder, name, stream, stop);
  if (!kept) return fail(kept.error());
  std::printf("%llu bytes in %llu chunks; %llu bytes in %llu chunks are new\n", shown(kept->bytes), shown(kept->chunks),
              shown(kept->new_bytes), shown(kept->new_chunks));
  return done;
}

int verify(const std::string& folder) {
  const auto found =
      store::verify(folder, stop, [](const std::string& problem) { std::printf("%s\n", problem.c_str()); });
  if (!found) return fail(found.error());
  std::printf("%llu chunks, %llu streams, %llu problems\n", shown(found->chunks), shown(found->streams),
              shown(found->problems));
  return found->problems == 0 ? done : failed;
}

int run(const std::vector<std::string>& words) {
  const std::string command = words.empty() ? "" : words.front();
  if (command == "put" && words.size() == 3) {
    cutpoint::file_source stream = cutpoint::file_source::standard_input(&stop);
    return put(words[1], words[2], stream);
  }
  if (command == "put" && words.size() == 4) {
    auto stream = cutpoint::file_source::open(words[3], &stop);
    return stream ? put(words[1], words[2], *stream) : fail(stream.error());
  }
  if (command == "get" && words.size() == 3) {
    const cutpoint::status written = store::get(words[1], words[2], STDOUT_FILENO, stop);
    return written.ok() ? done : fail(written);
  }
  if (command == "verify" && words.size() == 2) return verify(words[1]);
  std::fprintf(stderr, "usage: store put DIR NAME [FILE]\n       store get DIR NAME\n       store verify DIR\n");
  return wrong_usage;
}

}  // namespace

int main(int count, char** words) {
  try {
    catch_signals();
    return run({words + 1, words + count});
  } catch (const std::exception& unexpected) {
    std::fprintf(stderr, "store: %s\n", unexpected.what());
    return failed;
  }
}
