// `cutpoint ls`: lists the files of a snapshot.
#include <map>

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>

#include "cli/common/output.h"
#include "cli/store_options/store_options.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

/// Returns "drwxr-xr-x".
std::string mode_text(const stored_file& file) {
  constexpr std::string_view letters = "rwxrwxrwx";
  std::string text(1, "d-lpscb"[static_cast<std::size_t>(file.kind)]);  // in the order of file_kind
  for (std::size_t i = 0; i < letters.size(); ++i) {
    text += (file.permissions >> (letters.size() - 1 - i) & 1U) != 0 ? letters[i] : '-';
  }
  const auto mark = [&](mode_t bit, std::size_t place, char executable, char other) {
    if ((file.permissions & bit) != 0) text[place] = text[place] == 'x' ? executable : other;
  };
  mark(S_ISUID, 3, 's', 'S');
  mark(S_ISGID, 6, 's', 'S');
  mark(S_ISVTX, 9, 't', 'T');
  return text;
}

/// Names of users and groups as this machine has them, or their numbers.
class owner_names {
 public:
  const std::string& user(std::uint32_t id) {
    return name_in(
        users_, id, [&] { return ::getpwuid(id); }, &passwd::pw_name);
  }
  const std::string& group(std::uint32_t id) {
    return name_in(
        groups_, id, [&] { return ::getgrgid(id); }, &::group::gr_name);
  }

 private:
  template <class Find, class Row>
  static const std::string& name_in(std::map<std::uint32_t, std::string>& names, std::uint32_t id, Find&& find,
                                    char* Row::*name) {
    const auto [entry, is_new] = names.try_emplace(id);
    if (is_new) {
      const Row* const row = find();
      entry->second = row != nullptr ? printable(row->*name) : fmt::format("{}", id);
    }
    return entry->second;
  }

  std::map<std::uint32_t, std::string> users_;
  std::map<std::uint32_t, std::string> groups_;
};

std::string json_of(const stored_file& file) {
  json record;
  add_text(record, "path", file.path);
  record.update({{"kind", to_string(file.kind)},
                 {"permissions", file.permissions},
                 {"user", file.user_id},
                 {"group", file.group_id},
                 {"size", file.size},
                 {"modified", file.modified.tv_sec},
                 {"modified_nanoseconds", file.modified.tv_nsec}});
  add_text(record, "target", file.target);
  return json_line(record);
}

class ls_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  store_options store_;
  snapshot_options among_;
  std::string what_;
  owner_names owners_;
  bool is_long_ = false;
  bool is_human_ = false;
  bool is_json_ = false;

  [[nodiscard]] std::string line_of(const stored_file& file);
};

}  // namespace

std::string ls_command::line_of(const stored_file& file) {
  if (is_json_) return json_of(file);
  if (file.path == "/") return {};  // which no backup has stored
  if (!is_long_) return printable(file.path) + '\n';
  return fmt::format("{} {:8} {:8} {:>12} {} {}{}\n", mode_text(file), owners_.user(file.user_id),
                     owners_.group(file.group_id),
                     is_human_ ? human_bytes(as_double(file.size)) : fmt::format("{}", file.size),
                     local_time(std::int64_t{file.modified.tv_sec} * 1'000'000'000), printable(file.path),
                     file.target.empty() ? "" : " -> " + printable(file.target));
}

void ls_command::add_options(option_list& options) {
  options.add_argument("SNAPSHOT", what_, "Snapshot, as SNAPSHOT[:PATH]; 'latest' is the newest").required();
  store_.add_to(options);
  among_.add_to(options);
  options.add_flag("-l,--long", is_long_, "Print modes, owners, sizes and times of modification, too");
  options.add_flag("--human-readable", is_human_, "With -l, print sizes as KiB, MiB and so on");
  options.add_flag("--json", is_json_, "Print a line of JSON for each file");
}

result<exit_code> ls_command::run() {
  const console say(verbosity::normal);
  CUTPOINT_TRY(auto store, store_.open());
  const auto which = find_snapshot_path(store, what_, among_);
  if (!which) return fail(say, which.error());
  auto out = output::open("");
  if (!out) return fail(say, out.error());
  status listed = store.list_files(which->snapshot.id, which->path.empty() ? "/" : which->path,
                                   [&](const stored_file& file) { return out->write(line_of(file)); });
  if (listed.ok()) listed = out->finish();
  return listed.ok() ? exit_code::done : fail(say, listed);
}

std::unique_ptr<subcommand> make_ls_command() { return std::make_unique<ls_command>(); }

}  // namespace cutpoint::cli
