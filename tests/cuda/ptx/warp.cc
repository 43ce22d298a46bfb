// Runs warps, blocks and launches.
#include "tests/cuda/ptx/warp.h"

#include <numeric>

namespace cutpoint::ptx {

block_memory::block_memory(device_memory& global, const launch& work)
    : shared(shared_begin, work.shared_bytes), parameters(0, work.parameters.size()), global_(global) {
  std::copy(work.parameters.begin(), work.parameters.end(), parameters.bytes(0));
}

warp::warp(const launch& work, block_memory& block_bytes, u32 block, u32 first_thread, u32 launched, u32& time)
    : memory(block_bytes),
      code_(work.code->code),
      registers_(work.code->registers),
      time_(time),
      clock_(block, first_thread, launched, time) {
  const auto fill = [&](special which, u32 value) { std::fill_n(lanes<u32>(which), 32, value); };
  std::iota(lanes<u32>(tid_x), lanes<u32>(tid_x) + 32, first_thread);
  fill(ntid_x, work.threads);
  fill(ctaid_x, block);
  fill(nctaid_x, work.blocks);
}

void warp::pass_barrier() {
  at_barrier_ = false;
  next_ = nowhere;
  active_ = all_lanes;
  clock_.synchronise(thread_clock::same_block, time_);
}

warp::state warp::run() {
  for (;;) {
    while (at_ < next_) {
      const instruction& now = code_[at_++];
      try {
        now.run(*this, now);
      } catch (const fault& f) {
        throw fault(std::string(f.what()) + ": \"" + std::string(now.text) + "\"");
      }
    }
    if (at_barrier_) return state::waits;
    choose_group();
    if (active_ != 0) continue;
    if (live_ == 0) return state::ended;
    throw fault("lanes wait for others that do not come: \"" + std::string(code_[waiting_.front().at].text) + "\"");
  }
}

void warp::choose_group() {
  if (active_ != 0) others_.push_back({at_, active_});
  const auto lower = [](const group& a, const group& b) { return a.at < b.at; };
  active_ = 0;
  at_ = next_ = nowhere;
  if (others_.empty()) return;
  at_ = std::min_element(others_.begin(), others_.end(), lower)->at;
  std::erase_if(others_, [&](const group& each) {
    if (each.at == at_) active_ |= each.lanes;
    return each.at == at_;
  });
  if (!others_.empty()) next_ = std::min_element(others_.begin(), others_.end(), lower)->at;
}

void warp::branch(u32 jumping, u32 target) {
  if (++branches_ > most_branches) throw fault("a kernel does not end");
  if (jumping == 0) return;
  const u32 stay = active_ & ~jumping;
  if (stay != 0) {
    others_.push_back({at_, stay});
    next_ = std::min(next_, at_);
  }
  active_ = jumping;
  at_ = target;
}

void warp::end_lanes() {
  live_ &= ~active_;
  active_ = 0;
  at_ = nowhere;
}

bool warp::have_met(u32 members) {
  const u32 here = at_ - 1;
  if ((members & active_) != active_) throw fault("a lane that is not in the mask of members takes part");
  std::erase_if(waiting_, [&](const group& each) {
    if (each.at == here) active_ |= each.lanes;
    return each.at == here;
  });
  if (active_ == members) return true;
  waiting_.push_back({here, active_});
  active_ = 0;
  at_ = nowhere;
  return false;
}

void warp::arrive_at_barrier() {
  if (!have_met(all_lanes)) return;
  at_barrier_ = true;
  next_ = 0;  // leaves the loop
}

void run(const launch& work, device_memory& memory, random_order& order) {
  static u32 time = 0;
  if (work.threads == 0 || work.threads % 32 != 0) throw fault("a block is not made of whole warps");
  std::vector<u32> numbers(work.blocks);
  std::iota(numbers.begin(), numbers.end(), 0u);
  std::shuffle(numbers.begin(), numbers.end(), order);
  const u32 launched = ++time;
  for (const u32 block : numbers) {
    block_memory local(memory, work);
    std::vector<warp> warps;
    for (u32 thread = 0; thread < work.threads; thread += 32) {
      warps.emplace_back(work, local, block, thread, launched, time);
    }
    std::vector<u32> turns(warps.size());
    std::iota(turns.begin(), turns.end(), 0u);
    for (auto last = warp::state::runs; last != warp::state::ended;) {
      std::shuffle(turns.begin(), turns.end(), order);
      last = warp::state::runs;
      for (const u32 i : turns) {
        const auto now = warps[i].run();
        if (last != warp::state::runs && now != last)
          throw fault("some warps wait at a barrier, and others have ended");
        last = now;
      }
      ++time;
      if (last == warp::state::waits) {
        for (warp& each : warps) each.pass_barrier();
      }
    }
  }
}

}  // namespace cutpoint::ptx
