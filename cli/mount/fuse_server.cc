#include "cli/mount/fuse_server.h"

#ifdef CUTPOINT_FUSE
#define FUSE_USE_VERSION 312
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fuse.h>
#include <sys/stat.h>

#include "cli/mount/served_store.h"

namespace cutpoint::cli {

namespace {

constexpr unsigned most_request_threads = 32;
/// How long the kernel may keep names and metadata without asking. A snapshot that is forgotten is shown for so long.
constexpr double kept_seconds = 10;

// The requests are functions that libfuse calls, on several threads.

template <class Call>
int answer(const Call& call) noexcept {
  try {
    return call(*static_cast<served_store*>(fuse_get_context()->private_data));
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  } catch (const std::exception&) {
    return -EIO;
  }
}

// NOLINTBEGIN(performance-no-int-to-ptr): libfuse keeps what is open as a number
void* open_object(const fuse_file_info* info) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(info->fh)); }
// NOLINTEND(performance-no-int-to-ptr)
int keep_open(served_store& served, fuse_file_info* info, std::shared_ptr<void> object) {
  info->fh = reinterpret_cast<std::uintptr_t>(served.keep_open(std::move(object)));
  return 0;
}
int release(const char*, fuse_file_info* info) {
  return answer([&](served_store& served) {
    served.close(open_object(info));
    return 0;
  });
}

void* begin(fuse_conn_info*, fuse_config* configuration) {
  configuration->use_ino = 1;
  configuration->kernel_cache = 1;  // what a path leads to never changes
  configuration->entry_timeout = kept_seconds;
  configuration->attr_timeout = kept_seconds;
  configuration->negative_timeout = 0;
  return fuse_get_context()->private_data;
}

int get_attributes(const char* path, struct stat* facts, fuse_file_info*) {
  return answer([&](served_store& served) {
    const auto place = served.tree().find(path);
    if (!place) return -ENOENT;
    if (place->path_in_snapshot.empty()) {
      *facts = facts_of(*place->entry, path);
      return 0;
    }
    const auto file = served.view().find(place->entry->text, place->path_in_snapshot);
    if (!file) return served.failed(path, file.error());
    *facts = facts_of(file->metadata(), place->entry->text, place->path_in_snapshot);
    return 0;
  });
}

int read_link(const char* path, char* target, std::size_t size) {
  return answer([&](served_store& served) {
    const auto place = served.tree().find(path);
    std::string text;
    if (place && place->entry->what == shown_entry::kind::link) {
      text = place->entry->text;
    } else {
      const auto file = served.file_at(path);
      if (!file) return served.failed(path, file.error());
      text = file->metadata().target;
    }
    const std::size_t length = std::min(text.size(), size - 1);
    std::memcpy(target, text.data(), length);
    target[length] = '\0';
    return 0;
  });
}

int open_file(const char* path, fuse_file_info* info) {
  return answer([&](served_store& served) {
    auto file = served.file_at(path);
    if (!file) return served.failed(path, file.error());
    return keep_open(served, info, std::make_shared<viewed_file>(std::move(*file)));
  });
}

int read_file(const char* path, char* bytes, std::size_t size, off_t offset, fuse_file_info* info) {
  return answer([&](served_store& served) {
    const std::span destination(reinterpret_cast<std::uint8_t*>(bytes), size);
    const auto& file = *static_cast<const viewed_file*>(open_object(info));
    const auto count = served.view().read(file, static_cast<std::uint64_t>(offset), destination);
    return count ? static_cast<int>(*count) : served.failed(path, count.error());
  });
}

int get_attribute(const char* path, const char* name, char* value, std::size_t size) {
  return answer([&](served_store& served) {
    const auto file = served.file_at(path);
    if (!file) return file.error().system_error() == ENOENT ? -ENODATA : served.failed(path, file.error());
    const auto attribute = std::ranges::find(file->attributes(), std::string_view(name), &extended_attribute::name);
    if (attribute == file->attributes().end()) return -ENODATA;
    if (size != 0 && size < attribute->value.size()) return -ERANGE;
    if (size != 0) std::ranges::copy(attribute->value, value);
    return static_cast<int>(attribute->value.size());
  });
}

int list_attributes(const char* path, char* names, std::size_t size) {
  return answer([&](served_store& served) {
    const auto file = served.file_at(path);
    if (!file) return file.error().system_error() == ENOENT ? 0 : served.failed(path, file.error());
    std::string list;
    for (const extended_attribute& each : file->attributes()) list.append(each.name).push_back('\0');
    if (size != 0 && size < list.size()) return -ERANGE;
    if (size != 0) std::ranges::copy(list, names);
    return static_cast<int>(list.size());
  });
}

int open_folder(const char* path, fuse_file_info* info) {
  return answer([&](served_store& served) {
    auto place = served.tree().find(path);
    if (!place) return -ENOENT;
    return keep_open(served, info, std::make_shared<opened_folder>(served, path, std::move(*place)));
  });
}

int read_folder(const char*, void* buffer, fuse_fill_dir_t fill, off_t offset, fuse_file_info* info,
                fuse_readdir_flags flags) {
  return answer([&](served_store&) {
    const auto plus = (flags & FUSE_READDIR_PLUS) != 0 ? FUSE_FILL_DIR_PLUS : fuse_fill_dir_flags{};
    return static_cast<opened_folder*>(open_object(info))
        ->read(offset, [&](const std::string& name, const struct stat& facts, off_t next) {
          return fill(buffer, name.c_str(), &facts, next, plus) == 0;
        });
  });
}

constexpr fuse_operations requests() {
  fuse_operations operations = {};
  operations.init = begin;
  operations.getattr = get_attributes;
  operations.readlink = read_link;
  operations.open = open_file;
  operations.read = read_file;
  operations.release = release;
  operations.getxattr = get_attribute;
  operations.listxattr = list_attributes;
  operations.opendir = open_folder;
  operations.readdir = read_folder;
  operations.releasedir = release;
  return operations;
}

/// What libfuse says goes into the message of the failure, and not to standard error by itself.
std::mutex said_mutex;
std::string said;

void note_what_is_said(fuse_log_level level, const char* format, std::va_list arguments) {
  if (level > FUSE_LOG_ERR) return;
  std::array<char, 512> line = {};
  std::vsnprintf(line.data(), line.size(), format, arguments);
  const std::lock_guard lock(said_mutex);
  said = line.data();
  while (said.ends_with('\n')) said.pop_back();
}

status not_mounted(const std::string& folder) {
  const std::lock_guard lock(said_mutex);
  return {status_code::io_error,
          fmt::format("{}: the store cannot be mounted there: {}", folder, said.empty() ? "libfuse failed" : said),
          EIO};
}

struct fuse_deleter {
  void operator()(fuse* ended) const noexcept { fuse_destroy(ended); }
};

}  // namespace

status serve(store_view& view, const std::string& folder, mount_audience audience, const console& say,
             const std::function<void()>& mounted) {
  struct stat facts = {};
  if (::stat(folder.c_str(), &facts) != 0) return system_failure(folder, "mounted on", errno);
  if (!S_ISDIR(facts.st_mode)) return system_failure(folder, "mounted on", ENOTDIR);
  served_store served(view, say);
  constexpr fuse_operations operations = requests();
  std::string options = "-oro,fsname=cutpoint,subtype=cutpoint";
  if (audience == mount_audience::all_users) options += ",allow_other,default_permissions";
  std::string program = "cutpoint";
  std::array<char*, 3> words = {program.data(), options.data(), nullptr};
  fuse_args arguments = FUSE_ARGS_INIT(2, words.data());
  fuse_set_log_func(note_what_is_said);
  const std::unique_ptr<fuse, fuse_deleter> filesystem(fuse_new(&arguments, &operations, sizeof operations, &served));
  fuse_opt_free_args(&arguments);
  // The handlers come first, so that no signal leaves a folder mounted without a process.
  if (!filesystem || fuse_set_signal_handlers(fuse_get_session(filesystem.get())) != 0) return not_mounted(folder);
  if (fuse_mount(filesystem.get(), folder.c_str()) != 0) return not_mounted(folder);
  const std::unique_ptr<fuse, decltype(&fuse_unmount)> unmounted_at_end(filesystem.get(), fuse_unmount);
  mounted();
  const std::unique_ptr<fuse_loop_config, decltype(&fuse_loop_cfg_destroy)> loop(fuse_loop_cfg_create(),
                                                                                 fuse_loop_cfg_destroy);
  fuse_loop_cfg_set_max_threads(loop.get(), most_request_threads);
  fuse_loop_cfg_set_idle_threads(loop.get(), most_request_threads);
  const int ended = fuse_loop_mt(filesystem.get(), loop.get());  // more than 0: by a signal
  fuse_remove_signal_handlers(fuse_get_session(filesystem.get()));
  return ended >= 0 ? status() : system_failure(folder, "served", -ended);
}

}  // namespace cutpoint::cli

#else

namespace cutpoint::cli {

status serve(store_view&, const std::string& folder, mount_audience, const console&, const std::function<void()>&) {
  return {status_code::unavailable,
          folder + ": this build of cutpoint cannot mount: it was built on a machine without libfuse 3.12 or later"};
}

}  // namespace cutpoint::cli

#endif
