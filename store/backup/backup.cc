#include "store/backup/backup.h"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <filesystem>
#include <map>
#include <system_error>

#include <cutpoint/inputs.h>
#include <fmt/format.h>
#include <unistd.h>

#include "store/backup/change_time.h"
#include "store/backup/content_feed.h"
#include "store/backup/parent_tree.h"
#include "store/backup/tree_builder.h"

namespace cutpoint::store {

namespace {

constexpr std::size_t most_waiting_entries = std::size_t{1} << 16;
/// Attributes that surely fit into a node with everything else of an entry.
constexpr std::size_t most_attribute_bytes = 256 * KiB;

class backup {
 public:
  backup(engine& threads, write_session& session, const backup_options& options, const feed_options& feed,
         file_reader reader, parent_tree parent)
      : options_(options),
        reader_(std::move(reader)),
        parent_(std::move(parent)),
        contents_(threads, feed, session),
        tree_(session, [this](const std::string& path, const status& why) { report(path, why); }) {}

  result<backup_summary> run(const std::vector<std::string>& paths);

 private:
  /// A file that the reader has been given.
  struct file_to_read {
    std::string path;
    std::shared_ptr<pending_entry> entry;
  };

  void report(const std::string& path, const status& why) {
    ++summary_.problems;
    if (options_.problem) options_.problem(path, why);
  }
  /// Its content must be read after this call.
  folder_entry entry_of(const tree_entry& walked);
  status store_path(const std::string& path);
  status store_standard_input(const std::string& path);
  status enter_folders_above(const std::string& path);
  void leave_folders(const std::string& path);
  void enter(const tree_entry& walked);
  status add(const tree_entry& walked);
  status add_file(const tree_entry& walked, const folder_entry* stored);
  void add_attributes(folder_entry& entry, const tree_entry& walked, const folder_entry* stored);
  status read_next();
  status read(const file_to_read& file, file_stream& stream);
  status read_rest();
  status write_complete();

  const backup_options& options_;
  file_reader reader_;
  parent_tree parent_;
  content_feed contents_;
  tree_builder tree_;
  change_times change_times_;
  backup_summary summary_;
  std::uint64_t found_paths_ = 0;  ///< of those that were given
  status first_failure_;           ///< of a path that was given
  std::deque<file_to_read> unread_;
  std::string folder_ = "/";                     ///< path of the present folder, with a slash at its end
  std::vector<std::size_t> folder_bytes_ = {1};  ///< lengths of the paths of this folder and those above
  /// First names of files with several, by device and inode.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::shared_ptr<const pending_entry>> first_names_;
};

folder_entry backup::entry_of(const tree_entry& walked) {
  folder_entry entry{walked, walked.path.substr(walked.path.rfind('/') + 1)};
  entry.changed = change_times_.trusted(walked);
  return entry;
}

result<backup_summary> backup::run(const std::vector<std::string>& paths) {
  for (const std::string& each : paths) {
    const bool is_input = each == "/" + options_.standard_input_name && std::ranges::count(options_.paths, "-") != 0;
    if (status stored = is_input ? store_standard_input(each) : store_path(each); !stored.ok()) return stored;
  }
  if (status read = read_rest(); !read.ok()) return read;
  if (found_paths_ == 0) return first_failure_;
  leave_folders("/");
  const auto root = tree_.finish();
  if (!root) return root.error();
  summary_.root = *root;
  summary_.paths = paths;
  return summary_;
}

status backup::store_path(const std::string& path) {
  const auto root_entry = describe_file(path, symlinks::skip);
  if (!root_entry) {
    if (first_failure_.ok()) first_failure_ = root_entry.error();
    report(path, root_entry.error());
    return {};
  }
  ++found_paths_;
  if (status entered = enter_folders_above(path); !entered.ok()) return entered;
  if (root_entry->kind != file_kind::directory) return add(*root_entry);
  const walk_callbacks callbacks = {
      .entry = [this](const tree_entry& each) { return add(each); },
      .problem =
          [this](const std::string& failed, const status& why) {
            report(failed, why);
            return status();
          },
  };
  walk_options walking = options_.walking;
  walking.links = symlinks::skip;
  return walk(path, walking, callbacks, options_.cancel);
}

status backup::store_standard_input(const std::string& path) {
  if (status read = read_rest(); !read.ok()) return read;  // the reader's files come first
  leave_folders(path);
  tree_entry described;
  described.path = path;
  described.permissions = 0600;
  described.user_id = ::geteuid();
  described.group_id = ::getegid();
  ::clock_gettime(CLOCK_REALTIME, &described.modified);
  const file_to_read file = {path, std::make_shared<pending_entry>(entry_of(described))};
  tree_.add(file.entry, path);
  ++summary_.files;
  ++found_paths_;
  file_source input = file_source::standard_input(options_.cancel);
  return read(file, input);
}

/// Enters the folders that lead to a path that was given. They may be symbolic links, whose targets are stored as folders.
status backup::enter_folders_above(const std::string& path) {
  leave_folders(path);
  for (std::size_t slash = path.find('/', folder_.size()); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const auto folder = describe_file(path.substr(0, slash), symlinks::follow);
    if (!folder) return folder.error();
    enter(*folder);
  }
  return {};
}

/// Leaves folders until the present one has the path.
void backup::leave_folders(const std::string& path) {
  while (folder_.size() > 1 && (path.size() <= folder_.size() || !path.starts_with(folder_))) {
    tree_.leave();
    parent_.leave();
    folder_bytes_.pop_back();
    folder_.resize(folder_bytes_.back());
  }
}

void backup::enter(const tree_entry& walked) {
  folder_entry entry = entry_of(walked);
  const folder_entry* const stored = parent_.find(entry.name);
  add_attributes(entry, walked, stored);
  parent_.enter(stored);
  tree_.enter(std::move(entry));
  folder_ = walked.path + "/";
  folder_bytes_.push_back(folder_.size());
  ++summary_.folders;
}

status backup::add(const tree_entry& walked) {
  if (walked.path == "/") return {};  // the root has no entry
  leave_folders(walked.path);
  if (walked.kind == file_kind::directory) {
    enter(walked);
  } else if (status added = add_file(walked, parent_.find(walked.path.substr(folder_.size()))); !added.ok()) {
    return added;
  }
  return write_complete();
}

status backup::add_file(const tree_entry& walked, const folder_entry* stored) {
  auto entry = std::make_shared<pending_entry>(entry_of(walked));
  ++summary_.files;
  tree_.add(entry, walked.path);
  const bool is_content_of_device = walked.is_given && walked.kind == file_kind::block_device;
  if (walked.link_count > 1) {
    const auto [first, is_first] = first_names_.try_emplace(std::pair(walked.device, walked.inode), entry);
    if (!is_first && first->second->entry.kind == walked.kind) entry->first_name = first->second;
  }
  add_attributes(entry->entry, walked, stored);
  // Files of the kernel, as in /proc, have content beyond their size of 0; they are read if they are named.
  const bool is_content_of_file = walked.kind == file_kind::regular_file && (walked.size != 0 || walked.is_given);
  const bool has_content = is_content_of_file || is_content_of_device;
  if (walked.kind == file_kind::regular_file) summary_.bytes += walked.size;
  if (!has_content || entry->first_name) return entry->complete();
  if (stored != nullptr && !is_content_of_device && parent_.is_stored(*stored, walked)) {
    entry->entry.extents = stored->extents;
    entry->entry.node = stored->node;
    ++summary_.unchanged_files;
    return entry->complete();
  }
  if (is_content_of_device) {
    entry->entry.kind = file_kind::regular_file;
    entry->entry.device_number = 0;
  }
  reader_.add(walked.path);
  unread_.push_back({walked.path, std::move(entry)});
  status outcome;
  while (outcome.ok() && reader_.is_full()) outcome = read_next();
  return outcome;
}

void backup::add_attributes(folder_entry& entry, const tree_entry& walked, const folder_entry* stored) {
  if (stored != nullptr && is_unchanged(*stored, walked)) {
    entry.attributes = stored->attributes;
    return;
  }
  auto attributes = read_extended_attributes(walked);
  if (!attributes) {
    report(walked.path, attributes.error());
    return;
  }
  std::size_t bytes = 0;
  for (const extended_attribute& each : *attributes) bytes += each.name.size() + each.value.size();
  if (bytes > most_attribute_bytes) {
    const std::string message = fmt::format("{}: its extended attributes have {} bytes and are left out: {} fit",
                                            walked.path, bytes, most_attribute_bytes);
    report(walked.path, {status_code::io_error, message, E2BIG});
    return;
  }
  entry.attributes = std::move(*attributes);
}

status backup::read_next() {
  const file_to_read file = std::move(unread_.front());
  unread_.pop_front();
  if (options_.cancel != nullptr && options_.cancel->is_requested()) return stopped_as_asked();
  const auto stream = reader_.next();
  if (stream) return read(file, **stream);
  if (stream.error().code() == status_code::cancelled) return stream.error();
  report(file.path, stream.error());
  file.entry->is_left_out = true;
  return file.entry->complete();
}

status backup::read(const file_to_read& file, file_stream& stream) {
  status failure;
  const std::uint64_t expected_bytes = file.entry->entry.size;
  if (status stored = contents_.store_file(file.entry, stream, failure); !stored.ok()) return stored;
  summary_.bytes += file.entry->entry.size - expected_bytes;  // all of standard input and of devices
  if (failure.code() == status_code::cancelled) return failure;
  if (!failure.ok()) report(file.path, failure);
  return {};
}

status backup::read_rest() {
  while (!unread_.empty()) {
    if (status read = read_next(); !read.ok()) return read;
  }
  if (status finished = contents_.finish(); !finished.ok()) return finished;
  return tree_.write_complete();
}

status backup::write_complete() {
  if (tree_.waiting() > most_waiting_entries) return read_rest();
  return tree_.write_complete();
}

}  // namespace

result<std::vector<std::string>> stored_paths(const backup_options& options) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& each : options.paths) {
    std::error_code error;
    const auto absolute = each == "-" ? std::filesystem::path("/" + options.standard_input_name)
                                      : std::filesystem::absolute(each, error).lexically_normal();
    if (error || each.empty()) return system_failure(each, "made an absolute path", error ? error.value() : ENOENT);
    paths.push_back(absolute.has_filename() ? absolute : absolute.parent_path());
  }
  std::ranges::sort(paths, [](const auto& a, const auto& b) {
    return std::ranges::lexicographical_compare(
        a, b, [](const auto& left, const auto& right) { return left.native() < right.native(); });
  });
  std::vector<std::string> outermost;
  for (const auto& each : paths) {
    const std::string& path = each.native();
    const bool is_below = !outermost.empty() && (outermost.back() == "/" || path == outermost.back() ||
                                                 path.starts_with(outermost.back() + "/"));
    if (!is_below) outermost.push_back(path);
  }
  return outermost;
}

result<backup_summary> backup_files(engine& threads, write_session& session, const store_reading& parent,
                                    const backup_options& options) {
  if (options.paths.empty()) return status(status_code::invalid_argument, "no paths are given to back up");
  if (!is_entry_name(options.standard_input_name)) {
    return status(status_code::invalid_argument, "the name of standard input is not that of a file");
  }
  const auto paths = stored_paths(options);
  if (!paths) return paths.error();
  feed_options feed = options.feed;
  auto reader = make_input_reader(feed, options.access, options.cancel);
  if (!reader) return reader.error();
  auto tree = parent_tree::make(parent, options.parent);
  if (!tree) return tree.error();
  return backup(threads, session, options, feed, std::move(*reader), std::move(*tree)).run(*paths);
}

}  // namespace cutpoint::store
