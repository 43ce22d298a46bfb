// Restores streams, and verifies a store.
#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

#include "chunk_files.h"
#include "recipe.h"
#include "store.h"
#include "store_folder.h"
#include "stream_output.h"

namespace store {

using cutpoint::status_code;
using cutpoint::system_failure;

namespace {

status stopped() { return {status_code::cancelled, "interrupted"}; }

/// Returns the names in a folder, sorted.
result<std::vector<std::string>> names_in(const std::string& folder) {
  std::error_code failure;
  std::vector<std::string> names;
  std::filesystem::directory_iterator entry(folder, failure);
  for (; !failure && entry != std::filesystem::directory_iterator(); entry.increment(failure)) {
    names.push_back(entry->path().filename().native());
  }
  if (failure) return system_failure(folder, "read", failure.value());
  std::sort(names.begin(), names.end());
  return names;
}

/// Checks all files of a store and reports problems.
class verifier {
 public:
  verifier(const std::string& store, const cutpoint::cancellation& stop,
           const std::function<void(const std::string&)>& tell, cutpoint::fingerprinter hasher)
      : store_(store), stop_(stop), tell_(tell), hasher_(std::move(hasher)) {}

  /// Checks that each chunk has the digest that its name says.
  status check_chunks() {
    const auto folders = names_in(chunks_folder(store_));
    if (!folders) return folders.error();
    for (const std::string& folder : *folders) {
      const auto names = names_in(chunks_folder(store_) + "/" + folder);
      if (!names) return names.error();
      for (const std::string& name : *names) {
        if (stop_.is_requested()) return stopped();
        check_chunk(chunks_folder(store_) + "/" + folder + "/" + name, name);
      }
    }
    return {};
  }

  /// Checks that each recipe is whole and that its chunks exist.
  status check_streams() {
    const auto names = names_in(recipes_folder(store_));
    if (!names) return names.error();
    for (const std::string& name : *names) {
      ++summary_.streams;
      if (status checked = check_stream(name); !checked.ok()) {
        if (checked.code() == status_code::cancelled) return checked;
        report(checked.message());
      }
    }
    return {};
  }

  [[nodiscard]] const verify_summary& summary() const { return summary_; }

 private:
  void report(const std::string& problem) {
    ++summary_.problems;
    tell_(problem);
  }

  void check_chunk(const std::string& path, const std::string& name) {
    ++summary_.chunks;
    std::error_code failure;
    const auto length = std::filesystem::file_size(path, failure);
    const status found = failure ? system_failure(path, "read", failure.value())
                         : path == chunk_path(store_, name)
                             ? as_status(read_chunk(store_, name, length, hasher_))
                             : status(status_code::invalid_argument, path + ": is in the wrong folder");
    if (found.ok()) return;
    damaged_.insert(name);
    report(found.message());
  }

  status check_stream(const std::string& name) {
    const std::string path = recipes_folder(store_) + "/" + name;
    if (status whole = check_recipe(path); !whole.ok()) return whole;
    auto recipe = recipe_reader::open(path);
    if (!recipe) return recipe.error();
    for (std::uint64_t offset = 0;;) {
      if (stop_.is_requested()) return stopped();
      const auto line = recipe->next();
      if (!line) return line.error();
      if (!*line) return {};
      const recipe_line& chunk = **line;
      std::error_code failure;
      const auto length = std::filesystem::file_size(chunk_path(store_, chunk.digest), failure);
      const bool is_damaged = damaged_.contains(chunk.digest) || (!failure && length != chunk.length);
      if (failure || is_damaged) {
        report("stream '" + name + "': chunk " + chunk.digest + " at " + std::to_string(offset) +
               (is_damaged ? " is damaged" : " is missing"));
      }
      offset += chunk.length * chunk.count;
    }
  }

  template <class T>
  static status as_status(const result<T>& outcome) {
    return outcome ? status() : outcome.error();
  }

  const std::string& store_;
  const cutpoint::cancellation& stop_;
  const std::function<void(const std::string&)>& tell_;
  cutpoint::fingerprinter hasher_;
  std::set<std::string> damaged_;
  verify_summary summary_;
};

}  // namespace

status get(const std::string& store, const std::string& name, int output, const cutpoint::cancellation& stop) {
  if (const auto cuts = read_cuts(store); !cuts) return cuts.error();
  const auto path = recipe_path(store, name);
  if (!path) return path.error();
  if (status whole = check_recipe(*path); !whole.ok()) return whole;
  auto recipe = recipe_reader::open(*path);
  if (!recipe) return recipe.error();
  auto hasher = cutpoint::fingerprinter::make(hash);
  if (!hasher) return hasher.error();

  stream_output stream(output, "standard output");
  for (std::uint64_t offset = 0;;) {
    const auto line = recipe->next();
    if (!line) return line.error();
    if (!*line) return stream.finish();
    const auto bytes = read_chunk(store, (*line)->digest, (*line)->length, *hasher);
    if (!bytes) {
      return {bytes.error().code(),
              "stream '" + name + "' ends at " + std::to_string(offset) + ": " + bytes.error().message()};
    }
    for (std::uint64_t i = 0; i < (*line)->count; ++i) {
      if (stop.is_requested()) return stopped();
      if (status written = stream.write(*bytes); !written.ok()) return written;
      offset += bytes->size();
    }
  }
}

result<verify_summary> verify(const std::string& store, const cutpoint::cancellation& stop,
                              const std::function<void(const std::string&)>& tell) {
  if (const auto cuts = read_cuts(store); !cuts) return cuts.error();
  auto hasher = cutpoint::fingerprinter::make(hash);
  if (!hasher) return hasher.error();
  verifier all(store, stop, tell, *std::move(hasher));
  if (status checked = all.check_chunks(); !checked.ok()) return checked;
  if (status checked = all.check_streams(); !checked.ok()) return checked;
  return all.summary();
}

}  // namespace store
