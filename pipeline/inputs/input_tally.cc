// The tally of inputs. It numbers the kinds of files in the order in which they first occur.
#include <cutpoint/input_tally.h>

namespace cutpoint {

input_tally::input_tally(fingerprint_kind fingerprint) : tally_(fingerprint, [this](std::uint64_t) { return kind_; }) {}

std::vector<std::string> input_tally::kind_names() const {
  std::vector<std::string> names(kinds_.size());
  for (const auto& [name, number] : kinds_) names[number] = name;
  return names;
}

std::string input_tally::kind_of(const std::string& path) const { return kind_of_file(path); }

status input_tally::begin_input(std::uint64_t stream, const std::string& path) {
  kind_ = kinds_.try_emplace(kind_of(path), kinds_.size()).first->second;
  return tally_.begin_stream(stream);
}

status input_tally::end_input(std::uint64_t stream, const status& outcome) {
  return tally_.end_stream(stream, outcome);
}

}  // namespace cutpoint
