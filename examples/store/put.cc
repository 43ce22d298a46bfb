// Stores streams: the engine cuts and hashes them on all processors and delivers the chunks in order.
#include <filesystem>

#include <cutpoint/engine.h>

#include "chunk_files.h"
#include "recipe.h"
#include "store.h"
#include "store_folder.h"

namespace store {

namespace {

/// Writes the chunks and the recipe of a stream.
class stream_writer final : public cutpoint::chunk_receiver {
 public:
  stream_writer(chunk_writer& chunks, recipe_writer& recipe) : chunks_(chunks), recipe_(recipe) {}

  status begin_stream(std::uint64_t) override { return {}; }
  status take(const cutpoint::delivered_chunk& c) override {
    const std::string digest = to_hex(c.fingerprint);
    if (status added = chunks_.add(digest, c.bytes); !added.ok()) return added;
    chunk_count_ += c.count;
    byte_count_ += c.length * c.count;
    return recipe_.add({.digest = digest, .length = c.length, .count = c.count});
  }
  status end_stream(std::uint64_t, const status& outcome) override { return outcome; }

  [[nodiscard]] put_summary summary() const {
    return {.bytes = byte_count_,
            .chunks = chunk_count_,
            .new_chunks = chunks_.new_chunks(),
            .new_bytes = chunks_.new_bytes()};
  }

 private:
  chunk_writer& chunks_;
  recipe_writer& recipe_;
  std::uint64_t chunk_count_ = 0;
  std::uint64_t byte_count_ = 0;
};

status feed_all(const cutpoint::chunker& cuts, cutpoint::source& stream, const cutpoint::cancellation& stop,
                stream_writer& receiver) {
  auto threads = cutpoint::engine::make();
  if (!threads) return threads.error();
  auto feed = threads->open({.cuts = cuts, .fingerprint = hash, .cancel = &stop}, receiver);
  if (!feed) return feed.error();
  if (status fed = feed_source(*feed, 0, stream); !fed.ok()) return fed;
  return feed->finish();
}

}  // namespace

result<put_summary> put(const std::string& store, const std::string& name, cutpoint::source& stream,
                        const cutpoint::cancellation& stop) {
  const auto path = recipe_path(store, name);
  if (!path) return path.error();
  const auto folder = lock_store(store);
  if (!folder) return folder.error();
  const auto cuts = read_cuts(store);
  if (!cuts) return cuts.error();
  if (std::filesystem::exists(*path)) {
    return status(cutpoint::status_code::invalid_argument, store + ": has a stream '" + name + "' already");
  }
  const std::string unfinished = incoming_folder(store) + "/recipe";
  auto recipe = recipe_writer::create(unfinished, cuts->canonical());
  if (!recipe) return recipe.error();

  chunk_writer chunks(store, *folder);
  stream_writer receiver(chunks, *recipe);
  status done = feed_all(*cuts, stream, stop, receiver);
  if (done.ok()) done = chunks.finish();
  if (done.ok()) done = recipe->finish();
  if (done.ok()) done = rename_file(unfinished, *path);
  if (done.ok()) done = flush_folder(recipes_folder(store));
  if (!done.ok()) {
    static_cast<void>(remove_files_in(incoming_folder(store)));  // the next put removes them too
    return done;
  }
  return receiver.summary();
}

}  // namespace store
