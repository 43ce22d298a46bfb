// The tally of inputs. It numbers the kinds of files in the order in which they first occur.
#include <cutpoint/input_tally.h>

namespace cutpoint {

input_tally::input_tally(fingerprint_kind fingerprint, chunking_context context)
    : context_(std::move(context)), tally_(fingerprint, [this](std::uint64_t) { return kind_; }) {}

std::vector<std::string> input_tally::kind_names() const {
  std::vector<std::string> names(kinds_.size());
  for (const auto& [kind, number] : kinds_) names[number] = kind.second;
  return names;
}

std::vector<std::size_t> input_tally::kind_rules() const {
  std::vector<std::size_t> rules(kinds_.size());
  for (const auto& [kind, number] : kinds_) rules[number] = kind.first;
  return rules;
}

std::string input_tally::kind_of(const std::string& path) const { return kind_of_file(path); }

status input_tally::begin_input(std::uint64_t stream, const std::string& path) {
  kind_ = kinds_.try_emplace({context_.rule_of(path), kind_of(path)}, kinds_.size()).first->second;
  return tally_.begin_stream(stream);
}

status input_tally::end_input(std::uint64_t stream, const status& outcome) {
  return tally_.end_stream(stream, outcome);
}

}  // namespace cutpoint
