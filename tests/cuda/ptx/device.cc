// Streams, copies and planted faults of the interpreted device.
#include "tests/cuda/ptx/device.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cutpoint::ptx {

const played_device& played() {
  static const played_device only = [] {
    played_device wanted;
    if (const char* const text = std::getenv("CUTPOINT_INTERPRETED_CAPABILITY")) {
      if (std::sscanf(text, "%d.%d", &wanted.major, &wanted.minor) != 2) std::abort();
    }
    return wanted;
  }();
  return only;
}

device& device::instance() {
  static device only;
  return only;
}

device::work_queue& device::queue_of(cudaStream_t stream) {
  const auto entry = streams.find(resolved(stream));
  if (entry == streams.end()) throw fault("a stream is used that was destroyed or never made");
  return entry->second;
}

int device::device_of(cudaStream_t stream) {
  static_cast<void>(queue_of(stream));
  const auto created = devices_of_streams.find(stream);
  return created != devices_of_streams.end() ? created->second
                                             : static_cast<int>(reinterpret_cast<u64>(resolved(stream)));
}

const std::shared_ptr<event_state>& device::event_of(cudaEvent_t event) {
  const auto entry = events.find(event);
  if (entry == events.end()) throw fault("an event is used that was destroyed or never made");
  return entry->second;
}

void device::enqueue(cudaStream_t stream, std::function<void(device_memory&)> work) {
  if (const auto capturing = captures.find(stream); capturing != captures.end()) {
    capturing->second.work.push_back(std::move(work));
    return;
  }
  if (stream == nullptr) refuse_in_capture("the default stream is used");
  if (device_of(stream) != current_device()) throw fault("work is put into a stream of another device");
  queue_of(stream).push_back(std::move(work));
  if (!planted.lose && order() % 4 == 0) {  // some of the work is done early, unless that could hide a lost call
    auto any = std::next(streams.begin(), static_cast<std::ptrdiff_t>(order() % streams.size()));
    while (!any->second.empty() && order() % 2 == 0) do_next(any->second);
  }
}

void device::do_next(work_queue& queue) {
  const auto work = std::move(queue.front());
  queue.pop_front();
  try {
    work(memory);
  } catch (const fault&) {
    queue.clear();  // a device that has failed does no more
    throw;
  }
}

void device::finish(work_queue& queue) {
  refuse_in_capture("a stream is waited for");
  if (loses(device_call::wait)) return;
  while (!queue.empty()) do_next(queue);
}

void device::reach(const event_state& event, cudaStream_t stream, u64 record) {
  while (event.reached < record) {
    const auto entry = streams.find(stream);
    if (entry == streams.end() || entry->second.empty()) throw fault("an event is waited for that never comes");
    do_next(entry->second);
  }
}

void device::copy(void* destination, const void* source, std::size_t size, cudaStream_t stream) {
  if (loses(device_call::copy)) return;
  if (!device_memory::has(destination) && !device_memory::has(source)) {
    throw fault("a copy is neither to nor from the device");
  }
  const auto* const from = static_cast<const u8*>(source);
  auto* const to = static_cast<u8*>(destination);
  if (device_memory::has(destination) && device_memory::has(source)) {
    enqueue(stream, [=](device_memory& all) { std::memcpy(all.array(to, size), all.array(from, size), size); });
  } else if (device_memory::has(destination)) {
    enqueue(stream, [=, before = std::vector<u8>(from, from + size)](device_memory& all) {
      if (std::memcmp(from, before.data(), size) != 0) throw fault("the source of a copy was changed before its end");
      std::memcpy(all.array(to, size), from, size);
    });
  } else {
    std::memset(to, 0xc3, size);  // until the copy is done
    enqueue(stream, [=, this, before = lost_waits_](device_memory& all) {
      if (lost_waits_ == before) std::memcpy(to, all.array(from, size), size);
    });
  }
}

void device::plant(planted_faults wanted) {
  if (wanted.alter || planted.alter) {
    for (auto& [function, code] : kernels) code.decoded.reset();
  }
  planted = std::move(wanted);
  calls = 0;
}

std::vector<std::string> device::end_of_test() {
  const auto left = [&](std::size_t count, const char* what) {
    if (count != 0) faults.push_back("left over: " + std::to_string(count) + " " + what);
  };
  if (calls < planted.calls_until_lost) {
    left(streams.size() - device_memory::devices, "streams");
    left(events.size(), "events");
    left(memory.count(), "allocations");
    left(captures.size(), "captures");
    left(graphs.size(), "graphs");
    left(pinned.size(), "allocations of pinned memory");
    left(locked.size(), "locked ranges of host memory");
    left(static_cast<std::size_t>(contexts), "current contexts");
  }
  order.seed(1);  // so that a test does the same with and without those before it
  contexts = 0;
  streams = default_streams();
  devices_of_streams.clear();
  events.clear();
  captures.clear();
  graphs.clear();
  memory = {};
  for (void* each : pinned) std::free(each);
  pinned.clear();
  locked.clear();
  plant({});
  return std::exchange(faults, {});
}

}  // namespace cutpoint::ptx
