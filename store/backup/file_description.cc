#include "store/backup/file_description.h"

#include <cerrno>

#include <cutpoint/walk.h>
#include <fmt/format.h>

#include "store/backup/change_digest.h"

namespace cutpoint::store {

folder_entry file_description::entry_of(const tree_entry& walked) {
  folder_entry entry{static_cast<const file_metadata&>(walked), walked.path.substr(walked.path.rfind('/') + 1)};
  entry.changed = change_times_.trusted(walked);
  return entry;
}

result<described_file> file_description::describe(const tree_entry& walked, const folder_entry* stored) {
  if (walked.kind == file_kind::directory) return system_failure(walked.path, "read", EISDIR);  // it has become one
  described_file file{std::make_shared<pending_entry>(entry_of(walked))};
  const auto first = first_names_.find({walked.device, walked.inode});
  if (first != first_names_.end()) {
    if (first->second.entry->entry.kind == walked.kind && is_same(first->second.changed, walked.changed)) {
      file.entry->first_name = first->second.entry;
    } else {
      file.entry->entry.link_count = 1;
    }
  }
  const bool is_content_of_device = walked.is_given && walked.kind == file_kind::block_device;
  // Files of the kernel, as in /proc, have content beyond their size of 0; they are read if they are named.
  const bool is_content_of_file = walked.kind == file_kind::regular_file && (walked.size != 0 || walked.is_given);
  const bool has_content = (is_content_of_file || is_content_of_device) && !file.entry->first_name;
  file.entry->is_unchanged = stored != nullptr && !is_content_of_device && is_unchanged(*stored, walked) &&
                             (!has_content || parent_.has_all_records(*stored));
  if (stored != nullptr && !file.entry->is_unchanged) file.entry->parent_digest = change_digest(*stored);
  file.is_reused = has_content && file.entry->is_unchanged;
  if (file.is_reused) {
    file.entry->entry.extents = stored->extents;
    file.entry->entry.node = stored->node;
  } else if (has_content) {
    auto content = file_source::open(walked, cancel_);
    if (!content) return content.error();
    file.content = std::make_unique<file_source>(*std::move(content));
  }
  if (status added = add_attributes(file.entry->entry, walked, stored, file.content.get()); !added.ok()) return added;
  return file;
}

status file_description::add_attributes(folder_entry& entry, const tree_entry& walked, const folder_entry* stored,
                                        const file_source* content) {
  if (stored != nullptr && !is_parent_incomplete_ && is_unchanged(*stored, walked)) {
    entry.attributes = stored->attributes;
    return {};
  }
  auto attributes = content != nullptr ? read_extended_attributes(content->descriptor(), walked.path)
                                       : read_extended_attributes(walked);
  if (!attributes) {
    const int error = attributes.error().system_error();
    if (error == ESTALE || error == EMFILE || error == ENFILE) return attributes.error();
    problem_(walked.path, attributes.error());
    return {};
  }
  std::size_t bytes = 0;
  for (const extended_attribute& each : *attributes) bytes += each.name.size() + each.value.size();
  if (bytes > most_attribute_bytes) {
    const std::string message = fmt::format("{}: its extended attributes have {} bytes and are left out: {} fit",
                                            walked.path, bytes, most_attribute_bytes);
    problem_(walked.path, {status_code::io_error, message, E2BIG});
    return {};
  }
  entry.attributes = std::move(*attributes);
  return {};
}

bool file_description::is_first_name(const tree_entry& walked, const std::shared_ptr<pending_entry>& entry) {
  return entry->entry.link_count < 2 ||
         first_names_.try_emplace({walked.device, walked.inode}, first_name{entry, walked.changed}).second;
}

}  // namespace cutpoint::store
