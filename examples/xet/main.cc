// Prints the Xet hash of each file, which names it in Hugging Face's storage. All processors work on it.
//
//     xet_hash [--chunks] FILE...
//
// It prints a line for each file: hash, bytes, path. With --chunks, a line for each chunk precedes it: "chunk", hash,
// offset, bytes. Exit codes: 0 success; 1 a file failed, the others were hashed; 2 wrong usage.
#include <cerrno>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <cutpoint/catalog.h>
#include <cutpoint/engine.h>

#include "xet_tree.h"

namespace {

using cutpoint::status;

/// Prints failures and remembers that there was one.
class failures {
 public:
  void add(const status& why) {
    std::fprintf(stderr, "xet_hash: %s\n", why.message().c_str());
    any_ = true;
  }
  [[nodiscard]] bool any() const { return any_; }

 private:
  bool any_ = false;
};

/// Prints the hashes of files, each of which is a stream. It holds 48 bytes for each chunk until the end of its file.
class printer final : public cutpoint::chunk_receiver {
 public:
  printer(const std::vector<std::string>& paths, bool lists_chunks, xet::file_hasher hasher)
      : paths_(paths), lists_chunks_(lists_chunks), hasher_(std::move(hasher)) {}

  status begin_stream(std::uint64_t) override {
    chunks_.clear();
    byte_count_ = 0;
    return {};
  }
  status take(const cutpoint::delivered_chunk& c) override {
    for (std::uint64_t i = 0; i < c.count; ++i) {
      if (lists_chunks_) print_line("chunk " + xet::hexadecimal(c.fingerprint), byte_count_, std::to_string(c.length));
      chunks_.push_back({.hash = c.fingerprint, .bytes = c.length});
      byte_count_ += c.length;
    }
    return {};
  }
  status end_stream(std::uint64_t stream, const status& outcome) override {
    if (!outcome.ok()) return {};  // `hash_files` reports it
    const auto hash = hasher_(std::exchange(chunks_, {}));
    if (!hash) return hash.error();
    print_line(xet::hexadecimal(*hash), byte_count_, paths_[stream]);
    return {};
  }

 private:
  static void print_line(const std::string& first, std::uint64_t number, const std::string& last) {
    std::printf("%s %llu %s\n", first.c_str(), static_cast<unsigned long long>(number), last.c_str());
  }

  const std::vector<std::string>& paths_;
  bool lists_chunks_;
  xet::file_hasher hasher_;
  std::vector<xet::node> chunks_;
  std::uint64_t byte_count_ = 0;
};

/// Hashes files. A file that fails is reported, and the others are still hashed. Errors: those of the engine.
status hash_files(const std::vector<std::string>& paths, bool lists_chunks, failures& failed) {
  const auto cuts = cutpoint::make_chunker("xet", {});
  if (!cuts) return cuts.error();
  auto hasher = xet::file_hasher::make();
  if (!hasher) return hasher.error();
  printer out(paths, lists_chunks, *std::move(hasher));
  auto engine = cutpoint::engine::make();
  if (!engine) return engine.error();
  auto feed =
      engine->open({.cuts = cuts->chunker, .fingerprint = {cutpoint::fingerprint_kind::blake3, xet::data_key}}, out);
  if (!feed) return feed.error();
  for (std::uint64_t i = 0; i < paths.size(); ++i) {
    auto file = cutpoint::file_source::open(paths[i]);
    const status fed = file ? feed_source(*feed, i, *file) : file.error();
    if (!feed->failure().ok()) return feed->failure();
    if (!fed.ok()) failed.add(fed);
  }
  return feed->finish();
}

}  // namespace

int main(int count, char** words) {
  std::vector<std::string> paths(words + 1, words + count);
  const bool lists_chunks = !paths.empty() && paths.front() == "--chunks";
  if (lists_chunks) paths.erase(paths.begin());
  if (paths.empty()) {
    std::fprintf(stderr, "usage: xet_hash [--chunks] FILE...\n");
    return 2;
  }
  failures failed;
  try {
    if (const status hashed = hash_files(paths, lists_chunks, failed); !hashed.ok()) failed.add(hashed);
    if (std::fflush(stdout) != 0) failed.add(cutpoint::system_failure("standard output", "written", errno));
  } catch (const std::exception& unexpected) {
    failed.add({cutpoint::status_code::memory_limit, unexpected.what()});
  }
  return failed.any() ? 1 : 0;
}
