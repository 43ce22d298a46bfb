#include "cli/mount/served_store.h"

#include <cerrno>
#include <utility>

#include "cli/store_options/store_options.h"

namespace cutpoint::cli {

served_store::served_store(store_view& view, const console& say)
    : view_(view), say_(say), tree_(view, [this](const std::string& path, const status& why) { report(path, why); }) {}

result<viewed_file> served_store::file_at(const char* path) {
  const auto place = tree_.find(path);
  if (!place || place->entry->what != shown_entry::kind::snapshot) {
    return status(status_code::io_error, "no file is there", ENOENT);
  }
  return view_.find(place->entry->text, place->path_in_snapshot);
}

int served_store::failed(std::string_view path, const status& why) {
  const bool is_gone = why.code() == status_code::invalid_argument;  // the snapshot was forgotten a moment ago
  if (why.system_error() == ENOENT || is_gone) return -ENOENT;
  report(std::string(path), why);
  return -EIO;
}

void* served_store::keep_open(std::shared_ptr<void> object) {
  void* const key = object.get();
  const std::lock_guard lock(mutex_);
  open_.emplace(key, std::move(object));
  return key;
}

void served_store::close(void* object) {
  const std::lock_guard lock(mutex_);
  open_.erase(object);
}

/// Programs ask again for what they did not get, and so does the kernel: a message that is the same is not repeated.
void served_store::report(const std::string& path, const status& why) {
  std::string message = problem_text(path, why);
  const std::lock_guard lock(mutex_);
  if (message == last_message_) return;
  say_.error(message);
  last_message_ = std::move(message);
}

}  // namespace cutpoint::cli
