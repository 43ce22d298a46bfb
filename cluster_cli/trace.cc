// `cutpoint-cluster trace`: writes the chunks of a listing of `cutpoint chunk` as a chunk trace.
#include <array>
#include <limits>
#include <string_view>

#include <cutpoint/cluster/chunk_trace.h>
#include <cutpoint/dedup.h>
#include <cutpoint/text.h>
#include <fmt/format.h>

#include "cli/chunk/listing.h"
#include "cli/common/interrupt.h"
#include "cli/common/option_values.h"
#include "cli/common/output.h"
#include "cluster_cli/subcommands.h"

namespace cutpoint::cli {

namespace {

class trace_command final : public subcommand {
 public:
  void add_options(CLI::App& app) override;
  exit_code run() override;

 private:
  [[nodiscard]] status write_trace(listing_reader& listing, std::uint32_t client, output& out) const;

  std::string listing_ = "-";
  std::string class_;
  std::string client_ = "0";
  output_option output_;
  verbosity verbosity_ = verbosity::normal;
};

/// Returns a listed chunk as routing sees it. Errors: invalid_argument, for a chunk that has no digest of 8 bytes or that
/// is longer than a trace can say.
result<cluster::routed_chunk> routed_chunk_of(const listed_chunk& listed) {
  std::array<std::uint8_t, 8> first = {};
  if (!read_hex(std::string_view(listed.digest).substr(0, 2 * first.size()), first)) {
    return usage_error(
        fmt::format("{}: the listing has chunks without a fingerprint of at least 8 bytes", listed.path));
  }
  if (listed.where.length > std::numeric_limits<std::uint32_t>::max()) {
    return usage_error(fmt::format("{}: a chunk of {} bytes is longer than a chunk trace allows, which is {}",
                                   listed.path, listed.where.length, std::numeric_limits<std::uint32_t>::max()));
  }
  std::uint64_t fingerprint = 0;
  for (const std::uint8_t each : first) fingerprint = fingerprint << 8 | each;
  return cluster::routed_chunk{fingerprint, static_cast<std::uint32_t>(listed.where.length)};
}

}  // namespace

void trace_command::add_options(CLI::App& app) {
  app.add_option("LISTING", listing_,
                 "What `cutpoint chunk` printed in the format text or jsonl; '-' is standard input, and the default");
  add_value_option(app, "--class", class_, "CLASS",
                   "Application class of all files; without it, a file's class is its extension");
  add_value_option(app, "--client", client_, "N", "Number of the client whose files they are");
  output_.add_to(app);
  add_quiet(app, verbosity_);
}

exit_code trace_command::run() {
  const console say(verbosity_);
  const auto client = checked_number("--client", client_, 0, std::numeric_limits<std::uint32_t>::max());
  if (!client) return say.refuse(client.error());
  auto listing = listing_reader::open(listing_, &interruption());
  if (!listing) return say.refuse(listing.error());
  auto out = output_.open();
  if (!out) return say.refuse(out.error());
  if (out->is_terminal()) return say.refuse(usage_error("a chunk trace is not written to a terminal: give -o FILE"));
  if (listing_ != "-" && out->is_same_file(listing_)) {
    return say.refuse(usage_error(fmt::format("{}: is the listing, and the trace would be written over it", listing_)));
  }
  status outcome = out->begin();
  if (outcome.ok()) outcome = write_trace(*listing, static_cast<std::uint32_t>(*client), *out);
  if (outcome.ok()) outcome = out->finish();
  if (outcome.ok()) return exit_code::done;
  say.error(outcome.message());
  return outcome.code() == status_code::cancelled ? exit_code::interrupted : exit_code::input_failed;
}

status trace_command::write_trace(listing_reader& listing, std::uint32_t client, output& out) const {
  cluster::chunk_trace_writer writer([&](std::string_view bytes) { return out.write(bytes); });
  for (;;) {
    auto listed = listing.next();
    if (!listed) return listed.error();
    if (!*listed) return writer.finish();
    const listed_chunk& each = **listed;
    if (each.where.offset == 0) {
      const std::string kind = class_.empty() ? kind_of_file(each.path) : class_;
      if (const status begun = writer.begin_file(kind, client); !begun.ok()) return begun;
    }
    const auto chunk = routed_chunk_of(each);
    if (!chunk) return chunk.error();
    if (const status added = writer.add(*chunk); !added.ok()) return added;
  }
}

std::unique_ptr<subcommand> make_trace_command() { return std::make_unique<trace_command>(); }

}  // namespace cutpoint::cli
