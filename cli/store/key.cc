// `cutpoint key`: lists, adds and removes keys of an encrypted store.
#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "cli/common/output.h"
#include "cli/store_options/store_options.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

constexpr std::array<std::string_view, 4> actions = {"list", "add", "remove", "passwd"};

class key_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  [[nodiscard]] exit_code list(backup_store& store, const console& say) const;
  /// Adds a key. Removes the one that opened the store if `replaces`.
  [[nodiscard]] result<exit_code> add(backup_store& store, bool replaces, const console& say) const;
  [[nodiscard]] exit_code remove(backup_store& store, const console& say) const;

  store_options store_;
  std::string action_;
  std::string id_;
  secret_options new_secret_;
};

}  // namespace

void key_command::add_options(option_list& options) {
  options.add_argument("ACTION", action_, "list, add, remove or passwd, which replaces the key that was given")
      .required();
  options.add_argument("KEY", id_, "Key to remove: the beginning of its id");
  store_.add_to(options);
  new_secret_.add_to(options, "new-", "the new key");
}

result<exit_code> key_command::run() {
  const console say(verbosity::normal);
  if (std::ranges::count(actions, action_) == 0) {
    return usage_error(fmt::format("{}: the actions are {}", action_, fmt::join(actions, ", ")));
  }
  const bool adds = action_ == "add" || action_ == "passwd";
  if (adds ? !new_secret_.is_given() && !new_secret_.can_ask() : new_secret_.is_given()) {
    return usage_error(action_ + (adds ? ": give --new-password-file, --new-password-command or --new-key-file"
                                       : " makes no new key"));
  }
  if ((action_ == "remove") == id_.empty()) {
    return usage_error(action_ + (id_.empty() ? ": give the begin of a key's id" : " takes no key"));
  }
  CUTPOINT_TRY(auto store, store_.open_for_writing());
  if (adds) return add(store, action_ == "passwd", say);
  return action_ == "list" ? list(store, say) : remove(store, say);
}

exit_code key_command::list(backup_store& store, const console& say) const {
  const auto all = store.keys();
  if (!all) return fail(say, all.error());
  std::string text;
  for (const store_key& each : *all) {
    text += fmt::format("{}  {}{}\n", each.id, each.kind == store_secret::kind::password ? "password" : "key file",
                        each.is_used ? "  used now" : "");
  }
  return write_all(output_option(), text, say);
}

result<exit_code> key_command::add(backup_store& store, bool replaces, const console& say) const {
  const auto before = store.keys();
  if (!before) return fail(say, before.error());
  CUTPOINT_TRY(const auto secret, new_secret_.is_given() ? new_secret_.read() : secret_options::ask_new("the new key"));
  const auto id = store.add_key(secret);
  if (!id) return fail(say, id.error());
  const auto used = std::ranges::find(*before, true, &store_key::is_used);
  if (replaces && used != before->end()) {
    if (const status removed = store.remove_key(used->id); !removed.ok()) return fail(say, removed);
  }
  return write_all(output_option(), *id + '\n', say);
}

exit_code key_command::remove(backup_store& store, const console& say) const {
  const auto all = store.keys();
  if (!all) return fail(say, all.error());
  std::vector<std::string> ids;
  for (const store_key& each : *all) ids.push_back(each.id);
  const auto id = id_that_begins(id_, ids, "key");
  if (!id) return fail(say, id.error());
  const status removed = store.remove_key(*id);
  return removed.ok() ? exit_code::done : fail(say, removed);
}

std::unique_ptr<subcommand> make_key_command() { return std::make_unique<key_command>(); }

}  // namespace cutpoint::cli
