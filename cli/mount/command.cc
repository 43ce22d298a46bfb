#include "cli/mount/command.h"

#include <utility>

#include <fmt/format.h>

#include "cli/common/option_values.h"
#include "cli/common/output.h"
#include "cli/mount/fuse_server.h"

namespace cutpoint::cli {

void mount_command::add_options(CLI::App& app) {
  app.add_option("MOUNTPOINT", folder_, "Folder to show the snapshots in")->required();
  store_.add_to(app);
  app.add_flag("--allow-other", allows_others_, "Let other users in, as the modes of the stored files say");
  add_value_option(app, "--memory", memory_, "SIZE", "Memory for what was read last");
}

exit_code mount_command::run() {
  const console say(verbosity::normal);
  const auto memory = checked_size("--memory", memory_, 8 * MiB);
  if (!memory) return say.refuse(memory.error());
  auto opened = store_.open();
  if (!opened) return say.refuse(opened.error());
  auto view = store_view::make(std::move(*opened), {.memory_bytes = *memory});
  if (!view) return fail(say, view.error());
  const status served =
      serve(*view, folder_, allows_others_ ? mount_audience::all_users : mount_audience::own_user, say, [&] {
        static_cast<void>(write_all(
            output_option(), fmt::format("{}: mounted until it is unmounted or Ctrl-C is pressed\n", folder_), say));
      });
  return served.ok() ? exit_code::done : fail(say, served);
}

}  // namespace cutpoint::cli
