#include "store/copy/copy_tree.h"

#include <string>
#include <utility>
#include <vector>

#include "store/files/list.h"

namespace cutpoint::store {

namespace {

constexpr std::size_t most_waiting_entries = std::size_t{1} << 16;

class tree_copier {
 public:
  tree_copier(record_source& source, content_copier& contents, node_receiver& nodes, const cancellation* cancel)
      : source_(source), contents_(contents), tree_(nodes, [](const std::string&, const status&) {}), cancel_(cancel) {}

  result<record_reference> copy(const record_reference& root, status& source_failure) {
    folder_entry top;
    top.kind = file_kind::directory;
    top.node = root;
    const status walked = visit_tree(top, "/", source_, [&](const std::string& path, const folder_entry& entry) {
      if (path != "/") target_failure_ = add(path, entry);
      return target_failure_;
    });
    source_failure = contents_.source_failure();
    if (!target_failure_.ok()) return target_failure_;
    if (!walked.ok()) {
      source_failure = {walked.code(), folder_ + ": " + walked.message(), walked.system_error()};
      return source_failure;
    }
    leave_folders("/");
    const status finished = contents_.finish();
    source_failure = contents_.source_failure();
    if (!finished.ok()) return finished;
    return tree_.finish();
  }

 private:
  status add(const std::string& path, const folder_entry& original) {
    if (cancel_ != nullptr && cancel_->is_requested()) return stopped_as_asked();
    leave_folders(path);
    folder_entry known = original;
    known.node.reset();
    known.extents.clear();
    if (original.kind == file_kind::directory) {
      contents_.enter(original.name);
      tree_.enter(std::move(known));
      folder_ = path + "/";
      folder_bytes_.push_back(folder_.size());
      return write_complete();
    }
    auto entry = std::make_shared<pending_entry>(std::move(known));
    tree_.add(entry, path);
    const bool has_content = original.node || !original.extents.empty();
    const status copied = has_content ? contents_.copy(std::move(entry), original, path) : entry->complete();
    return copied.ok() ? write_complete() : copied;
  }

  /// Leaves folders until the present one has the path.
  void leave_folders(const std::string& path) {
    while (folder_.size() > 1 && !path.starts_with(folder_)) {
      tree_.leave();
      contents_.leave();
      folder_bytes_.pop_back();
      folder_.resize(folder_bytes_.back());
    }
  }

  status write_complete() {
    if (tree_.waiting() > most_waiting_entries) {
      if (status finished = contents_.finish(); !finished.ok()) return finished;
    }
    return tree_.write_complete();
  }

  record_source& source_;
  content_copier& contents_;
  tree_builder tree_;
  const cancellation* cancel_;
  status target_failure_;
  std::string folder_ = "/";                     ///< path of the present folder, with a slash at its end
  std::vector<std::size_t> folder_bytes_ = {1};  ///< lengths of the paths of this folder and those above
};

}  // namespace

result<record_reference> copy_tree(const record_reference& root, record_source& source, content_copier& contents,
                                   node_receiver& nodes, const cancellation* cancel, status& source_failure) {
  return tree_copier(source, contents, nodes, cancel).copy(root, source_failure);
}

}  // namespace cutpoint::store
