#include "bindings/python/tree_feeder.h"

#include <chrono>
#include <utility>

#include <cutpoint/dedup.h>

namespace cutpoint::python {

namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begun) { return std::chrono::duration<double>(clock::now() - begun).count(); }

}  // namespace

template <class Doing>
auto tree_feeder::timed(Doing&& doing) {
  const clock::time_point begun = clock::now();
  auto outcome = std::forward<Doing>(doing)();
  reading_.seconds += seconds_since(begun);
  return outcome;
}

/// A file whose reading is timed.
class tree_feeder::timed_source final : public source {
 public:
  timed_source(tree_feeder& by, source& from) : by_(by), from_(from) {}

  result<std::size_t> read(std::span<std::uint8_t> into) override {
    auto count = by_.timed([&] { return from_.read(into); });
    if (count) by_.reading_.bytes += *count;
    return count;
  }
  result<std::uint64_t> skip_hole() override {
    return by_.timed([&] { return from_.skip_hole(); });
  }

 private:
  tree_feeder& by_;
  source& from_;
};

status tree_feeder::feed_all(const std::vector<std::string>& paths, symlinks links) {
  status outcome;
  for (const std::string& path : paths) {
    if (outcome.ok()) outcome = visit(path, links);
  }
  while (outcome.ok() && !ahead_.empty()) outcome = feed_next();
  return outcome.ok() ? into_.finish() : outcome;
}

/// As many files as are read at once wait; the walk is ahead of them.
status tree_feeder::visit(const std::string& path, symlinks links) {
  double feeding_seconds = 0;
  const auto file = [&](const std::string& found) {
    reader_.add(found);
    ahead_.push_back([this, found] { return feed_file(found); });
    const clock::time_point begun = clock::now();
    status outcome;
    while (outcome.ok() && reader_.is_full()) outcome = feed_next();
    feeding_seconds += seconds_since(begun);
    return outcome;
  };
  const auto problem = [&](const std::string& found, const status& why) {
    ahead_.push_back([this, found, why] { return fail(found, why); });
    return status();
  };
  const auto skipped = [](const std::string&, std::string_view) {};
  const clock::time_point begun = clock::now();
  status walked = walk(path, links, {.file = file, .skipped = skipped, .problem = problem}, &cancel_);
  reading_.seconds += seconds_since(begun) - feeding_seconds;
  return walked;
}

status tree_feeder::feed_next() {
  const std::function<status()> next = std::move(ahead_.front());
  ahead_.pop_front();
  return next();
}

status tree_feeder::feed_file(const std::string& path) {
  const auto opened = timed([&] { return reader_.next(); });
  if (!opened) return fail(path, opened.error());
  const std::size_t kind = kinds_.try_emplace(kind_of_file(path), kinds_.size()).first->second;
  timed_source from(*this, **opened);
  const status fed = feed_source(into_, kind, from);
  if (status failed = into_.failure(); !failed.ok()) return failed;
  if (!fed.ok()) return fail(path, fed);
  const status unchanged = timed([&] { return (*opened)->check_unchanged(); });
  if (!unchanged.ok()) return fail(path, unchanged);
  ++done_count_;
  return {};
}

status tree_feeder::fail(const std::string& path, const status& why) {
  if (why.code() == status_code::cancelled) return why;
  failures_.push_back({path, why});
  return {};
}

std::vector<std::string> tree_feeder::kind_names() const {
  std::vector<std::string> names(kinds_.size());
  for (const auto& [name, number] : kinds_) names[number] = name;
  return names;
}

}  // namespace cutpoint::python
