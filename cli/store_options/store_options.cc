#include "cli/store_options/store_options.h"

#include <algorithm>
#include <ctime>
#include <fstream>

#include <cutpoint/text.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common/options.h"
#include "cli/common/user_files.h"

namespace cutpoint::cli {

void store_options::add_to(option_list& options, std::string_view prefix) {
  const std::string name = fmt::format("{}store", prefix);
  option_ = "--" + name;
  variable_ = variable_of(name);
  const std::string owner = prefix.empty() ? "the store" : "the store that is read";
  options.add_value(option_, location_, "FOLDER", "Folder of " + owner).or_variable(variable_);
  secret_.add_to(options, std::string(prefix), owner + ", if it is encrypted");
}

/// Whatever the reason of a failure is, it is that of a store that cannot be opened.
result<backup_store> store_options::open() const {
  if (location_.empty()) return usage_error(fmt::format("no store: give {} or set {}", option_, variable_));
  const auto secret = secret_.read();
  if (!secret) return status(status_code::unavailable, secret.error().message());
  auto store = backup_store::open(location_, *secret);
  if (store) {
    remember_log(location_, *store);
    for (const std::string& warning : store->insecure_cuts()) {
      console(verbosity::normal).warning(fmt::format("{}: {}", printable(location_), warning));
    }
  }
  if (store || store.error().code() == status_code::cancelled) return store;
  return status(status_code::unavailable, store.error().message());
}

result<backup_store> store_options::open_for_writing() const {
  struct stat facts = {};
  if (::geteuid() == 0 && ::stat(location_.c_str(), &facts) == 0 && facts.st_uid != 0) {
    console(verbosity::normal)
        .warning(
            fmt::format("{}: the store belongs to user {}, and what root writes to it is root's: that user may not be "
                        "able to use the store afterwards",
                        printable(location_), facts.st_uid));
  }
  return open();
}

void remember_log(const std::string& location, backup_store& store) {
  const auto folder = user_folder("CUTPOINT_STATE_DIR", "XDG_STATE_HOME", ".local/state");
  const auto number = store.log_number();
  if (!folder || !number) return;
  const std::string path = fmt::format("{}/stores/{}", *folder, store.identity());
  std::uint64_t seen = 0;
  std::ifstream(path) >> seen;
  if (*number < seen) {
    console(verbosity::normal)
        .warning(fmt::format(
            "{}: the store has gone back: the newest entry of its log was number {}, and is {} now. If you have not "
            "restored an older copy yourself, somebody else has. Remove {} to have this forgotten",
            printable(location), seen, *number, printable(path)));
  }
  if (*number > seen) static_cast<void>(replace_file(path, fmt::format("{}\n", *number)));
}

result<std::vector<std::string>> checked_tags(std::string_view option, const std::vector<std::string>& lists) {
  std::vector<std::string> tags;
  for (const std::string& list : lists) {
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      if (end == begin) return usage_error(fmt::format("{} {}: a tag is empty", option, list));
      tags.push_back(list.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return tags;
}

exit_code fail(const console& say, const status& why) {
  say.error(why.message());
  if (why.code() == status_code::cancelled) return exit_code::interrupted;
  return exit_code::input_failed;
}

std::string local_time(std::int64_t nanoseconds) {
  const std::time_t seconds = nanoseconds / 1'000'000'000;
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(seconds));
}

json snapshot_json(const store_snapshot& snapshot) {
  json record = {{"id", snapshot.id},
                 {"sequence", snapshot.sequence},
                 {"time", snapshot.time},
                 {"duration", snapshot.duration},
                 {"is_incomplete", snapshot.is_incomplete},
                 {"parent", snapshot.parent},
                 {"host", snapshot.host}};
  add_texts(record, "paths", snapshot.paths);
  record.update({{"tags", snapshot.tags},
                 {"original", snapshot.original},
                 {"files", snapshot.files},
                 {"folders", snapshot.folders},
                 {"bytes", snapshot.bytes},
                 {"new_raw_bytes", snapshot.new_raw_bytes},
                 {"new_stored_bytes", snapshot.new_stored_bytes}});
  return record;
}

}  // namespace cutpoint::cli
