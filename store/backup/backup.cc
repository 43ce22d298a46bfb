#include "store/backup/backup.h"

#include <algorithm>
#include <cerrno>

#include <cutpoint/inputs.h>
#include <fmt/format.h>
#include <unistd.h>

#include "pipeline/inputs/file_feeder.h"
#include "store/backup/content_feed.h"
#include "store/backup/file_description.h"
#include "store/backup/tree_builder.h"

namespace cutpoint::store {

namespace {

constexpr std::size_t most_entries_waiting = std::size_t{1} << 16;
/// Longer paths are left out: who reads the tree does not follow them (`longest_stored_path`). The rest is for the path of a
/// restore's target.
constexpr std::size_t longest_walked_path = longest_stored_path - 4 * KiB;
/// How often a file is opened that others replace all the time.
constexpr int most_attempts = 8;

class backup {
 public:
  backup(engine& threads, const feed_options& feed, deduplicator& records, const store_backup_options& options,
         const std::optional<parent_snapshot>& before, file_reader reader, parent_tree parent,
         std::vector<named_path> named)
      : options_(options),
        has_whole_parent_(before && !before->is_incomplete),
        named_(std::move(named)),
        exclude_(options.walking.exclude),
        reader_(std::move(reader)),
        parent_(std::move(parent)),
        description_(parent_, before && before->is_incomplete, options,
                     [this](const std::string& path, const status& why) { report(path, why); }),
        throttle_(options.most_bytes_per_second, options.cancel),
        contents_(threads, feed, records),
        tree_(records, [this](const std::string& path, const status& why) { report(path, why); }) {
    if (before) summary_.totals.parent_files = before->files;
    if (before) summary_.totals.parent_bytes = before->bytes;
    contents_.hold_back(throttle_);
    contents_.watch([this](std::uint64_t bytes) {
      summary_.totals.bytes += bytes;
      summary_.totals.read_bytes += bytes;
      report_progress(reading_path_);
    });
  }

  result<backup_summary> run();

 private:
  void report(const std::string& path, const status& why) {
    ++summary_.totals.problems;
    if (first_failure_.ok()) first_failure_ = why;
    if (options_.problem) options_.problem(path, why);
  }
  void report_long_path(const std::string& path) {
    const std::string start = path.substr(0, 64) + "...";
    report(start, {status_code::io_error, fmt::format("{}: is left out, as its path has {} bytes: {} are possible",
                                                      start, path.size(), longest_walked_path)});
  }
  void warn(const std::string& path, std::string_view why) const {
    if (options_.warning) options_.warning(path, {status_code::io_error, fmt::format("{}: {}", path, why)});
  }
  status store_path(const named_path& named);
  status store_passed_over(const tree_entry& walked);
  status store_tree(const std::string& path, const tree_entry& root_entry);
  status store_standard_input(const std::string& path);
  status enter_folders_above(const std::string& path);
  void leave_folders(const std::string& path);
  void enter(const tree_entry& walked, bool is_above = false);
  void report_progress(const std::string& path);
  status add(const tree_entry& walked);
  status add_file(tree_entry walked, const folder_entry* stored);
  status read(const std::string& path, const std::shared_ptr<pending_entry>& entry, file_stream& stream);
  status read_rest();
  status write_complete();

  const store_backup_options& options_;
  bool has_whole_parent_;  ///< whether there is a parent, with all that its backup was to store
  std::vector<named_path> named_;
  pattern_list exclude_;             ///< what has matched in all walks
  std::size_t next_named_ = 0;       ///< index of the first one that has not been stored
  std::string outermost_;            ///< the named path that has the present one
  std::uint64_t walked_device_ = 0;  ///< of the path that the present walk was given
  file_reader reader_;
  file_feeder files_{&reader_, options_.cancel};
  parent_tree parent_;
  file_description description_;
  throttle throttle_;
  content_feed contents_;
  tree_builder tree_;
  backup_summary summary_;
  std::string reading_path_;
  bool has_whole_folder_ = false;  ///< whether a named path is a folder without files, of which everything was read
  status first_failure_;
  std::string folder_ = "/";                     ///< path of the present folder, with a slash at its end
  std::vector<std::size_t> folder_bytes_ = {1};  ///< lengths of the paths of this folder and those above
};

result<backup_summary> backup::run() {
  while (next_named_ < named_.size()) {
    const named_path& next = named_[next_named_++];
    if (outermost_.empty() || !is_below(next.path, outermost_)) outermost_ = next.path;
    CUTPOINT_RETURN_IF_FAILED(store_path(next));
  }
  CUTPOINT_RETURN_IF_FAILED(read_rest());
  summary_.work.reading = files_.meter.record.work;
  contents_.add_work(summary_.work);
  const store_backup_counts& files = tree_.counts();
  const bool has_files = files.added + files.changed + files.unchanged != 0;
  if (!has_files && !has_whole_folder_ && !first_failure_.ok()) return first_failure_;
  exclude_.visit_unmatched([this](const path_pattern& pattern, const status& why) {
    if (options_.warning) options_.warning(pattern.text(), why);
  });
  leave_folders("/");
  CUTPOINT_TRY(summary_.root, tree_.finish());
  summary_.paths = outermost_paths(named_);
  report_progress({});
  const auto has_changes = [](const store_backup_counts& counts) { return counts.added + counts.changed != 0; };
  summary_.is_unchanged = has_whole_parent_ && !has_changes(summary_.totals.files) &&
                          !has_changes(summary_.totals.folders) && summary_.totals.problems == 0 &&
                          !parent_.has_removed_entries();
  return summary_;
}

void backup::report_progress(const std::string& path) {
  summary_.totals.files = tree_.counts();
  summary_.totals.path = path;
  if (options_.progress) options_.progress(summary_.totals);
}

status backup::store_path(const named_path& named) {
  if (named.is_standard_input) return store_standard_input(named.path);
  const auto root_entry = describe_file(named.path, named.is_folder ? symlinks::follow : symlinks::skip);
  const bool is_wrong_kind = root_entry && named.is_folder && root_entry->kind != file_kind::directory;
  if (!root_entry || is_wrong_kind) {
    const status why = is_wrong_kind ? system_failure(named.path, "read as a directory", ENOTDIR) : root_entry.error();
    report(named.path, why);
    return {};
  }
  if (options_.walking.exclude_files.contains(*root_entry)) {
    return {status_code::invalid_argument, named.path + ": is the store itself"};
  }
  if (root_entry->kind == file_kind::symbolic_link) {
    const auto target = describe_file(named.path, symlinks::follow);
    const bool leads_to_folder = target && target->kind == file_kind::directory;
    warn(named.path, leads_to_folder
                         ? "is stored as a symbolic link: with a slash at its end the folder that it leads to is stored"
                         : "is stored as a symbolic link, without what it leads to");
  }
  if (status entered = enter_folders_above(named.path); !entered.ok()) {
    report(named.path, entered);
    return {};
  }
  const std::uint64_t files = summary_.files;
  const std::uint64_t problems = summary_.totals.problems;
  status stored = store_tree(named.path, *root_entry);
  if (summary_.files == files && summary_.totals.problems == problems) has_whole_folder_ = true;
  return stored;
}

status backup::store_tree(const std::string& path, const tree_entry& root_entry) {
  const walk_callbacks callbacks = {
      .entry = [this](const tree_entry& each) { return add(each); },
      .problem =
          [this](const std::string& failed, const status& why) {
            report(failed, why);
            return status();
          },
      .left_out =
          [this](const std::string& left_out, omission why) {
            if (why == omission::file) warn(left_out, "is the store itself, and is left out");
          },
      .matched = [this](std::size_t pattern) { exclude_.set_matched(pattern); },
  };
  walk_options walking = options_.walking;
  walking.links = symlinks::skip;
  walking.given_link = root_entry.follows_link ? symlinks::follow : symlinks::skip;
  const std::uint64_t device_above = std::exchange(walked_device_, root_entry.device);
  status walked = walk(path, walking, callbacks, options_.cancel);
  walked_device_ = device_above;
  return walked;
}

/// Stores the named paths that the walk has left out before it came to an entry.
status backup::store_passed_over(const tree_entry& walked) {
  while (next_named_ < named_.size()) {
    const named_path& next = named_[next_named_];
    const bool is_input = next.is_standard_input && next.path == walked.path;
    if (!is_input && !is_before(next.path, walked.path)) break;
    ++next_named_;
    CUTPOINT_RETURN_IF_FAILED(store_path(next));
  }
  return {};
}

status backup::store_standard_input(const std::string& path) {
  CUTPOINT_RETURN_IF_FAILED(read_rest());  // the reader's files come first
  leave_folders(path);
  tree_entry described;
  described.path = path;
  described.permissions = 0600;
  described.user_id = ::geteuid();
  described.group_id = ::getegid();
  ::clock_gettime(CLOCK_REALTIME, &described.modified);
  const auto entry = std::make_shared<pending_entry>(description_.entry_of(described));
  const folder_entry* const before = parent_.find(entry->entry.name);
  if (before != nullptr) entry->parent_digest = change_digest(*before);
  tree_.add(entry, path);
  ++summary_.files;
  file_source input = file_source::standard_input(options_.cancel);
  CUTPOINT_RETURN_IF_FAILED(read(path, entry, input));
  if (!entry->is_left_out && entry->entry.size == 0) warn(path, "standard input is empty");
  return {};
}

/// Enters the folders that lead to a named path. They may be symbolic links, whose targets are stored as folders, but not
/// below another named path, where links are stored.
status backup::enter_folders_above(const std::string& path) {
  leave_folders(path);
  for (std::size_t slash = path.find('/', folder_.size()); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const symlinks links = slash <= outermost_.size() ? symlinks::follow : symlinks::skip;
    CUTPOINT_TRY(const auto folder, describe_file(path.substr(0, slash), links));
    if (folder.kind != file_kind::directory) return system_failure(folder.path, "read as a directory", ENOTDIR);
    enter(folder, true);
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

void backup::enter(const tree_entry& walked, bool is_above) {
  folder_entry entry = description_.entry_of(walked);
  const folder_entry* const stored = parent_.find(entry.name);
  if (status read = description_.add_attributes(entry, walked, stored, nullptr); !read.ok()) report(walked.path, read);
  if (!is_above) {
    store_backup_counts& counts = summary_.totals.folders;
    const bool is_same = stored != nullptr && change_digest(*stored) == change_digest(entry);
    ++(is_same ? counts.unchanged : stored != nullptr ? counts.changed : counts.added);
  }
  parent_.enter(stored);
  tree_.enter(std::move(entry));
  folder_ = walked.path + "/";
  folder_bytes_.push_back(folder_.size());
  ++summary_.folders;
}

status backup::add(const tree_entry& walked) {
  if (walked.path == "/") return {};  // the root has no entry
  CUTPOINT_RETURN_IF_FAILED(store_passed_over(walked));
  if (walked.path.size() > longest_walked_path) {
    if (walked.path.rfind('/') <= longest_walked_path)
      report_long_path(walked.path);  // not once more for what is below
    return {};
  }
  if (walked.is_given && folder_ == walked.path + "/") return {};  // entered by the walk that this one lies in
  leave_folders(walked.path);
  const bool is_named = next_named_ < named_.size() && named_[next_named_].path == walked.path;
  if (is_named) ++next_named_;
  report_progress(walked.path);
  if (walked.kind != file_kind::directory) {
    CUTPOINT_RETURN_IF_FAILED(add_file(walked, parent_.find(walked.path.substr(folder_.size()))));
    return write_complete();
  }
  enter(walked);
  if (is_named && options_.walking.one_file_system && walked.device != walked_device_) {
    CUTPOINT_RETURN_IF_FAILED(store_tree(walked.path, walked));
  }
  return write_complete();
}

status backup::add_file(tree_entry walked, const folder_entry* stored) {
  const auto describe = [&] { return description_.describe(walked, stored); };
  status fed;
  auto file = files_.open(describe, fed);
  for (int attempt = 0; attempt < most_attempts && !file && file.error().system_error() == ESTALE; ++attempt) {
    const auto now = describe_again(walked);
    if (now) walked = *now;
    file = files_.open(describe, fed);
  }
  if (!fed.ok()) return fed;
  if (!file && file.error().code() == status_code::cancelled) return file.error();
  if (!file) {
    report(walked.path, file.error());
    file = described_file{std::make_shared<pending_entry>(description_.entry_of(walked))};
    file->entry->is_left_out = true;
  }
  const std::shared_ptr<pending_entry> entry = file->entry;
  ++summary_.files;
  if (file->is_reused) ++summary_.unchanged_files;
  tree_.add(entry, walked.path);
  const bool is_first = description_.is_first_name(*file);
  if (walked.kind == file_kind::regular_file && is_first) summary_.bytes += walked.size;
  if (file->content == nullptr) {
    if (walked.kind == file_kind::regular_file) summary_.totals.bytes += walked.size;
    return entry->complete();
  }
  if (walked.kind == file_kind::block_device) {
    entry->entry.kind = file_kind::regular_file;
    entry->entry.device_number = 0;
  }
  return files_.add(std::move(*file->content), [this, path = walked.path, entry](const auto& stream) {
    if (stream) return read(path, entry, **stream);
    report(path, stream.error());
    entry->is_left_out = true;
    return entry->complete();
  });
}

status backup::read(const std::string& path, const std::shared_ptr<pending_entry>& entry, file_stream& stream) {
  status failure;
  const std::uint64_t expected_bytes = entry->entry.size;
  reading_path_ = path;
  CUTPOINT_RETURN_IF_FAILED(contents_.store_file(files_, entry, stream, failure));
  summary_.bytes += entry->entry.size - expected_bytes;  // all of standard input and of devices
  if (!failure.ok()) report(path, failure);
  return {};
}

status backup::read_rest() {
  CUTPOINT_RETURN_IF_FAILED(files_.feed_waiting());
  CUTPOINT_RETURN_IF_FAILED(contents_.finish());
  return tree_.write_complete();
}

status backup::write_complete() {
  if (tree_.waiting() > most_entries_waiting) return read_rest();
  return tree_.write_complete();
}

}  // namespace

result<backup_summary> backup_files(engine& threads, deduplicator& records, const store_reading& store,
                                    const store_backup_options& options, const feed_options& feed,
                                    const std::optional<parent_snapshot>& parent) {
  if (options.paths.empty()) return status(status_code::invalid_argument, "no paths are given to back up");
  if (!is_entry_name(options.standard_input_name) || options.standard_input_name.size() > longest_name) {
    return status(status_code::invalid_argument,
                  fmt::format("the name of standard input is not that of a file, which has 1 to {} bytes: '{}'",
                              longest_name, options.standard_input_name));
  }
  CUTPOINT_TRY(auto named, named_paths(options));
  feed_options remaining = feed;  // without the memory of the reader
  CUTPOINT_TRY(auto reader, make_input_reader(remaining, options.access, options.cancel));
  CUTPOINT_TRY(auto tree, parent_tree::make(store, parent ? std::optional(parent->root) : std::nullopt));
  return backup(threads, remaining, records, options, parent, std::move(reader), std::move(tree), std::move(named))
      .run();
}

}  // namespace cutpoint::store
