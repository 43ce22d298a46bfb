// The receiver of inputs. It finds the input of each stream that is delivered.
#include <utility>

#include <cutpoint/inputs.h>
#include <fmt/format.h>

namespace cutpoint {

std::uint64_t input_receiver::push(entry next) {
  const std::lock_guard lock(mutex_);
  entries_.push_back(std::move(next));
  return first_ + entries_.size() - 1;
}

std::uint64_t input_receiver::add(std::string path) { return push({std::move(path), meaning::input}); }

std::uint64_t input_receiver::add_failure(std::string path, failure_kind kind) {
  return push({std::move(path), kind == failure_kind::fed ? meaning::failure_of_last : meaning::failure});
}

input_receiver::entry input_receiver::find(std::uint64_t stream) {
  const std::lock_guard lock(mutex_);
  return entries_[stream - first_];
}

void input_receiver::drop_until(std::uint64_t stream) {
  const std::lock_guard lock(mutex_);
  for (; first_ <= stream; ++first_) entries_.pop_front();
}

status input_receiver::begin_stream(std::uint64_t stream) {
  const entry begun = find(stream);
  return begun.means == meaning::input ? begin_input(stream, begun.path) : status();
}

status input_receiver::end_stream(std::uint64_t stream, const status& outcome) {
  const entry ended = find(stream);
  drop_until(stream);
  if (ended.means == meaning::input) {
    if (status passed = end_input(stream, outcome); !passed.ok()) return passed;
  }
  if (outcome.code() == status_code::cancelled) return {};
  if (outcome.ok()) {
    ++done_count_;
    return {};
  }
  if (ended.means == meaning::failure_of_last) --done_count_;
  ++failed_count_;
  if (outcome.code() == status_code::io_error) return input_failed(ended.path, outcome);  // it names the path
  return input_failed(ended.path, {outcome.code(), fmt::format("{}: {}", ended.path, outcome.message())});
}

}  // namespace cutpoint
