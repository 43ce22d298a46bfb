// The groups, and the memory that all of them must fit in.
#include "cli/common/chunking_options.h"

#include <utility>

#include <cutpoint/cut_stream.h>
#include <cutpoint/text.h>
#include <fmt/format.h>

#include "cli/common/number_options.h"

namespace cutpoint::cli {

void chunking_options::add_to(CLI::App& command) {
  cuts_.add_to(command);
  hash_.add_to(command);
  lanes_.add_to(command);
  command.add_option("--memory", memory_, "Most bytes of the streams that are held at a time (default: 256M)")
      ->type_name("SIZE");
  segments_.add_to(command);
}

result<std::uint64_t> chunking_options::checked_memory() const {
  return memory_ ? named("--memory", parse_size(*memory_)) : stream_limits().memory_bytes;
}

result<chunking> chunking_options::checked(std::string_view default_fingerprint) const {
  const auto fingerprint = hash_.checked(default_fingerprint);
  if (!fingerprint) return fingerprint.error();
  auto cuts = cuts_.checked();
  if (!cuts) return cuts.error();
  const auto memory = checked_memory();
  if (!memory) return memory.error();
  chunking made{.feed = {.cuts = std::move(cuts->chunker), .fingerprint = *fingerprint, .memory_bytes = *memory},
                .engine = {},
                .warnings = std::move(cuts->warnings)};
  if (status lanes = lanes_.set(made.feed, made.engine); !lanes.ok()) return lanes;
  if (status segments = segments_.set(made.feed); !segments.ok()) return segments;
  const status held = check_memory(made.feed.cuts, {.memory_bytes = *memory});
  if (held.ok()) return made;
  return status(status_code::invalid_argument,
                fmt::format("{}: a larger --memory, or smaller chunks, are needed", held.message()));
}

}  // namespace cutpoint::cli
