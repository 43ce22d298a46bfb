#include "bindings/python/process.h"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>

namespace cutpoint::python {

namespace {

/// The longest time that an exit waits for calls. All work ends soon after its cancellation unless a system call blocks.
constexpr std::chrono::seconds longest_wait{5};

struct process_state {
  std::mutex engines_mutex;
  std::map<std::uint64_t, std::shared_ptr<engine>> engines;

  std::mutex calls_mutex;
  std::condition_variable call_returned;
  std::uint64_t running_calls = 0;
  std::set<cancellation*> cancellations;
};

/// The state is never destroyed: at exit its threads may be asleep, and after a fork they do not exist.
process_state*& state() {
  static process_state* all = new process_state;
  return all;
}

}  // namespace

result<std::shared_ptr<engine>> find_engine(const thread_choice& chosen) {
  if (chosen.owned != nullptr) return chosen.owned;
  process_state& all = *state();
  const std::lock_guard lock(all.engines_mutex);
  std::shared_ptr<engine>& known = all.engines[chosen.count];
  if (known == nullptr) {
    auto new_engine = engine::make({.threads = chosen.count});
    if (!new_engine) return new_engine.error();
    known = std::make_shared<engine>(*std::move(new_engine));
  }
  return known;
}

own_engine::own_engine(std::uint64_t threads, std::uint64_t thread_limit, std::uint64_t memory_bytes)
    : engine_(std::make_unique<std::shared_ptr<engine>>(std::make_shared<engine>(value_or_raise(
          engine::make({.threads = threads, .thread_limit = thread_limit, .memory_bytes = memory_bytes}))))) {}

thread_choice make_thread_choice(nb::handle threads) {
  if (!nb::isinstance<own_engine>(threads)) return {.count = nb::cast<std::uint64_t>(threads), .owned = nullptr};
  return {.owned = nb::cast<own_engine&>(threads).get()};
}

process_cancellation::process_cancellation() {
  const std::lock_guard lock(state()->calls_mutex);
  state()->cancellations.insert(this);
}

process_cancellation::~process_cancellation() {
  const std::lock_guard lock(state()->calls_mutex);
  state()->cancellations.erase(this);
}

running_call::running_call() {
  const std::lock_guard lock(state()->calls_mutex);
  ++state()->running_calls;
}

running_call::~running_call() {
  const std::lock_guard lock(state()->calls_mutex);
  --state()->running_calls;
  state()->call_returned.notify_all();
}

void end_calls() noexcept {
  process_state& all = *state();
  std::unique_lock lock(all.calls_mutex);
  for (cancellation* each : all.cancellations) each->request();
  all.call_returned.wait_for(lock, longest_wait, [&] { return all.running_calls == 0; });
}

void forget_threads() { state() = new process_state; }

}  // namespace cutpoint::python
