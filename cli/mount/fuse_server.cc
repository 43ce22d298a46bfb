#include "cli/mount/fuse_server.h"

#ifdef CUTPOINT_FUSE
#define FUSE_USE_VERSION 312
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fuse_lowlevel.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "cli/mount/served_store.h"

namespace cutpoint::cli {

namespace {

constexpr unsigned most_request_threads = 32;
/// How long the kernel may keep names and metadata without asking. A snapshot that is forgotten is shown for so long.
constexpr double kept_seconds = 10;

// The requests are functions that libfuse calls, on several threads. They use its lower interface: the higher one keeps an
// object for each file that the kernel knows, which after a listing of a large folder are millions.

/// Calls a function that replies to a request, or returns the error number to reply with.
template <class Call>
void answer(fuse_req_t request, const Call& call) noexcept {
  int error = 0;
  try {
    error = call(*static_cast<served_store*>(fuse_req_userdata(request)));
  } catch (const std::bad_alloc&) {
    error = ENOMEM;
  } catch (const std::exception&) {
    error = EIO;
  }
  if (error != 0) fuse_reply_err(request, error);
}

/// As `answer`, for a function that needs the entry with a number.
template <class Call>
void answer_for(fuse_req_t request, fuse_ino_t number, const Call& call) noexcept {
  answer(request, [&](served_store& served) {
    served_entry entry;
    const int failed = served.find(number, entry);
    return failed != 0 ? failed : call(served, entry);
  });
}

// NOLINTBEGIN(performance-no-int-to-ptr): libfuse keeps what is open as a number
void* open_object(const fuse_file_info* info) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(info->fh)); }
// NOLINTEND(performance-no-int-to-ptr)
int reply_open(fuse_req_t request, served_store& served, fuse_file_info* info, std::shared_ptr<void> object) {
  info->fh = reinterpret_cast<std::uintptr_t>(served.keep_open(std::move(object)));
  info->keep_cache = 1;  // what a number leads to never changes
  if (fuse_reply_open(request, info) != 0) served.close(open_object(info));
  return 0;
}
void release(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
  answer(request, [&](served_store& served) {
    served.close(open_object(info));
    fuse_reply_err(request, 0);
    return 0;
  });
}

fuse_entry_param parameters_of(std::uint64_t number, const struct stat& facts) {
  fuse_entry_param parameters = {};
  parameters.ino = number;
  parameters.attr = facts;
  parameters.entry_timeout = parameters.attr_timeout = kept_seconds;
  return parameters;
}

void look_up(fuse_req_t request, fuse_ino_t parent, const char* name) {
  answer_for(request, parent, [&](served_store& served, const served_entry& folder) {
    served_entry entry;
    if (const int failed = served.find_in(folder, name, entry); failed != 0) return failed;
    const auto parameters = parameters_of(served.numbers().add(parent, folder, entry), entry.facts());
    if (fuse_reply_entry(request, &parameters) != 0) served.numbers().forget(parameters.ino, 1);
    return 0;
  });
}

void forget(fuse_req_t request, fuse_ino_t number, std::uint64_t count) {
  static_cast<served_store*>(fuse_req_userdata(request))->numbers().forget(number, count);
  fuse_reply_none(request);
}

void forget_all(fuse_req_t request, std::size_t count, fuse_forget_data* forgotten) {
  auto& numbers = static_cast<served_store*>(fuse_req_userdata(request))->numbers();
  for (const fuse_forget_data& each : std::span(forgotten, count)) numbers.forget(each.ino, each.nlookup);
  fuse_reply_none(request);
}

void get_attributes(fuse_req_t request, fuse_ino_t number, fuse_file_info*) {
  answer_for(request, number, [&](served_store&, const served_entry& entry) {
    const struct stat facts = entry.facts();
    fuse_reply_attr(request, &facts, kept_seconds);
    return 0;
  });
}

void read_link(fuse_req_t request, fuse_ino_t number) {
  answer_for(request, number, [&](served_store&, const served_entry& entry) {
    fuse_reply_readlink(request, (entry.file ? entry.file->metadata().target : entry.shown->text).c_str());
    return 0;
  });
}

void open_file(fuse_req_t request, fuse_ino_t number, fuse_file_info* info) {
  answer_for(request, number, [&](served_store& served, served_entry& entry) {
    return reply_open(request, served, info, std::make_shared<served_entry>(std::move(entry)));
  });
}

void read_file(fuse_req_t request, fuse_ino_t, std::size_t size, off_t offset, fuse_file_info* info) {
  answer(request, [&](served_store& served) {
    const auto& entry = *static_cast<const served_entry*>(open_object(info));
    if (!entry.file) return EISDIR;
    std::vector<std::uint8_t> bytes(size);
    const auto count = served.view().read(*entry.file, static_cast<std::uint64_t>(offset), bytes);
    if (!count) return served.failed(entry.path, count.error());
    fuse_reply_buf(request, reinterpret_cast<const char*>(bytes.data()), *count);
    return 0;
  });
}

/// Replies with bytes, or with their number if none are asked for.
int reply_bytes(fuse_req_t request, std::size_t size, std::string_view bytes) {
  if (size != 0 && size < bytes.size()) return ERANGE;
  if (size != 0) {
    fuse_reply_buf(request, bytes.data(), bytes.size());
  } else {
    fuse_reply_xattr(request, bytes.size());
  }
  return 0;
}

void get_attribute(fuse_req_t request, fuse_ino_t number, const char* name, std::size_t size) {
  answer_for(request, number, [&](served_store&, const served_entry& entry) {
    if (!entry.file) return ENODATA;
    const auto& attributes = entry.file->attributes();
    const auto attribute = std::ranges::find(attributes, std::string_view(name), &extended_attribute::name);
    return attribute == attributes.end() ? ENODATA : reply_bytes(request, size, attribute->value);
  });
}

void list_attributes(fuse_req_t request, fuse_ino_t number, std::size_t size) {
  answer_for(request, number, [&](served_store&, const served_entry& entry) {
    std::string list;
    if (entry.file) {
      for (const extended_attribute& each : entry.file->attributes()) list.append(each.name).push_back('\0');
    }
    return reply_bytes(request, size, list);
  });
}

void open_folder(fuse_req_t request, fuse_ino_t number, fuse_file_info* info) {
  answer_for(request, number, [&](served_store& served, served_entry& entry) {
    return reply_open(request, served, info, std::make_shared<opened_folder>(served, std::move(entry)));
  });
}

/// The reply to a listing: entries, and with them their numbers if the kernel asks for both.
class listing_reply {
 public:
  listing_reply(fuse_req_t request, served_store& served, fuse_ino_t folder_number, const served_entry& folder,
                std::size_t size, bool has_numbers)
      : request_(request),
        served_(served),
        folder_number_(folder_number),
        folder_(folder),
        buffer_(size),
        has_numbers_(has_numbers) {}
  listing_reply(const listing_reply&) = delete;
  listing_reply& operator=(const listing_reply&) = delete;
  /// What the kernel did not get it does not know.
  ~listing_reply() {
    while (!numbers_.empty()) forget_last();
  }

  /// As `opened_folder::fill_function`.
  bool add(const std::string& name, const struct stat& facts, const served_entry* entry, off_t next) {
    const std::span rest = std::span(buffer_).subspan(used_);
    std::size_t bytes;
    if (has_numbers_) {
      auto parameters = parameters_of(0, facts);
      if (entry != nullptr) {
        numbers_.push_back(0);
        parameters.ino = numbers_.back() = served_.numbers().add(folder_number_, folder_, *entry);
      }
      bytes = fuse_add_direntry_plus(request_, rest.data(), rest.size(), name.c_str(), &parameters, next);
    } else {
      bytes = fuse_add_direntry(request_, rest.data(), rest.size(), name.c_str(), &facts, next);
    }
    if (bytes <= rest.size()) {
      used_ += bytes;
      return true;
    }
    if (has_numbers_ && entry != nullptr) forget_last();
    return false;
  }
  void send() {
    if (fuse_reply_buf(request_, buffer_.data(), used_) == 0) numbers_.clear();
  }

 private:
  void forget_last() {
    served_.numbers().forget(numbers_.back(), 1);
    numbers_.pop_back();
  }

  fuse_req_t request_;
  served_store& served_;
  fuse_ino_t folder_number_;
  const served_entry& folder_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;
  std::vector<std::uint64_t> numbers_;
  bool has_numbers_;
};

template <bool HasNumbers>
void read_folder(fuse_req_t request, fuse_ino_t number, std::size_t size, off_t offset, fuse_file_info* info) {
  answer(request, [&](served_store& served) {
    auto& folder = *static_cast<opened_folder*>(open_object(info));
    listing_reply reply(request, served, number, folder.entry(), size, HasNumbers);
    const int failed =
        folder.read(offset, [&](const std::string& name, const struct stat& facts, const served_entry* entry,
                                off_t next) { return reply.add(name, facts, entry, next); });
    if (failed == 0) reply.send();
    return failed;
  });
}

constexpr fuse_lowlevel_ops requests() {
  fuse_lowlevel_ops operations = {};
  operations.lookup = look_up;
  operations.forget = forget;
  operations.forget_multi = forget_all;
  operations.getattr = get_attributes;
  operations.readlink = read_link;
  operations.open = open_file;
  operations.read = read_file;
  operations.release = release;
  operations.getxattr = get_attribute;
  operations.listxattr = list_attributes;
  operations.opendir = open_folder;
  operations.readdir = read_folder<false>;
  operations.readdirplus = read_folder<true>;
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

struct session_deleter {
  void operator()(fuse_session* ended) const noexcept { fuse_session_destroy(ended); }
};

}  // namespace

status serve(store_view& view, const std::string& folder, mount_audience audience, const console& say,
             const std::function<void()>& mounted) {
  struct stat facts = {};
  struct statvfs file_system = {};  // the kernel may remember the folder of a mount whose process is dead, but not this
  if (::stat(folder.c_str(), &facts) != 0 || ::statvfs(folder.c_str(), &file_system) != 0) {
    const status why = system_failure(folder, "mounted on", errno);
    if (why.system_error() != ENOTCONN) return why;
    return {why.code(), fmt::format("{}; 'umount {}' ends a mount whose process is dead", why.message(), folder),
            ENOTCONN};
  }
  if (!S_ISDIR(facts.st_mode)) return system_failure(folder, "mounted on", ENOTDIR);
  served_store served(view, say);
  constexpr fuse_lowlevel_ops operations = requests();
  std::string options = "-oro,fsname=cutpoint,subtype=cutpoint";
  if (audience == mount_audience::all_users) options += ",allow_other,default_permissions";
  std::string program = "cutpoint";
  std::array<char*, 3> words = {program.data(), options.data(), nullptr};
  fuse_args arguments = FUSE_ARGS_INIT(2, words.data());
  fuse_set_log_func(note_what_is_said);
  const std::unique_ptr<fuse_session, session_deleter> session(
      fuse_session_new(&arguments, &operations, sizeof operations, &served));
  fuse_opt_free_args(&arguments);
  // The handlers come first, so that no signal leaves a folder mounted without a process.
  if (!session || fuse_set_signal_handlers(session.get()) != 0) return not_mounted(folder);
  if (fuse_session_mount(session.get(), folder.c_str()) != 0) return not_mounted(folder);
  const std::unique_ptr<fuse_session, decltype(&fuse_session_unmount)> unmounted_at_end(session.get(),
                                                                                        fuse_session_unmount);
  const std::unique_ptr<fuse_loop_config, decltype(&fuse_loop_cfg_destroy)> loop(fuse_loop_cfg_create(),
                                                                                 fuse_loop_cfg_destroy);
  if (!loop) throw std::bad_alloc();
  mounted();
  fuse_loop_cfg_set_max_threads(loop.get(), most_request_threads);
  fuse_loop_cfg_set_idle_threads(loop.get(), most_request_threads);
  const int ended = fuse_session_loop_mt(session.get(), loop.get());  // more than 0: by a signal
  fuse_remove_signal_handlers(session.get());
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
