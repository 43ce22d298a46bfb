// Fuzz target for parsers of sizes, numbers, fingerprints, canonical strings, and names with settings. Nothing may
// crash. Accepted text must be the same after it is written and read again, and accepted parameters must cut a small
// stream.
#include <string_view>

#include <cutpoint/catalog.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/text.h>

#include "tests/fuzz/fuzzed_choices.h"
#include "tests/host/support/faults.h"
#include "tests/host/support/streams.h"

namespace cutpoint::tests {
namespace {

const std::vector<std::uint8_t>& small_stream() {
  static const std::vector<std::uint8_t> stream = [] {
    seeded_choices random(1);
    return make_stream(content::mixed, 700, random);
  }();
  return stream;
}

void check_accepted(const chunker& chunker) {
  const auto again = parse_canonical(chunker.canonical());
  require(again.ok() && again->canonical() == chunker.canonical(), "not read back: " + chunker.canonical());
  require(again->parameters() == chunker.parameters(), "other parameters: " + chunker.canonical());
  require_no_fault(cover_fault(chunker, chunker.find_cuts(small_stream()), small_stream().size()));
}

void require_message(const status& error) {
  require(!error.ok() && !error.message().empty(), "an error without a message");
}

/// Tests text of the form "name key=value key=value".
void check_named(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(' '));
  std::vector<parameter_setting> settings;
  for (text.remove_prefix(name.size()); !text.empty();) {
    text.remove_prefix(1);
    const std::string_view setting = text.substr(0, text.find(' '));
    const std::string_view key = setting.substr(0, setting.find('='));
    const std::string_view value = setting.substr(std::min(setting.size(), key.size() + 1));
    settings.push_back({std::string(key), std::string(value)});
    text.remove_prefix(setting.size());
  }
  const auto chunker_or_error = make_chunker(name, settings);
  chunker_or_error.ok() ? check_accepted(chunker_or_error->chunker) : require_message(chunker_or_error.error());
}

void check_text(std::string_view text) {
  if (const auto size = parse_size(text); size.ok()) {
    require(*parse_size(format_size(*size)) == *size, "a size is not read back");
  } else {
    require_message(size.error());
  }
  if (const auto number = parse_number(text); number.ok()) {
    require(*parse_number(std::to_string(*number)) == *number, "a number is not read back");
  } else {
    require_message(number.error());
  }
  if (const auto kind = parse_fingerprint(text); !kind.ok()) require_message(kind.error());
  const auto canonical = parse_canonical(text);
  canonical.ok() ? check_accepted(*canonical) : require_message(canonical.error());
  check_named(text);
}

}  // namespace
}  // namespace cutpoint::tests

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  cutpoint::tests::check_text({reinterpret_cast<const char*>(data), size});
  return 0;
}
