// `cutpoint dump`: writes a file of a snapshot, or a folder as an archive, to standard output.
#include <utility>

#include <cutpoint/store_view.h>
#include <unistd.h>

#include "cli/common/output.h"
#include "cli/store/tar_archive.h"
#include "cli/store_options/store_options.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

constexpr std::uint64_t view_memory_bytes = 64 * MiB;
constexpr std::size_t read_bytes = MiB;

class dump_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  store_options store_;
  snapshot_options among_;
  std::string what_;
  output_option output_;
  verbosity verbosity_ = verbosity::normal;
};

status write_file(store_view& view, const viewed_file& file, output& out) {
  std::vector<std::uint8_t> block(read_bytes);
  for (std::uint64_t offset = 0;;) {
    CUTPOINT_TRY(const auto count, view.read(file, offset, block));
    if (count == 0) return {};
    if (interruption().is_requested()) return stopped_as_asked();
    CUTPOINT_RETURN_IF_FAILED(out.write({reinterpret_cast<const char*>(block.data()), count}));
    offset += count;
  }
}

}  // namespace

void dump_command::add_options(option_list& options) {
  options.add_argument("FILE", what_, "File or folder, as SNAPSHOT[:PATH]; 'latest' is the newest snapshot").required();
  store_.add_to(options);
  among_.add_to(options);
  output_.add_to(options);
  options.add_verbosity(verbosity_);
}

result<exit_code> dump_command::run() {
  const console say(verbosity_);
  CUTPOINT_TRY(auto store, store_.open());
  const auto which = find_snapshot_path(store, what_, among_);
  if (!which) return fail(say, which.error());
  auto view = store_view::make(std::move(store), {.memory_bytes = view_memory_bytes});
  if (!view) return fail(say, view.error());
  const auto file = view->find(which->snapshot.id, which->path);
  if (!file) return fail(say, file.error());
  const bool is_folder = file->metadata().kind == file_kind::directory;
  auto out = output_.open();
  if (!out) return fail(say, out.error());
  if (is_folder && out->is_terminal()) {
    return usage_error(what_ + ": it is a folder, and an archive is not written to a terminal: give --output");
  }
  problem_log problems(say, verbosity_);
  status written = out->begin();
  if (written.ok() && is_folder) {
    written = write_tar(
        *view, *file, *out, [&](const std::string& path, const status& why) { problems.add(path, why); },
        [&](const std::string& path, const status& why) { say.warning(problem_text(path, why)); }, &interruption());
  } else if (written.ok()) {
    written = write_file(*view, *file, *out);
  }
  problems.finish();
  if (written.ok()) written = out->finish();
  if (!written.ok()) return fail(say, written);
  return problems.count() == 0 ? exit_code::done : exit_code::input_failed;
}

std::unique_ptr<subcommand> make_dump_command() { return std::make_unique<dump_command>(); }

}  // namespace cutpoint::cli
