// cutpoint_store_index: measures a store's index with synthetic entries: writing, merging, lookups, and resident memory.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <cutpoint/bytes.h>
#include <fmt/format.h>

#include "bench/common/usual_data.h"
#include "host/core/splitmix.h"
#include "store/index/shard_index.h"
#include "store/index/shard_writer.h"
#include "store/session/deduplicator.h"
#include "store/storage/directory_storage.h"

namespace cutpoint::bench {

namespace {

using store::object_kind;

constexpr std::uint64_t records_per_container = 4096;
constexpr std::size_t batch_digests = 1024;

struct options {
  std::string folder;
  std::uint64_t entries = 10'000'000;
  std::uint64_t shards = 1;
  std::uint64_t lookups = 10'000'000;
  std::uint64_t session = 0;
};

int fail(const status& why) {
  fmt::print(stderr, "cutpoint_store_index: {}\n", why.message());
  return 1;
}

/// Returns the anonymous memory of this process in bytes: not the pages of mapped shards.
double anonymous_bytes() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("RssAnon:")) return std::stod(line.substr(8)) * 1024;
  }
  return 0;
}

class stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// The entries of a shard: one at a random place in each of `count` equal ranges of the prefixes, so that they are made
/// in order and any of them can be made again.
struct synthetic_entries {
  std::uint64_t seed;
  std::uint64_t count;

  [[nodiscard]] std::uint64_t prefix(std::uint64_t i) const {
    const std::uint64_t range = (std::uint64_t{1} << store::prefix_bits) / count;
    return i * range + splitmix64::mixed(seed ^ i) % range;
  }
};

result<std::string> write_shard(store::storage& objects, const synthetic_entries& entries) {
  std::vector<store::shard_container> containers((entries.count + records_per_container - 1) / records_per_container);
  for (std::size_t i = 0; i < containers.size(); ++i) {
    for (std::size_t b = 0; b < 8; ++b) containers[i].name[b] = static_cast<std::uint8_t>(i >> (56 - 8 * b));
    containers[i].name[8] = static_cast<std::uint8_t>(entries.seed);  // shards have different containers
  }
  const std::string id = store::new_shard_id();
  auto object = objects.create({object_kind::shard, id});
  if (!object) return object.error();
  store::object_salt salt = {};
  store::shard_writer writer(**object, salt, store::seal_kind::checksum, containers, entries.count);
  for (std::uint64_t i = 0; i < entries.count; ++i) {
    const std::uint64_t place = splitmix64::mixed(~i) % entries.count;
    const store::shard_entry entry = {entries.prefix(i), static_cast<std::uint32_t>(place / records_per_container),
                                      static_cast<std::uint32_t>(place % records_per_container)};
    CUTPOINT_RETURN_IF_FAILED(writer.append(entry));
  }
  CUTPOINT_RETURN_IF_FAILED(writer.finish());
  CUTPOINT_RETURN_IF_FAILED(objects.sync());
  return id;
}

/// Returns lookups in a second of digests that no shard has.
result<double> look_up_new(store::shard_index& index, std::uint64_t lookups) {
  std::vector<digest> digests(batch_digests);
  std::vector<std::optional<store::found_record>> locations(batch_digests);
  double seconds = 0;
  for (std::uint64_t done = 0; done < lookups; done += batch_digests) {
    for (std::size_t i = 0; i < batch_digests; ++i) {
      const std::uint64_t bits = splitmix64::mixed(done + i + (std::uint64_t{1} << 40));
      digests[i].size = 32;
      std::memcpy(digests[i].bytes.data(), &bits, sizeof bits);
    }
    const stopwatch watch;
    CUTPOINT_RETURN_IF_FAILED(index.locate(store::record_kind::chunk, digests, locations));
    seconds += watch.seconds();
  }
  return static_cast<double>(lookups) / seconds;
}

int remove_shards(store::storage& objects) {
  const auto ids = objects.list(object_kind::shard);
  if (!ids) return fail(ids.error());
  for (const std::string& id : *ids) {
    if (status removed = objects.remove({object_kind::shard, id}); !removed.ok()) return fail(removed);
  }
  const status synced = objects.sync();
  return synced.ok() ? 0 : fail(synced);
}

/// Stores new chunks without content in a session, and prints what they cost.
status measure_session(store::storage& shards, std::uint64_t chunks) {
  store::discarding_storage objects(shards, object_kind::container);
  const store::seal_key key;
  const store::store_config config{.fingerprint = fingerprint_kind::blake3, .container_bytes = 1 << 20, .cuts = ""};
  store::table_cache tables(objects, key, store::table_cache::usual_bytes);
  store::own_containers own;
  auto nodes = store::record_fingerprinter::fastest(config.fingerprint);
  if (!nodes) return nodes.error();
  auto writer = store::store_writer::open(config, objects, key, tables, own, std::move(*nodes));
  if (!writer) return writer.error();
  const double before = anonymous_bytes();
  double most = 0;
  const stopwatch watch;
  std::vector<digest> batch(batch_digests);
  for (std::uint64_t i = 0; i < chunks;) {
    const std::size_t count = std::min<std::uint64_t>(batch.size(), chunks - i);
    for (std::size_t j = 0; j < count; ++j) batch[j] = synthetic_digest(i++, 32);
    const auto answers = (*writer)->records.look_up(std::span(batch).first(count));
    if (!answers) return answers.error();
    for (std::size_t j = 0; j < count; ++j) {
      if (!(*answers)[j].is_new) return {status_code::backend_failure, "a new chunk is taken for an old one"};
      CUTPOINT_RETURN_IF_FAILED((*writer)->records.put_chunk(batch[j], 0, store::record_codec::none, {}));
    }
    if (i % (std::uint64_t{1} << 17) < count) most = std::max(most, anonymous_bytes() - before);
  }
  CUTPOINT_RETURN_IF_FAILED((*writer)->records.finish());
  fmt::print("session: {:.2f} million new chunks a second; at most {:.0f} MB of memory at {} chunks\n",
             static_cast<double>(chunks) / watch.seconds() / 1e6, most / 1e6, chunks);
  return {};
}

/// Returns lookups in a second of entries that the shard has, in random order, without the containers' tables.
result<double> look_up_old(const store::shard& table, const synthetic_entries& entries, std::uint64_t lookups) {
  constexpr std::size_t lookups_at_once = 32;
  std::vector<store::shard_entry> matches;
  store::shard_blocks blocks;
  std::uint64_t prefixes[lookups_at_once] = {};
  std::uint64_t hits = 0;
  const stopwatch watch;
  for (std::uint64_t done = 0; done < lookups; done += lookups_at_once) {
    for (std::size_t i = 0; i < lookups_at_once; ++i) {
      prefixes[i] = entries.prefix(splitmix64::mixed(done + i) % entries.count);
      table.prefetch_filter(prefixes[i]);
    }
    for (const std::uint64_t each : prefixes) {
      matches.clear();
      if (!table.may_contain(each)) continue;
      CUTPOINT_RETURN_IF_FAILED(table.find(each, blocks, matches));
      hits += std::uint64_t{!matches.empty()};
    }
  }
  const double rate = static_cast<double>(lookups) / watch.seconds();
  if (hits < lookups) return status(status_code::io_error, "entries are missing in a shard");
  return rate;
}

/// Returns the entries of each shard: half as many as in the one before, which are as many shards as merging leaves.
std::vector<std::uint64_t> shard_sizes(const options& settings) {
  std::vector<std::uint64_t> sizes;
  std::uint64_t left = settings.entries;
  while (sizes.size() + 1 < settings.shards && left > 1) {
    sizes.push_back((left + 1) / 2);
    left -= sizes.back();
  }
  sizes.push_back(left);
  return sizes;
}

int measure(const options& settings) {
  auto files = store::open_file_system(settings.folder);
  if (!files) return fail(files.error());
  const std::shared_ptr<store::file_system> shared = std::move(*files);
  if (status folders = store::make_storage_folders(*shared); !folders.ok()) return fail(folders);
  const auto objects = store::open_directory_storage(shared, {.writer_id = "bench", .pending_objects = 0});
  if (settings.session != 0) {
    const status measured = measure_session(*objects, settings.session);
    return measured.ok() ? remove_shards(*objects) : fail(measured);
  }
  const double million = 1e6;
  const double before = anonymous_bytes();
  std::vector<synthetic_entries> written;
  std::vector<store::shard> shards;
  double seconds = 0;
  for (const std::uint64_t size : shard_sizes(settings)) {
    written.push_back({written.size() + 1, size});
    const stopwatch watch;
    const auto id = write_shard(*objects, written.back());
    if (!id) return fail(id.error());
    seconds += watch.seconds();
    auto object = objects->open({object_kind::shard, *id});
    if (!object) return fail(object.error());
    auto next_shard = store::shard::open(std::move(*object), *id);
    if (!next_shard) return fail(next_shard.error());
    shards.push_back(std::move(*next_shard));
  }
  const auto entries = static_cast<double>(settings.entries);
  fmt::print("written: {:.2f} million entries a second\n", entries / seconds / million);
  const auto old_rate = look_up_old(shards.front(), written.front(), settings.lookups);
  if (!old_rate) return fail(old_rate.error());
  fmt::print("old, in the largest shard, at random: {:.2f} million a second\n", *old_rate / million);

  const store::seal_key key;
  store::table_cache tables(*objects, key, store::table_cache::usual_bytes);
  auto index = store::shard_index::open(*objects, key.kind(), tables);
  if (!index) return fail(index.error());
  const auto new_rate = look_up_new(*index, settings.lookups);
  if (!new_rate) return fail(new_rate.error());
  fmt::print("new, in {} shards: {:.2f} million a second\n", shards.size(), *new_rate / million);
  const double grown = anonymous_bytes() - before;
  fmt::print("anonymous memory: {:.2f} MB for {:.0f} million entries, {:.3f} MB a million\n", grown / million,
             entries / million, grown / entries);
  if (shards.size() > 1) {
    std::vector<const store::shard*> inputs;
    for (const store::shard& each : shards) inputs.push_back(&each);
    const stopwatch watch;
    const auto merged =
        store::merge_shards(*objects, key.kind(), inputs, [](const store::container_name&) { return true; });
    if (!merged) return fail(merged.error());
    fmt::print("merged: {:.2f} million entries a second; anonymous memory then {:.2f} MB\n",
               entries / watch.seconds() / million, (anonymous_bytes() - before) / million);
  }
  return remove_shards(*objects);
}

}  // namespace

}  // namespace cutpoint::bench

int main(int argc, char** argv) {
  cutpoint::bench::options settings;
  CLI::App app("Measures a store's index with synthetic entries. Removes all shards in the folder at the end.");
  app.add_option("FOLDER", settings.folder, "A folder for nothing else")->required()->check(CLI::ExistingDirectory);
  app.add_option("--entries", settings.entries, "Entries of all shards together")
      ->check(CLI::Range(1'000, 1'000'000'000));
  app.add_option("--shards", settings.shards, "Shards, each with half the entries of the one before")
      ->check(CLI::Range(1, 30));
  app.add_option("--lookups", settings.lookups, "Lookups of each kind")->check(CLI::Range(1'000, 1'000'000'000));
  app.add_option("--session", settings.session, "Only store so many new chunks in a session, without their containers")
      ->check(CLI::Range(1'000, 1'000'000'000));
  CLI11_PARSE(app, argc, argv);
  return cutpoint::bench::measure(settings);
}
