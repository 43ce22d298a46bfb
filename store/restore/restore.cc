#include "store/restore/restore.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <tuple>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/format/failure.h"
#include "store/restore/restore_window.h"
#include "store/restore/set_metadata.h"
#include "store/restore/target_tree.h"

namespace cutpoint::store {

namespace {

mode_t type_of(file_kind kind) {
  switch (kind) {
    case file_kind::fifo:
      return S_IFIFO;
    case file_kind::socket:
      return S_IFSOCK;
    case file_kind::character_device:
      return S_IFCHR;
    case file_kind::block_device:
      return S_IFBLK;
    default:
      return S_IFREG;
  }
}

class restorer {
 public:
  restorer(const store_reading& store, const store_restore_options& options, progress_meter& meter,
           restore_filter filter, target_tree target, restore_window window, record_fingerprinter check)
      : options_(options),
        meter_(&meter),
        nodes_(store.objects, store.key, store.shards, std::move(check)),
        filter_(std::move(filter)),
        target_(std::move(target)),
        window_(std::move(window)) {}

  /// Restores what is in a folder into the target, or a file beside its other entries.
  result<store_restore_summary> restore(folder_entry begin);

 private:
  /// A folder of the snapshot that the restore is in.
  struct level {
    folder_entry entry;
    folder_cursor entries;
    std::size_t path_bytes;  ///< length of the folder's path with a slash at its end
    bool is_included;        ///< whether everything in it is included
    bool is_entered;         ///< whether the target's folder is open
    /// Names of the folder in the snapshot, if others are removed from the target.
    std::set<std::string> names = {};
    bool is_whole = true;  ///< whether no entry of it is lost
  };

  void report(const std::string& path, const status& why) {
    ++summary_.problems;
    if (options_.problem) options_.problem(path, why);
  }
  status report_call(std::string_view done, int error) {
    if (error == same_name) {
      const std::string why = fmt::format("{}: is left out, since the target does not tell its name from '{}'", path_,
                                          target_.other_name());
      report(path_, {status_code::io_error, why});
      return {};
    }
    const status failed = system_failure(path_, done, error);
    report(path_, failed);
    return is_fatal(failed) ? failed : status();
  }
  void count(const std::string& name) {
    ++summary_.files;
    meter_->add(1, 0, path_);
    if (options_.visit) options_.visit(path_, store_restore_action::restored);
    if (options_.replaces_files && target_.is_changed()) target_.set_restored(name);  // or else none is touched twice
  }
  void report_metadata(const std::string& path, const std::vector<metadata_failure>& failures);
  [[nodiscard]] std::string_view below_target() const {
    return std::string_view(path_).substr(levels_.front().path_bytes);
  }

  status visit_next();
  status visit(folder_entry entry);
  status leave_folder();
  status remove_others();
  [[nodiscard]] bool sets_metadata(const level& folder) const;
  [[nodiscard]] status look_at(const folder_entry& entry);
  void set_late_flags();
  void report_unmatched_patterns();
  status enter_folders();
  template <class Create>
  int create(const char* name, Create create_file);
  [[nodiscard]] bool link_to_first(const folder_entry& entry, int& error);
  [[nodiscard]] linked_file* remember_first(const folder_entry& entry);
  status restore_file(folder_entry entry);
  status restore_content(folder_entry entry);
  status add_extents(restored_file& file);
  status write_window() { return window_.write(done_); }
  void take_done(restored_file& file, const std::vector<metadata_failure>& failures);

  const store_restore_options& options_;
  progress_meter* meter_;
  record_reader nodes_;
  restore_filter filter_;
  target_tree target_;
  restore_window window_;
  store_restore_summary summary_;
  std::string path_;  ///< of the entry that is visited, in the target
  std::vector<level> levels_;
  std::set<std::string> reported_;  ///< kinds of metadata that cannot be set, and hard links
  const restore_window::done_function done_ = [this](auto& file, const auto& failures) { take_done(file, failures); };
  /// Files with several names that have got one. Keyed by kind, device and inode.
  std::map<std::tuple<file_kind, std::uint64_t, std::uint64_t>, linked_file> linked_files_;
};

result<store_restore_summary> restorer::restore(folder_entry begin) {
  path_ = options_.target;
  while (path_.ends_with('/')) path_.pop_back();
  path_ += '/';
  const bool is_folder = begin.kind == file_kind::directory;
  const record_reference entries = is_folder && begin.node ? *begin.node : record_reference();
  levels_.push_back({is_folder ? begin : folder_entry(), folder_cursor(entries, nodes_), path_.size(),
                     options_.include.empty(), true});
  if (!is_folder) {
    path_ += begin.name;
    levels_.back().is_included = true;
    CUTPOINT_RETURN_IF_FAILED(visit(std::move(begin)));
    levels_.clear();
  } else if (target_.is_changed() && sets_metadata(levels_.back())) {
    target_.limit_rights(begin);
  }
  while (!levels_.empty()) {
    if (options_.cancel != nullptr && options_.cancel->is_requested()) return stopped_as_asked();
    CUTPOINT_RETURN_IF_FAILED(visit_next());
  }
  CUTPOINT_RETURN_IF_FAILED(write_window());
  CUTPOINT_RETURN_IF_FAILED(window_.finish(done_));
  set_late_flags();
  report_unmatched_patterns();
  summary_.read_containers = window_.read_containers();
  return summary_;
}

/// Returns whether the metadata of a folder is that of the snapshot: not that of a target which stands for no folder of it, or
/// for a part of one.
bool restorer::sets_metadata(const level& folder) const {
  return &folder != &levels_.front() || (!folder.entry.name.empty() && options_.include.empty());
}

status restorer::visit_next() {
  level& here = levels_.back();
  path_.resize(here.path_bytes);
  auto entry = here.entries.next();
  if (!entry) {
    here.is_whole = false;
    report(path_, {entry.error().code(), "entries of the folder are lost: " + entry.error().message(),
                   entry.error().system_error()});
    return {};
  }
  if (!*entry) return leave_folder();
  path_ += (**entry).name;
  if (options_.removes_others) here.names.insert((**entry).name);
  if (path_.size() > longest_stored_path) {
    report(path_.substr(0, 200) + "...", damage("a path", "it is longer than 1 MiB"));
    return {};
  }
  return visit(std::move(**entry));
}

status restorer::leave_folder() {
  const level& left = levels_.back();
  if (left.is_entered) CUTPOINT_RETURN_IF_FAILED(remove_others());
  path_.resize(std::max<std::size_t>(left.path_bytes - 1, 1));
  if (left.is_entered && target_.is_changed() && sets_metadata(left)) {
    report_metadata(path_, set_metadata(target_.folder(), left.entry));
  }
  if (left.is_entered && levels_.size() > 1) {
    if (const int error = target_.leave(); error != 0) return system_failure(path_, "left for the folder above", error);
  }
  levels_.pop_back();
  return {};
}

/// Removes from the present folder of the target what the snapshot's lacks, if that is wanted.
status restorer::remove_others() {
  const level& here = levels_.back();
  std::string_view folder = below_target();
  if (folder.ends_with('/')) folder.remove_suffix(1);
  if (!options_.removes_others || !here.is_whole || !filter_.is_complete(folder)) return {};
  surplus_removal removal(target_, filter_, levels_.front().path_bytes,
                          {[this](const std::string& path) {
                             ++summary_.removed;
                             if (options_.visit) options_.visit(path, store_restore_action::removed);
                           },
                           [this](const std::string& path, const status& why) { report(path, why); }});
  return removal.remove_others(path_, here.names, here.is_included);
}

/// Sets the flags of files with several names.
void restorer::set_late_flags() {
  for (const auto& [file, linked] : linked_files_) {
    if (linked.flags == 0) continue;
    const std::size_t slash = linked.first_path.rfind('/') + 1;  // 0 without a slash
    const owned_descriptor folder = target_.open_below(linked.first_path.substr(0, slash));
    const owned_descriptor descriptor(::openat(folder.get(), linked.first_path.substr(slash).c_str(),
                                               O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    const int failed = descriptor.get() < 0 ? errno : set_flags(descriptor.get(), linked.flags);
    if (failed != 0) report_metadata(options_.target + '/' + linked.first_path, {{flags_name, failed}});
  }
}

void restorer::report_unmatched_patterns() {
  const auto warn = [this](const path_pattern& pattern, const status& why) {
    if (options_.warning) options_.warning(pattern.text(), why);
  };
  filter_.include().visit_unmatched([&](const path_pattern& pattern, const status& why) {
    return pattern.is_negated() ? warn(pattern, why) : report(pattern.text(), why);
  });
  filter_.exclude().visit_unmatched(warn);
}

status restorer::visit(folder_entry entry) {
  const bool is_folder = entry.kind == file_kind::directory;
  if (filter_.is_excluded(below_target(), is_folder)) return {};
  const bool is_match = filter_.is_included(below_target(), is_folder);
  const bool is_included = levels_.back().is_included || is_match;
  if (is_folder) {
    if (!entry.node) {
      report(path_, damage("the entry", "it is a folder without entries"));
      return {};
    }
    path_ += '/';
    const record_reference node = *entry.node;
    levels_.push_back({std::move(entry), folder_cursor(node, nodes_), path_.size(), is_included, false});
    if (levels_.size() > most_folders_with_nodes) {
      levels_[levels_.size() - 1 - most_folders_with_nodes].entries.release_nodes();
    }
    return is_included ? enter_folders() : status();
  }
  if (!is_included) return {};
  const std::size_t depth = levels_.size();
  if (status entered = enter_folders(); !entered.ok() || levels_.size() != depth) return entered;
  return restore_file(std::move(entry));
}

/// Enters the folders that lead to the present entry. Leaves out the first that cannot be entered, with all entries.
status restorer::enter_folders() {
  for (std::size_t i = 1; i < levels_.size(); ++i) {
    if (levels_[i].is_entered) continue;
    const int error = target_.enter(levels_[i].entry, options_.replaces_files);
    if (error != 0) {
      path_.resize(levels_[i].path_bytes - 1);
      levels_.erase(levels_.begin() + static_cast<std::ptrdiff_t>(i), levels_.end());
      return report_call("entered as a folder", error);
    }
    levels_[i].is_entered = true;
    ++summary_.folders;
    if (options_.visit) options_.visit(path_.substr(0, levels_[i].path_bytes), store_restore_action::restored);
  }
  return {};
}

/// Calls `create_file`, and again after a file of that name was removed, if that is wanted. Returns 0, an errno or
/// `same_name`.
template <class Create>
int restorer::create(const char* name, Create create_file) {
  if (create_file() >= 0) return 0;
  if (errno != EEXIST || !options_.replaces_files) return errno;
  if (target_.has_restored_as_other(name)) return same_name;
  if (const int failed = target_.remove(name); failed != 0) return failed;
  return create_file() >= 0 ? 0 : errno;
}

/// Returns whether the file has a name in the target already and got one more, or failed to.
bool restorer::link_to_first(const folder_entry& entry, int& error) {
  const auto first_link = linked_files_.find({entry.kind, entry.device, entry.inode});
  if (entry.link_count < 2 || first_link == linked_files_.end()) return false;
  linked_file& file = first_link->second;
  const std::size_t slash = file.first_path.rfind('/') + 1;  // 0 without a slash
  const owned_descriptor folder = target_.open_below(file.first_path.substr(0, slash));
  const std::string name = file.first_path.substr(slash);
  error = create(entry.name.c_str(),
                 [&] { return ::linkat(folder.get(), name.c_str(), target_.folder(), entry.name.c_str(), 0); });
  if (error == 0 && !file.outcome) file.other_paths.push_back(path_);
  if (error == 0 && file.outcome && !file.outcome->ok()) report(path_, *file.outcome);
  if (error == 0 || error == EEXIST || error == ENOTEMPTY || error == same_name) return true;
  // It is restored as a file of its own, which further names can be links to if the first has as many as there may be.
  ++summary_.copied_links;
  if (reported_.insert("hard links").second) {
    report(path_,
           {status_code::io_error,
            fmt::format("{}: becomes a copy of {}, since it cannot be a hard link (other files may be copies too): {}",
                        path_, file.first_path, std::strerror(error)),
            error});
  }
  file.first_path = below_target();
  return false;
}

/// Remembers a file with several names by its first one. Returns null for any other file.
linked_file* restorer::remember_first(const folder_entry& entry) {
  if (entry.link_count < 2) return nullptr;
  const auto [file, is_first] = linked_files_.try_emplace({entry.kind, entry.device, entry.inode});
  if (!is_first) return nullptr;
  file->second.first_path = below_target();
  if (entry.kind == file_kind::regular_file) file->second.flags = entry.flags;
  return &file->second;
}

/// Counts a file as if it were restored, and reports what is in its way.
status restorer::look_at(const folder_entry& entry) {
  struct stat facts = {};
  const bool exists =
      target_.folder() >= 0 && ::fstatat(target_.folder(), entry.name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && !options_.replaces_files) return report_call("created", EEXIST);
  count(entry.name);
  const bool is_first = entry.link_count < 2 || remember_first(entry) != nullptr;
  if (entry.kind == file_kind::regular_file && is_first) summary_.bytes += entry.size;
  return {};
}

status restorer::restore_file(folder_entry entry) {
  if (!target_.is_changed()) return look_at(entry);
  int error = 0;
  if (link_to_first(entry, error)) {
    if (error != 0) return report_call("created as a hard link", error);
    count(entry.name);
    return {};
  }
  if (entry.kind == file_kind::regular_file) return restore_content(std::move(entry));
  const char* const name = entry.name.c_str();
  const int folder = target_.folder();
  error = create(name, [&] {
    if (entry.kind == file_kind::symbolic_link) return ::symlinkat(entry.target.c_str(), folder, name);
    return ::mknodat(folder, name, type_of(entry.kind) | 0600, entry.device_number);
  });
  if (error != 0) return report_call("created", error);
  count(entry.name);
  if (linked_file* const linked = remember_first(entry)) linked->outcome = status();
  report_metadata(path_, set_metadata_in(folder, entry));
  return {};
}

/// Opens or creates a regular file, and adds the places of its chunks to the window.
status restorer::restore_content(folder_entry entry) {
  CUTPOINT_RETURN_IF_FAILED(window_.has_room() ? status() : write_window());
  if (options_.replaces_files && target_.has_restored_as_other(entry.name)) return report_call("created", same_name);
  owned_descriptor descriptor = options_.replaces_files ? open_in_place(target_.folder(), entry) : owned_descriptor();
  const bool is_new = descriptor.get() < 0;
  if (is_new) {
    const int error = create(entry.name.c_str(), [&] {
      descriptor = owned_descriptor(
          ::openat(target_.folder(), entry.name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
      return descriptor.get();
    });
    if (error != 0) return report_call("created", error);
  }
  count(entry.name);
  summary_.bytes += entry.size;
  auto added = std::make_unique<restored_file>();
  added->path = path_;
  added->linked = remember_first(entry);
  added->descriptor = std::move(descriptor);
  added->entry = std::move(entry);
  added->is_new = is_new;
  restored_file& file = window_.add(std::move(added));
  file.resize();
  const status outcome = file.outcome().ok() ? add_extents(file) : status();
  if (is_fatal(outcome)) return outcome;
  if (!outcome.ok()) file.fail(outcome);
  file.entry.extents = {};
  file.is_complete = true;
  return {};
}

status restorer::add_extents(restored_file& file) {
  const std::uint64_t size = file.entry.size;
  std::uint64_t end = 0;
  const status visited =
      visit_file(file.entry, 0, UINT64_MAX, nodes_, [&](const stored_extent& extent, std::uint64_t position) -> status {
        end = position + extent.bytes();
        if (end > size) return damage(path_, "its content is longer than its size");
        if (extent.kind == extent_kind::hole) {
          file.make_hole(position, extent.bytes());
          meter_->add(0, extent.bytes());
          return {};
        }
        window_.add({extent.record, &file, position, extent.count});
        return window_.is_full() ? write_window() : status();
      });
  return visited.ok() && end != size ? damage(path_, "its content is shorter than its size") : visited;
}

void restorer::take_done(restored_file& file, const std::vector<metadata_failure>& failures) {
  summary_.written_bytes += file.written_bytes();
  const status outcome = file.outcome();
  if (!outcome.ok()) report(file.path, outcome);
  if (linked_file* const linked = file.linked) {
    for (const std::string& each : linked->other_paths) {
      if (!outcome.ok()) report(each, outcome);
    }
    linked->other_paths = {};
    linked->outcome = outcome;
  }
  report_metadata(file.path, failures);
}

void restorer::report_metadata(const std::string& path, const std::vector<metadata_failure>& failures) {
  for (const metadata_failure& each : failures) {
    // What is not permitted or not there concerns all files. Other errors, such as too little room for an attribute, do not.
    const bool concerns_all = each.error == EPERM || each.error == ENOTSUP || each.error == ENOSYS;
    if (concerns_all && !reported_.insert(each.what).second) continue;
    const std::string message =
        fmt::format("{}: its {} cannot be set{}: {}", path, each.what,
                    concerns_all ? " (other files may lack theirs too)" : "", std::strerror(each.error));
    report(path, {status_code::io_error, message, each.error});
  }
}

}  // namespace

result<store_restore_summary> restore_files(const store_reading& store, const restored_snapshot& snapshot,
                                            const store_restore_options& options) {
  if (options.target.empty()) return status(status_code::invalid_argument, "the target is empty, and must be a folder");
  CUTPOINT_TRY(auto check, store.make_fingerprinter());
  progress_meter meter(options.progress);
  CUTPOINT_TRY(auto window, restore_window::make(store, options, meter));
  CUTPOINT_TRY(auto nodes_check, store.make_fingerprinter());
  // The path is looked up first, so that nothing is created for one that does not exist.
  record_reader nodes(store.objects, store.key, store.shards, std::move(nodes_check));
  CUTPOINT_TRY(auto begin, find_path(snapshot.root, options.path, nodes));
  std::string top = options.path;
  while (top.ends_with('/')) top.pop_back();
  if (begin.kind != file_kind::directory) top.resize(top.size() - begin.name.size());
  const auto access = options.is_dry_run ? target_access::looks : target_access::changes;
  CUTPOINT_TRY(auto target, target_tree::open(options.target, access, snapshot.store_folder));
  if (options.removes_others && options.include.empty() && target.is_file_system_root()) {
    return status(status_code::invalid_argument,
                  options.target + ": nothing is removed from the root of the file system without patterns to include");
  }
  const bool is_total_known =
      options.path.find_first_not_of('/') == std::string::npos && options.include.empty() && options.exclude.empty();
  meter.begin("restoring files", is_total_known ? snapshot.files : 0, is_total_known ? snapshot.bytes : 0);
  return restorer(store, options, meter, restore_filter(options, std::move(top), snapshot.complete_paths),
                  std::move(target), std::move(window), std::move(check))
      .restore(std::move(begin));
}

}  // namespace cutpoint::store
