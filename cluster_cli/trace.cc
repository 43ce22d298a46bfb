// `cutpoint-cluster trace`: writes the chunks of listings of `cutpoint chunk` as a chunk trace.
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include <cutpoint/cluster/chunk_trace.h>
#include <cutpoint/dedup.h>
#include <fmt/format.h>

#include "cli/chunk/listing.h"
#include "cli/common/output.h"
#include "cli/options/chunking_options.h"
#include "cluster_cli/subcommands.h"
#include "cluster_cli/trace_files.h"

namespace cutpoint::cli {

namespace {

class trace_command final : public subcommand {
 public:
  void add_options(option_list& options) override;
  result<exit_code> run() override;

 private:
  [[nodiscard]] std::string class_of(const std::string& path, const chunking_context& context) const;
  [[nodiscard]] status write_listing(listing_reader& listing, const chunking_context& context, std::uint32_t client,
                                     cluster::chunk_trace_writer& writer) const;

  std::vector<std::string> listings_ = {"-"};
  std::string class_;
  context_option context_;
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

void trace_command::add_options(option_list& options) {
  options.add_argument(
      "LISTING", listings_,
      "What `cutpoint chunk` printed in the format text or jsonl, in the order of the trace; '-' is standard "
      "input, and the default");
  option& one_class = options.add_value("--class", class_, "CLASS",
                                        "Application class of all files; without it, a file's class is its extension");
  context_
      .add_to(options,
              "Classes are those of a context, and the chunks those of the listings: 'prune', or a file with rules")
      .excludes(one_class);
  options.add_value("--client", client_, "N", "Number of the client whose files they are");
  output_.add_to(options);
  options.add_quiet(verbosity_);
}

result<exit_code> trace_command::run() {
  const console say(verbosity_);
  CUTPOINT_TRY(const auto client, checked_number("--client", client_, 0, std::numeric_limits<std::uint32_t>::max()));
  CUTPOINT_TRY(const auto context, context_.checked());
  std::vector<listing_reader> listings;
  for (const std::string& each : listings_) {
    CUTPOINT_TRY(auto listing, listing_reader::open(each, &interruption()));
    listings.push_back(std::move(listing));
  }
  CUTPOINT_TRY(auto out, output_.open());
  for (const std::string& each : listings_) {
    if (each == "-" || !out.is_same_file(each)) continue;
    return usage_error(fmt::format("{}: is a listing, and the trace would be written over it", each));
  }
  return write_trace(out, say, [&](cluster::chunk_trace_writer& writer) {
    status outcome;
    for (listing_reader& each : listings) {
      if (outcome.ok()) outcome = write_listing(each, context.rules, static_cast<std::uint32_t>(client), writer);
    }
    return outcome;
  });
}

std::string trace_command::class_of(const std::string& path, const chunking_context& context) const {
  if (!class_.empty()) return class_;
  return context_.is_given() ? std::string(context.class_name(context.rule_of(path))) : kind_of_file(path);
}

status trace_command::write_listing(listing_reader& listing, const chunking_context& context, std::uint32_t client,
                                    cluster::chunk_trace_writer& writer) const {
  for (;;) {
    CUTPOINT_TRY(const auto listed, listing.next());
    if (!listed) return {};
    const listed_chunk& each = *listed;
    if (each.where.offset == 0) CUTPOINT_RETURN_IF_FAILED(writer.begin_file(class_of(each.path, context), client));
    CUTPOINT_TRY(const auto chunk, routed_chunk_of(each));
    CUTPOINT_RETURN_IF_FAILED(writer.add(chunk));
  }
}

std::unique_ptr<subcommand> make_trace_command() { return std::make_unique<trace_command>(); }

}  // namespace cutpoint::cli
