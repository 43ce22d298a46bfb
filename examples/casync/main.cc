// Indexes a file like `casync make`, on all processors. casync and desync can extract it.
//
//     caibx [--chunk-size AVG|MIN:AVG:MAX] [--store DIR.castr] INDEX.caibx FILE
//
// FILE may be `-`. Without --store only the index is written. Exit codes: 0 success; 1 failure; 2 wrong usage.
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cutpoint/catalog.h>
#include <cutpoint/engine.h>

#include "chunk_store.h"
#include "index_file.h"

namespace {

using cutpoint::result;
using cutpoint::status;

/// Adds chunks to the store first and then to the index, so that the index never names a chunk that is missing.
class indexer final : public cutpoint::chunk_receiver {
 public:
  indexer(casync::index_file& index, casync::chunk_store* store) : index_(index), store_(store) {}

  status begin_stream(std::uint64_t) override { return {}; }
  status take(const cutpoint::delivered_chunk& c) override {
    if (store_ != nullptr) {
      if (status added = store_->add(c.fingerprint, c.bytes); !added.ok()) return added;
    }
    for (std::uint64_t i = 0; i < c.count; ++i) index_.add(c.length, c.fingerprint);
    return {};
  }
  status end_stream(std::uint64_t, const status& outcome) override { return outcome; }

 private:
  casync::index_file& index_;
  casync::chunk_store* store_;
};

/// Parses "AVG" or "MIN:AVG:MAX". The default sizes are those of casync: a quarter and four times the average.
result<cutpoint::chunker> parse_cuts(const std::string& sizes) {
  std::vector<cutpoint::parameter_setting> settings;
  const std::size_t first = sizes.find(':');
  const std::size_t second = sizes.rfind(':');
  if (first == second) {
    settings = {{"avg_bytes", sizes}};
  } else {
    settings = {{"min_bytes", sizes.substr(0, first)},
                {"avg_bytes", sizes.substr(first + 1, second - first - 1)},
                {"max_bytes", sizes.substr(second + 1)}};
  }
  auto casync = cutpoint::make_chunker("casync", settings);
  if (!casync) return casync.error();
  return casync->chunker;
}

status make_index(const cutpoint::chunker& cuts, const std::string& index_path, casync::chunk_store* store,
                  cutpoint::source& stream) {
  auto index = casync::index_file::create(index_path, std::get<cutpoint::buzhash_parameters>(cuts.parameters()));
  if (!index) return index.error();
  indexer receiver(*index, store);
  auto engine = cutpoint::engine::make();
  if (!engine) return engine.error();
  auto feed = engine->open({.cuts = cuts, .fingerprint = casync::hash}, receiver);
  if (!feed) return feed.error();
  if (status fed = feed_source(*feed, 0, stream); !fed.ok()) return fed;
  if (status finished = feed->finish(); !finished.ok()) return finished;
  return index->finish();
}

int fail(const std::string& why, int code) {
  std::fprintf(stderr, "caibx: %s\n", why.c_str());
  return code;
}

int run(std::vector<std::string> words) {
  constexpr int failed = 1;
  constexpr int wrong_usage = 2;
  std::string sizes = "64K";
  std::optional<casync::chunk_store> store;
  while (words.size() > 2 && (words[0] == "--chunk-size" || words[0] == "--store")) {
    if (words[0] == "--store") {
      store.emplace(words[1]);
    } else {
      sizes = words[1];
    }
    words.erase(words.begin(), words.begin() + 2);
  }
  if (words.size() != 2)
    return fail("usage: caibx [--chunk-size SIZES] [--store DIR.castr] INDEX.caibx FILE", wrong_usage);
  const auto cuts = parse_cuts(sizes);
  if (!cuts) return fail("--chunk-size " + sizes + ": " + cuts.error().message(), wrong_usage);
  auto stream = words[1] == "-" ? result<cutpoint::file_source>(cutpoint::file_source::standard_input())
                                : cutpoint::file_source::open(words[1]);
  if (!stream) return fail(stream.error().message(), failed);
  const status outcome = make_index(*cuts, words[0], store ? &*store : nullptr, *stream);
  return outcome.ok() ? 0 : fail(outcome.message(), failed);
}

}  // namespace

int main(int count, char** words) {
  try {
    return run({words + 1, words + count});
  } catch (const std::exception& unexpected) {
    return fail(unexpected.what(), 1);
  }
}
