// `cutpoint mount`: shows the snapshots of a store as folders.
#include <utility>

#include <fmt/format.h>

#include "cli/common/output.h"
#include "cli/mount/fuse_server.h"
#include "cli/store_options/store_options.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

class mount_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  store_options store_;
  std::string folder_;
  std::string memory_ = "256M";
  bool allows_others_ = false;
};

}  // namespace

void mount_command::add_options(option_list& options) {
  options.add_argument("MOUNTPOINT", folder_, "Folder to show the snapshots in").required();
  store_.add_to(options);
  options.add_flag("--allow-other", allows_others_, "Let other users in, as the modes of the stored files say");
  options.add_value("--memory", memory_, "SIZE", "Memory for what was read last");
}

result<exit_code> mount_command::run() {
  const console say(verbosity::normal);
  CUTPOINT_TRY(const auto memory, checked_size("--memory", memory_, 8 * MiB));
  CUTPOINT_TRY(auto store, store_.open());
  auto view = store_view::make(std::move(store), {.memory_bytes = memory});
  if (!view) return fail(say, view.error());
  const status served =
      serve(*view, folder_, allows_others_ ? mount_audience::all_users : mount_audience::own_user, say, [&] {
        static_cast<void>(write_all(
            output_option(), fmt::format("{}: mounted until it is unmounted or Ctrl-C is pressed\n", folder_), say));
      });
  return served.ok() ? exit_code::done : fail(say, served);
}

std::unique_ptr<subcommand> make_mount_command() { return std::make_unique<mount_command>(); }

}  // namespace cutpoint::cli
