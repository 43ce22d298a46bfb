#include "store_folder.h"

#include <cerrno>
#include <filesystem>
#include <fstream>

#include <cutpoint/catalog.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace store {

using cutpoint::status_code;

namespace {

/// The cuts of new stores. Each store records its cuts, so that this default may change.
constexpr std::string_view usual_cuts = "fastcdc(avg_bytes=64K)";
constexpr std::string_view first_line = "cutpoint-store 1";
constexpr std::string_view cuts_word = "cuts ";

std::string mark_path(const std::string& store) { return store + "/store"; }

bool is_there(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

bool is_empty(const std::string& folder) {
  std::error_code failure;
  return std::filesystem::directory_iterator(folder, failure) == std::filesystem::directory_iterator();
}

status make_folders(const std::string& store) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (const std::string& folder : {incoming_folder(store), recipes_folder(store), chunks_folder(store)}) {
    if (status made = make_folder(folder); !made.ok()) return made;
  }
  for (const char first : digits) {
    for (const char second : digits) {
      if (status made = make_folder(chunks_folder(store) + "/" + first + second); !made.ok()) return made;
    }
  }
  return flush_folder(chunks_folder(store));
}

/// Writes the file that marks the folder as a store last.
status make_store(const std::string& store) {
  const auto cuts = cutpoint::parse_canonical(usual_cuts);
  if (!cuts) return cuts.error();
  if (status made = make_folders(store); !made.ok()) return made;
  const std::string path = incoming_folder(store) + "/store";
  auto file = create_file(path);
  if (!file) return file.error();
  const std::string text = std::string(first_line) + "\n" + std::string(cuts_word) + cuts->canonical() + "\n";
  if (status written = write_all(file->number(), text, path); !written.ok()) return written;
  if (status flushed = flush_file(*file, path); !flushed.ok()) return flushed;
  if (status named = rename_file(path, mark_path(store)); !named.ok()) return named;
  return flush_folder(store);
}

}  // namespace

std::string recipes_folder(const std::string& store) { return store + "/recipes"; }
std::string chunks_folder(const std::string& store) { return store + "/chunks"; }
std::string incoming_folder(const std::string& store) { return store + "/incoming"; }

result<descriptor> lock_store(const std::string& store) {
  if (status made = make_folder(store); !made.ok()) return made;
  auto folder = open_file(store, O_RDONLY | O_DIRECTORY);
  if (!folder) return folder;
  if (::flock(folder->number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return cutpoint::system_failure(store, "locked", errno);
    return status(status_code::unavailable, store + ": another put is under way");
  }
  const bool is_begun = is_there(incoming_folder(store));  // this folder is made first
  if (!is_begun && !is_empty(store)) {
    return status(status_code::invalid_argument, store + ": is not empty, and no store");
  }
  status ready = is_begun ? remove_files_in(incoming_folder(store)) : status();
  if (ready.ok() && !is_there(mark_path(store))) ready = make_store(store);
  if (!ready.ok()) return ready;
  return folder;
}

result<cutpoint::chunker> read_cuts(const std::string& store) {
  const status none(status_code::invalid_argument, store + ": is no store");
  std::ifstream file(mark_path(store));
  std::string first;
  std::string second;
  if (!std::getline(file, first) || first != first_line) return none;
  if (!std::getline(file, second) || !second.starts_with(cuts_word)) return none;
  return cutpoint::parse_canonical(std::string_view(second).substr(cuts_word.size()));
}

result<std::string> recipe_path(const std::string& store, const std::string& name) {
  constexpr std::size_t longest = 255;
  if (name.empty() || name.size() > longest || name.front() == '.' || name.find('/') != std::string::npos) {
    return status(status_code::invalid_argument,
                  "'" + name + "': is no name for a stream: 1 to 255 bytes, no '/', no '.' in front");
  }
  return recipes_folder(store) + "/" + name;
}

}  // namespace store
