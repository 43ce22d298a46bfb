// Combines the groups of options, and checks that a chunk fits into the memory that they allow.
#include "cli/options/chunking_options.h"

#include <algorithm>
#include <utility>

#include <cutpoint/cut_stream.h>
#include <fmt/format.h>

#include "cli/common/options.h"

namespace cutpoint::cli {

void chunking_options::add_to(option_list& options) {
  cuts_.add_to(options);
  cuts_.add_key_to(options);
  hash_.add_to(options);
  lanes_.add_to(options);
  options.add_value("--memory", memory_, "SIZE", "Most bytes of the streams to hold in memory (default: 256M)");
  segments_.add_to(options);
}

result<std::uint64_t> chunking_options::checked_memory() const {
  return memory_ ? checked_size("--memory", *memory_, 0) : stream_limits().memory_bytes;
}

status chunking_options::use(const std::string& canonical, const std::string& fingerprint) {
  if (status cuts = cuts_.use(canonical); !cuts.ok()) return cuts;
  return hash_.use(fingerprint);
}

status chunking_options::use(const context_file& context, chunking& job) const {
  if (context.others && cuts_.is_given()) {
    return usage_error("the file of --context says how the other files are cut: no other option can");
  }
  if (context.others) job.feed.cuts = *context.others;
  job.feed.rule_cuts = context.rules.cuts();
  job.warnings.insert(job.warnings.end(), context.warnings.begin(), context.warnings.end());
  return {};
}

result<chunking> chunking_options::checked(std::string_view default_fingerprint) const {
  const auto secret = key();
  if (!secret) return secret.error();
  return checked(default_fingerprint, *secret, {});
}

result<chunking> chunking_options::checked(std::string_view default_fingerprint, const std::optional<secret_key>& key,
                                           const context_file& context) const {
  const auto fingerprint = hash_.checked(default_fingerprint);
  if (!fingerprint) return fingerprint.error();
  const bool is_for_rules = std::ranges::any_of(context.rules.cuts(), takes_secret_key) ||
                            (context.others && takes_secret_key(*context.others));
  auto cuts = cuts_.checked(key, is_for_rules);
  if (!cuts) return cuts.error();
  const auto memory = checked_memory();
  if (!memory) return memory.error();
  chunking job{.feed = {.cuts = cuts->chunker, .fingerprint = *fingerprint, .memory_bytes = *memory},
               .engine = {},
               .warnings = std::move(cuts->warnings)};
  if (status lanes = lanes_.set(job.feed, job.engine); !lanes.ok()) return lanes;
  if (status segments = segments_.set(job.feed); !segments.ok()) return segments;
  const status enough_memory = check_memory(job.feed.cuts, {.memory_bytes = *memory});
  if (enough_memory.ok()) return job;
  return usage_error(fmt::format("{}: increase --memory or choose smaller chunks", enough_memory.message()));
}

}  // namespace cutpoint::cli
