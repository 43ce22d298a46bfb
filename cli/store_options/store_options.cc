#include "cli/store_options/store_options.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <set>
#include <utility>

#include <cutpoint/catalog.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/common/files.h"
#include "cli/common/hidden_input.h"
#include "cli/costs/costs.h"

namespace cutpoint::cli {

// --- Passwords and key files -----------------------------------------------------------------------------------------

namespace {

constexpr std::size_t largest_secret_bytes = MiB;

result<std::string> read_file(const std::string& path) {
  auto text = read_input(path, largest_secret_bytes);
  if (text && text->empty()) return usage_error(path + ": is empty, and has no secret");
  return text;
}

/// Returns what a command prints, which runs in the shell, as the user's environment says it. It has standard input only if that
/// is a terminal that nothing else reads: a command such as ssh would take what is to be stored.
result<std::string> output_of(const std::string& command) {
  const bool has_input = ::isatty(STDIN_FILENO) == 1 && !reads_standard_input;
  std::FILE* const stream = ::popen(((has_input ? "" : "exec </dev/null\n") + command).c_str(), "re");
  if (stream == nullptr) return status(status_code::io_error, command + ": " + std::strerror(errno), errno);
  std::string text;
  std::array<char, 4096> block;
  for (std::size_t count = 0; (count = std::fread(block.data(), 1, block.size(), stream)) != 0;) {
    if (text.size() <= largest_secret_bytes) text.append(block.data(), count);
  }
  const int outcome = ::pclose(stream);
  if (outcome != 0) {
    const int code = WIFEXITED(outcome) ? WEXITSTATUS(outcome) : 128 + WTERMSIG(outcome);
    return status(status_code::io_error, fmt::format("{}: the command for the password ended with {}", command, code));
  }
  if (text.size() > largest_secret_bytes) return usage_error(command + ": more than 1 MiB is no secret");
  return text;
}

/// Returns a password without the end of its line. `source` says whose it is. Errors: invalid_argument, if it is empty.
result<store_secret> password_of(std::string text, std::string_view source) {
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  if (text.empty()) return usage_error(fmt::format("{}: the password is empty", source));
  return store_secret{store_secret::kind::password, std::move(text)};
}

/// Whatever the reason of a failure is, it is that of a store that cannot be opened; but a lack of memory says nothing of the store.
status opening_failure(const status& why) {
  const bool stays = why.system_error() == ENOMEM || why.code() == status_code::cancelled;
  return stays ? why : status(status_code::unavailable, why.message());
}

}  // namespace

std::string variable_of(std::string_view option) {
  std::string text = fmt::format("CUTPOINT_{}", option);
  for (char& each : text) each = each == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(each)));
  return text;
}

void secret_options::add_to(option_list& options, const std::string& prefix, const std::string& owner) {
  options_ = &options;
  const auto add = [&](const std::string& name, std::string& target, const char* value, const std::string& meaning) {
    option& added = options.add_value("--" + prefix + name, target, value, meaning);
    added.or_variable(variable_of(prefix + name));
    for (const option* each : own_) added.or_else(options.find(each->names));
    own_.push_back(&added);
  };
  add("password-file", password_file_, "FILE", "File with the password of " + owner);
  add("password-command", password_command_, "COMMAND", "Shell command that prints the password of " + owner);
  add("key-file", key_file_, "FILE", "Key file of " + owner);
}

std::string secret_options::names(std::string_view last_separator) const {
  std::vector<std::string> names;
  for (const option* each : own_) {
    if (is_given() && std::get<std::string*>(each->target)->empty()) continue;
    names.push_back(fmt::format("{} ({})", each->names, each->environment));
  }
  const std::string last = std::move(names.back());
  names.pop_back();
  return names.empty() ? last : fmt::format("{}{}{}", fmt::join(names, ", "), last_separator, last);
}

std::string secret_options::password_variable_note() const {
  const std::string_view file = own_.front()->environment;
  const std::string variable(file.substr(0, file.rfind("_FILE")));
  return std::getenv(variable.c_str()) == nullptr ? "" : fmt::format("; {} is not read", variable);
}

result<store_secret> secret_options::read() const {
  if (int{!password_file_.empty()} + int{!password_command_.empty()} + int{!key_file_.empty()} > 1) {
    return usage_error(names(" and ") + " are set: give one of them");
  }
  if (!key_file_.empty()) {
    auto bytes = read_file(key_file_);
    return bytes ? result(store_secret{store_secret::kind::key_file, *std::move(bytes)})
                 : opening_failure(bytes.error());
  }
  if (!has_password()) return store_secret{};
  auto text = password_file_.empty() ? output_of(password_command_) : read_file(password_file_);
  return text ? password_of(*std::move(text), password_file_.empty() ? password_command_ : password_file_)
              : opening_failure(text.error());
}

bool secret_options::can_ask() const {
  const auto forbids = [](const option& each) {
    return each.is_given && (each.names.ends_with("json") || each.names == "-q,--quiet");
  };
  return !is_given() && std::ranges::none_of(options_->all(), forbids) && cli::can_ask();
}

result<store_secret> secret_options::ask(std::string_view owner) {
  CUTPOINT_TRY(auto text, ask_hidden(fmt::format("password of {}: ", printable(owner))));
  return password_of(std::move(text), owner);
}

result<store_secret> secret_options::ask_new(std::string_view owner) {
  CUTPOINT_TRY(auto secret, ask(owner));
  CUTPOINT_TRY(const auto again, ask_hidden("the same once more: "));
  if (again != secret.bytes) return usage_error("the two passwords differ");
  return secret;
}

// --- Stores ----------------------------------------------------------------------------------------------------------

void store_options::add_to(option_list& options, std::string_view prefix) {
  const std::string name = fmt::format("{}store", prefix);
  option_ = "--" + name;
  variable_ = variable_of(name);
  const std::string owner = prefix.empty() ? "the store" : "the store that is read";
  options.add_value(option_, location_, "FOLDER", "Folder of " + owner).or_variable(variable_);
  secret_.add_to(options, std::string(prefix), owner + ", if it is encrypted");
}

namespace {

/// The schemes of restic's locations, which need no slashes behind them.
constexpr std::string_view remote_schemes[] = {"s3", "sftp", "rest", "b2", "rclone", "azure", "gs", "swift"};

bool is_url(std::string_view location) {
  const std::size_t colon = std::min(location.find(':'), location.size());
  const std::string_view scheme = location.substr(0, colon);
  if (colon == location.size() || scheme.find('/') != std::string_view::npos) return false;
  return location.substr(colon).starts_with("://") || std::ranges::count(remote_schemes, scheme) != 0;
}

}  // namespace

status store_options::check_location() const {
  if (location_.empty()) return usage_error(fmt::format("no store: give {} or set {}", option_, variable_));
  if (!is_url(location_)) return {};
  return usage_error(
      fmt::format("{}: a store is in a folder, and there are no other places for it yet; a folder of another machine "
                  "can be mounted, and ./{} would be a folder of this name",
                  location_, location_));
}

result<backup_store> store_options::open() const {
  CUTPOINT_RETURN_IF_FAILED(check_location());
  CUTPOINT_TRY(const auto secret, secret_.read());
  auto store = backup_store::open(location_, secret);
  if (!store && store.error().system_error() == ENOKEY && secret_.can_ask()) {
    CUTPOINT_TRY(const auto typed, secret_options::ask(location_));
    store = backup_store::open(location_, typed);
  }
  if (store) {
    remember_log(location_, *store);
    for (const std::string& warning : store->insecure_cuts()) {
      console(verbosity::normal).warning(fmt::format("{}: {}", printable(location_), warning));
    }
    return store;
  }
  const status& why = store.error();
  struct stat facts = {};
  const bool is_absent = why.system_error() == ENOENT &&
                         (why.code() == status_code::unavailable || ::stat(location_.c_str(), &facts) != 0);
  const std::string advice = why.system_error() == ENOKEY
                                 ? ", by " + secret_.names(" or ") + secret_.password_variable_note()
                             : is_absent ? fmt::format("; 'cutpoint init' makes one, and {} names another", option_)
                                         : "";
  return opening_failure({why.code(), why.message() + advice, is_absent ? 0 : why.system_error()});
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

result<bool> warn_of_power_cuts(const std::string& location, backup_store& store, const console& say) {
  auto survives = store.survives_power_cuts();
  if (survives && !*survives) {
    say.warning(fmt::format(
        "{}: its file system cannot sync folders, so a power cut may undo what was stored or removed before; "
        "check the store after one",
        printable(location)));
  }
  return survives;
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

exit_code fail(const console& say, const status& why, std::string_view what_stands) {
  const bool is_interrupted = why.code() == status_code::cancelled;
  say.error(is_interrupted && !what_stands.empty() ? fmt::format("interrupted: {}", what_stands) : why.message());
  return is_interrupted ? exit_code::interrupted : exit_code::input_failed;
}

std::string short_id(std::string_view id) { return std::string(id.substr(0, 16)); }

std::string local_time(std::int64_t nanoseconds) {
  const std::time_t seconds = nanoseconds / 1'000'000'000;
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(seconds));
}

std::string zone_of(std::int64_t nanoseconds) {
  return fmt::format(" {:%z}", fmt::localtime(static_cast<std::time_t>(nanoseconds / 1'000'000'000)));
}

std::string utc_time(std::int64_t nanoseconds) {
  constexpr std::int64_t second = 1'000'000'000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:09}Z", fmt::gmtime(static_cast<std::time_t>(nanoseconds / second)),
                     nanoseconds % second);
}

result<std::int64_t> checked_time(std::string_view option, const std::string& text) {
  constexpr std::int64_t latest_second = 9'000'000'000;
  const bool is_number = std::ranges::all_of(text, [](char each) { return each >= '0' && each <= '9'; });
  if (is_number) {
    CUTPOINT_TRY(const auto seconds, checked_number(option, text, 1, latest_second));
    return static_cast<std::int64_t>(seconds) * 1'000'000'000;
  }
  for (const char* format :
       {"%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"}) {
    std::tm fields = {};
    const char* rest = ::strptime(text.c_str(), format, &fields);
    if (rest == nullptr) continue;
    std::tm day = fields;
    std::time_t seconds = ::timegm(&day);
    if (day.tm_mday != fields.tm_mday || fields.tm_sec > 59) break;  // such as February 30
    if (*rest == '\0') {
      fields.tm_isdst = -1;
      seconds = std::mktime(&fields);
    } else {
      std::tm zone = {};
      rest = ::strptime(rest, " %z", &zone);
      if (rest == nullptr || *rest != '\0') continue;
      seconds -= zone.tm_gmtoff;
    }
    if (seconds < 1 || seconds > latest_second) break;
    return std::int64_t{seconds} * 1'000'000'000;
  }
  return usage_error(
      fmt::format("{} {}: is no time since 1970, such as 2026-11-23, '2026-11-23 14:05', 2026-11-23T14:05:59Z or "
                  "1795442759 seconds",
                  option, text));
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

// --- Snapshots -------------------------------------------------------------------------------------------------------

void snapshot_options::add_to(option_list& options) {
  options.add_value("--host", hosts_, "HOST", "Look only at snapshots of this host");
  options.add_value("--path", paths_, "PATH", "Look only at snapshots with this absolute path");
  options.add_value("--tag", tags_, "TAG,...", "Look only at snapshots that have all of the tags");
}

snapshot_filter snapshot_options::filter() const {
  snapshot_filter filter{.hosts = hosts_, .paths = paths_};
  for (const std::string& each : tags_) filter.tags.push_back(words_of(each));
  return filter;
}

result<chosen_snapshots> choose_snapshots(const console& say, backup_store& store, const std::vector<std::string>& ids,
                                          const snapshot_filter& filter) {
  chosen_snapshots chosen;
  if (ids.empty()) {
    CUTPOINT_TRY(chosen.snapshots, store.snapshots([&](const std::string& object, const status& why) {
      say.error(problem_text(object, why));
      chosen.is_whole = false;
    }));
    std::erase_if(chosen.snapshots, [&](const store_snapshot& each) { return !filter.matches(each); });
  }
  if (ids.empty()) return chosen;
  CUTPOINT_TRY(auto named, store.find_snapshots(ids, filter));
  std::set<std::string> chosen_ids;
  for (result<store_snapshot>& each : named) {
    if (!each) {
      say.error(each.error().message());
      chosen.is_whole = false;
    } else if (chosen_ids.insert(each->id).second) {
      chosen.snapshots.push_back(std::move(*each));
    }
  }
  return chosen;
}

std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> words;
  for (;;) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view word = list.substr(0, comma);
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    words.emplace_back(word);
    if (comma == list.size()) return words;
    list.remove_prefix(comma + 1);
  }
}

result<snapshot_grouping> checked_grouping(const std::string& list) {
  snapshot_grouping grouping{.uses_host = false, .uses_paths = false, .uses_tags = false};
  for (const std::string& each : words_of(list)) {
    if (each == "host" || each == "hosts") {
      grouping.uses_host = true;
    } else if (each == "path" || each == "paths") {
      grouping.uses_paths = true;
    } else if (each == "tag" || each == "tags") {
      grouping.uses_tags = true;
    } else if (!each.empty()) {
      return usage_error(fmt::format("--group-by {}: {} is not one of host, paths and tags", list, each));
    }
  }
  return grouping;
}

std::string heading_of(const snapshot_group& group) {
  std::string text = "snapshots";
  if (!group.host.empty()) text += " of " + group.host;
  if (!group.paths.empty()) text += fmt::format(" with {}", fmt::join(group.paths, " "));
  if (!group.tags.empty()) text += fmt::format(" tagged {}", fmt::join(group.tags, ", "));
  return printable(text) + ":\n";
}

result<snapshot_path> find_snapshot_path(backup_store& store, const std::string& text, const snapshot_options& among) {
  const std::size_t colon = text.find(':');
  auto snapshot = store.find_snapshot(text.substr(0, colon), among.filter());
  if (!snapshot && snapshot.error().code() == status_code::invalid_argument) {
    return status(status_code::invalid_argument, snapshot.error().message() + "; 'cutpoint snapshots' shows all");
  }
  CUTPOINT_RETURN_IF_FAILED(snapshot ? status() : snapshot.error());
  return snapshot_path{*std::move(snapshot), colon == std::string::npos ? std::string() : text.substr(colon + 1)};
}

// --- Back ends and threads -------------------------------------------------------------------------------------------

void store_lanes::add_to(option_list& options) {
  lanes_.add_to(options);
  segments_.add_size_to(options);
}

status store_lanes::start() {
  feed_options feed{.cuts =
                        catalog().front().defaults};  // those of the store are not known yet, and do not matter here
  engine_options engine;
  CUTPOINT_RETURN_IF_FAILED(lanes_.set(feed, engine));
  CUTPOINT_RETURN_IF_FAILED(segments_.set(feed));
  CUTPOINT_TRY(auto threads, engine::make(engine));
  const status usable = threads.check_devices(feed);
  threads_ = std::move(threads);
  checked_ = {.where = feed.where,
              .devices = std::move(feed.devices),
              .device_memory_bytes = feed.device_memory_bytes,
              .segment_bytes = feed.segment_bytes,
              .batch_bytes = feed.batch_bytes};
  return usable;
}

store_lane_options store_lanes::lanes_for(const backup_store& store, const console& say) const {
  store_lane_options lanes = checked_;
  lanes.rates = expected_rates(store.job(lanes), threads_->thread_count(), say);
  return lanes;
}

}  // namespace cutpoint::cli
