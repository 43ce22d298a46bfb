#include "tests/store/support/file_store.h"

#include <fstream>
#include <map>

#include <cutpoint/tree_entry.h>
#include <cutpoint/walk.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "store/session/deduplicator.h"
#include "tests/store/support/made_store.h"

namespace cutpoint::tests {

namespace {

/// Returns a digest of a file's bytes, and the ranges that are no holes.
std::string content_facts(const std::string& path, std::uint64_t size) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return "cannot be opened";
  std::string segments;
  std::vector<std::uint8_t> bytes;
  for (off_t at = 0; static_cast<std::uint64_t>(at) < size;) {
    const off_t data = ::lseek(file, at, SEEK_DATA);
    if (data < 0) break;
    const off_t end = ::lseek(file, data, SEEK_HOLE);
    if (size > MiB) segments += fmt::format(" {}-{}", data, end);
    const std::size_t begin = bytes.size();
    bytes.resize(begin + static_cast<std::size_t>(end - data));
    const ssize_t count = ::pread(file, bytes.data() + begin, static_cast<std::size_t>(end - data), data);
    if (count != end - data) segments += " short";
    at = end;
  }
  ::close(file);
  if (size <= MiB) {  // small files are not searched for holes
    std::ifstream whole(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(whole), {});
  }
  return to_hex(digest_of(bytes)) + segments;
}

}  // namespace

tree_facts facts_of(const std::string& folder) {
  tree_facts facts;
  std::map<std::uint64_t, std::string> first_names;  // by inode
  const walk_callbacks callbacks = {
      .entry =
          [&](const tree_entry& entry) {
            const std::string name = entry.is_given ? "" : entry.path.substr(folder.size() + 1);
            if (entry.is_given) return status();  // the target is not the source's folder
            std::string text = fmt::format("{} {:o} {}:{} {}.{:09} {} {} {}", to_string(entry.kind), entry.permissions,
                                           entry.user_id, entry.group_id, entry.modified.tv_sec, entry.modified.tv_nsec,
                                           entry.device_number, entry.target, entry.link_count);
            const auto attributes = read_extended_attributes(entry);
            for (const extended_attribute& each : *attributes) {
              text += fmt::format(
                  " {}={}", each.name,
                  to_hex(digest_of({reinterpret_cast<const std::uint8_t*>(each.value.data()), each.value.size()})));
            }
            if (entry.kind == file_kind::regular_file) {
              text += fmt::format(" {} {}", entry.size, content_facts(entry.path, entry.size));
            }
            const bool has_links = entry.kind != file_kind::directory && entry.link_count > 1;
            const std::string first = has_links ? first_names.try_emplace(entry.inode, name).first->second : name;
            if (first != name) text += " = " + first;
            facts[name] = text;
            return status();
          },
      .problem =
          [&](const std::string& path, const status& why) {
            facts[path] = why.message();
            return status();
          },
  };
  EXPECT_TRUE(walk(folder, {}, callbacks).ok());
  return facts;
}

std::shared_ptr<volatile_file_system> make_file_store(const std::optional<store::key_secret>& secret) {
  return secret ? made_store(secret).files : made_store(small_config()).files;
}

namespace {

std::string next_writer_id() {
  static int last = 0;
  return "f" + std::to_string(++last);
}

}  // namespace

file_store::file_store(std::shared_ptr<volatile_file_system> files, store::seal_key key, fingerprint_recipe fingerprint)
    : file_store(store::open_directory_storage(std::move(files), {.writer_id = next_writer_id(), .pending_objects = 0}),
                 key, fingerprint) {}

file_store::file_store(std::unique_ptr<store::storage> objects, store::seal_key key, fingerprint_recipe fingerprint)
    : key_(key), fingerprint_(fingerprint), objects_(std::move(objects)) {}

feed_options file_store::feed() {
  return {.cuts = *parse_canonical("gear(min_bytes=512,avg_bytes=2048,max_bytes=8192,table=fastcdc2020)"),
          .memory_bytes = 32 * MiB};
}

result<file_store::done_backup> file_store::backup(const store_backup_options& options, const std::string& parent) {
  std::optional<store::parent_snapshot> snapshot;
  if (!parent.empty()) {
    const auto before = read(parent);
    if (!before) return before.error();
    snapshot.emplace(store::parent_snapshot{.root = before->root});
  }
  store::store_config config = small_config();
  config.container_bytes = static_cast<std::uint32_t>(container_bytes);
  config.fingerprint = fingerprint_.kind;
  feed_options cuts = feed();
  cuts.fingerprint = fingerprint_;
  auto threads = engine::make({.threads = 2});
  const auto log = store::read_log(*objects_, key_);
  if (!log) return log.error();
  store::table_cache tables(*objects_, key_, 8 * MiB, log->unusable());
  store::own_containers own;
  const auto writer =
      store::store_writer::open(config, *objects_, key_, tables, own, *store::record_fingerprinter::make(fingerprint_));
  if (!writer) return writer.error();
  store::deduplicator& session = (*writer)->records;
  if (most_old_containers != 0) session.cap_containers(most_old_containers, *objects_, key_);
  done_backup done;
  const auto stored = with_reading([&](const store::store_reading& reading) {
    return store::backup_files(*threads, session, reading, options, cuts, snapshot);
  });
  if (!stored) return stored.error();
  done.summary = *stored;
  if (status finished = (*writer)->finish(done.facts.statistics); !finished.ok()) return finished;
  done.facts.root = stored->root;
  done.facts.paths = stored->paths;
  done.facts.is_incomplete = stored->totals.problems != 0;
  done.facts.entry = log->newest + 1;
  auto id = store::put_snapshot(*objects_, done.facts, key_);
  if (!id) return id.error();
  if (status synced = objects_->sync(); !synced.ok()) return synced;
  if (status committed = commit_by_hand(*objects_, key_, *id); !committed.ok()) return committed;
  done.id = *id;
  return done;
}

result<store::snapshot> file_store::read(const std::string& id) {
  return store::read_snapshot(*objects_, id, 32, key_);
}

result<store_restore_summary> file_store::restore(const std::string& id, const store_restore_options& options) {
  const auto facts = read(id);
  if (!facts) return facts.error();
  return with_reading([&](const store::store_reading& reading) {
    return store::restore_files(reading, {.root = facts->root, .complete_paths = facts->paths}, options);
  });
}

store_restore_summary file_store::expect_comes_back(const std::string& id, const std::string& folder,
                                                    std::uint64_t threads) {
  const temporary_folder target;
  problem_map problems;
  auto restored =
      value_of(restore(id, {.path = folder, .target = target / "t", .threads = threads, .problem = note_in(problems)}));
  EXPECT_EQ(problems, problem_map());
  EXPECT_EQ(facts_of(target / "t"), facts_of(folder));
  return restored;
}

}  // namespace cutpoint::tests
