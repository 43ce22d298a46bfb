// `cutpoint dump`: writes a file of a snapshot to standard output.
#include <limits>
#include <memory>
#include <string>

#include "cli/common/option_values.h"
#include "cli/common/output.h"
#include "cli/common/snapshot_options.h"
#include "cli/common/store_options.h"
#include "cli/subcommands.h"

namespace cutpoint::cli {

namespace {

class dump_command final : public subcommand {
 public:
  void add_options(CLI::App& app) override;
  exit_code run() override;

 private:
  store_options store_;
  snapshot_options among_;
  std::string what_;
  output_option output_;
};

}  // namespace

void dump_command::add_options(CLI::App& app) {
  app.add_option("FILE", what_, "File, as SNAPSHOT:PATH; 'latest' is the newest snapshot")->required();
  store_.add_to(app);
  among_.add_to(app);
  output_.add_to(app);
}

exit_code dump_command::run() {
  const console say(verbosity::normal);
  if (what_.find(':') == std::string::npos) return say.refuse(usage_error(what_ + ": give SNAPSHOT:PATH"));
  auto store = store_.open();
  if (!store) return say.refuse(store.error());
  const auto which = find_snapshot_path(*store, what_, among_);
  if (!which) return fail(say, which.error());
  auto out = output_.open();
  if (!out) return fail(say, out.error());
  status written = out->begin();
  if (written.ok()) {
    written = store->read_file(which->snapshot.id, which->path, 0, std::numeric_limits<std::uint64_t>::max(),
                               [&](byte_span bytes) {
                                 return out->write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
                               });
  }
  if (written.ok()) written = out->finish();
  return written.ok() ? exit_code::done : fail(say, written);
}

std::unique_ptr<subcommand> make_dump_command() { return std::make_unique<dump_command>(); }

}  // namespace cutpoint::cli
