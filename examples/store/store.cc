// Keeps standard input in a store under a name, lists the names, and writes a stream out again. It is an appliance for
// dumps of databases and the like: each chunk is stored once, compressed.
#include <cstdio>
#include <cstring>
#include <string>

#include <cutpoint/store.h>

namespace {

int failed(const cutpoint::status& why) {
  std::fprintf(stderr, "%s\n", why.message().c_str());
  return 1;
}

int put(cutpoint::backup_store& store, const std::string& name) {
  auto engine = cutpoint::engine::make({});
  if (!engine) return failed(engine.error());
  const auto snapshot =
      store.back_up(*engine, {.paths = {"-"}, .standard_input_name = name, .host = {}, .reads_everything = true});
  if (!snapshot) return failed(snapshot.error());
  std::printf("%llu bytes, %llu new, %llu stored\n", static_cast<unsigned long long>(snapshot->bytes),
              static_cast<unsigned long long>(snapshot->new_raw_bytes),
              static_cast<unsigned long long>(snapshot->new_stored_bytes));
  return 0;
}

int list(cutpoint::backup_store& store) {
  const auto all = store.snapshots();
  if (!all) return failed(all.error());
  for (const auto& each : *all) {
    std::printf("%s %llu %s\n", each.id.c_str(), static_cast<unsigned long long>(each.bytes),
                each.paths.front().c_str() + 1);
  }
  return 0;
}

/// Writes the stream of a snapshot. A chunk is written only if it has its digest, so damage is never passed on.
int get(cutpoint::backup_store& store, const std::string& id) {
  const auto snapshot = store.find_snapshot(id);
  if (!snapshot) return failed(snapshot.error());
  const auto written =
      store.read_file(snapshot->id, snapshot->paths.front(), 0, snapshot->bytes, [](cutpoint::byte_span bytes) {
        if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size()) return cutpoint::status();
        return cutpoint::status(cutpoint::status_code::io_error, "standard output cannot be written");
      });
  return written.ok() && std::fflush(stdout) == 0 ? 0 : failed(written);
}

}  // namespace

int main(int count, char** words) {
  const std::string command = count > 2 ? words[1] : "";
  if ((command != "list" || count != 3) && ((command != "put" && command != "get") || count != 4)) {
    std::fputs("usage: store put FOLDER NAME < STREAM | store list FOLDER | store get FOLDER ID > STREAM\n", stderr);
    return 2;
  }
  auto store = cutpoint::backup_store::open(words[2]);
  if (!store && command == "put") {
    if (const auto created = cutpoint::backup_store::create(words[2], {}); !created.ok()) return failed(created);
    store = cutpoint::backup_store::open(words[2]);
  }
  if (!store) return failed(store.error());
  if (command == "list") return list(*store);
  return command == "put" ? put(*store, words[3]) : get(*store, words[3]);
}
