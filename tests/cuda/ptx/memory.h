// Memory of the interpreted device. Every word remembers its last accesses, so that races between threads are found.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

namespace cutpoint::ptx {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// A rule of CUDA that a kernel or a call has broken.
class fault : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The position of a warp in a launch, and the times since which its threads are synchronised with others.
///
/// Times count synchronisations. A thread is numbered by its block, its warp and its lane. A number may also stand for several
/// threads: its top bits say how far apart they are.
class thread_clock {
 public:
  /// How far apart two threads are.
  enum distance : u32 { same_thread, same_warp, same_block, same_launch };

  thread_clock(u32 block, u32 first_thread, u32 launched, u32 now)
      : first_(block << 10 | first_thread), since_{~u32{0}, launched, launched, launched}, now_(now) {}

  void synchronise(distance among, u32 now) {
    std::fill(since_ + same_warp, since_ + among + 1, now);
    now_ = now;
  }
  [[nodiscard]] u32 now() const { return now_; }
  [[nodiscard]] u32 number(u32 lane) const { return first_ + lane; }
  /// Whether an access at `time` by `other` came before what `self` does now, in any order of the threads.
  [[nodiscard]] bool is_after(u32 time, u32 other, u32 self) const { return time < since_[distance_of(other, self)]; }
  /// The number that stands for both.
  [[nodiscard]] static u32 both(u32 a, u32 b) { return (b & ~(~u32{0} << 30)) | distance_of(a, b) << 30; }

 private:
  [[nodiscard]] static u32 distance_of(u32 a, u32 b) {
    const u32 difference = (a ^ b) << 2;  // without the distances
    const u32 between = difference == 0         ? same_thread
                        : difference >> 7 == 0  ? same_warp
                        : difference >> 12 == 0 ? same_block
                                                : same_launch;
    return std::max({a >> 30, b >> 30, between});
  }

  u32 first_;
  u32 since_[4];  ///< by distance
  u32 now_;
};

/// The last accesses to an aligned word of four bytes; times are 0 without one.
struct word_history {
  static constexpr u32 arriving = ~u32{0};  ///< the time of a write by a copy that is not waited for

  u32 writer = 0;
  u32 written = 0;
  u32 reader = 0;
  u32 read = 0;

  void add_read(const thread_clock& clock, u32 self) {
    if (written == arriving) throw fault("a word is read that an asynchronous copy has not been waited for");
    if (!clock.is_after(written, writer, self)) throw fault("a race: a word is read that another thread has written");
    reader = clock.is_after(read, reader, self) ? self : thread_clock::both(reader, self);
    read = clock.now();
  }
  /// A store that changes nothing may race with others.
  void add_write(const thread_clock& clock, u32 self, bool changes) {
    if (written == arriving) throw fault("a word is written that an asynchronous copy has not been waited for");
    if (changes && !(clock.is_after(written, writer, self) && clock.is_after(read, reader, self))) {
      throw fault("a race: a word is written that another thread has read or written");
    }
    writer = self;
    written = clock.now();
  }
};

/// An allocation, the shared memory of a block, or the parameters of a launch. It is garbage at first.
class region {
 public:
  region(u64 begin, u64 size)
      : begin_(begin),
        size_(size),
        bytes_(static_cast<u8*>(std::malloc(size + 1))),
        history_(static_cast<word_history*>(std::calloc(size / 4 + 1, sizeof(word_history)))) {
    for (u64 i = 0; i < size; ++i) bytes_.get()[i] = static_cast<u8>(0xa5 + 37 * i);  // each byte differs from the next
  }

  [[nodiscard]] u64 size() const { return size_; }
  [[nodiscard]] bool has(u64 address, u64 size) const {
    return address - begin_ <= size_ && size <= size_ - (address - begin_);
  }
  /// Of addresses that the region has.
  [[nodiscard]] u8* bytes(u64 address) const { return bytes_.get() + (address - begin_); }
  [[nodiscard]] word_history* history(u64 address) const { return history_.get() + (address - begin_) / 4; }

 private:
  struct freer {
    void operator()(void* memory) const { std::free(memory); }
  };
  u64 begin_;
  u64 size_;
  std::unique_ptr<u8, freer> bytes_;
  std::unique_ptr<word_history, freer> history_;
};

/// All allocations of all devices. No address is used twice, and none is one of the host's.
class device_memory {
 public:
  static constexpr int devices = 3;

  [[nodiscard]] void* allocate(int device, u64 size) {
    const u64 begin = first + static_cast<u64>(device) * bytes_of_device + next_[device];
    next_[device] += (size / 512 + 2) * 512;
    regions_.try_emplace(begin, begin, size);
    byte_count_ += size;
    return reinterpret_cast<void*>(begin);
  }
  void free(void* data) {
    const auto entry = regions_.find(reinterpret_cast<u64>(data));
    if (entry == regions_.end()) throw fault("memory is freed that is not allocated");
    byte_count_ -= entry->second.size();
    regions_.erase(entry);
  }
  /// The region that has these bytes.
  [[nodiscard]] region& at(u64 address, u64 size) {
    auto entry = regions_.upper_bound(address);
    if (entry == regions_.begin() || !(--entry)->second.has(address, size)) {
      throw fault(std::to_string(size) + " bytes of global memory are not within an allocation");
    }
    if (running != any_device && running != device_of(address))
      throw fault("a kernel accesses another device's memory");
    return entry->second;
  }
  [[nodiscard]] static int device_of(u64 address) { return static_cast<int>((address - first) / bytes_of_device); }
  /// The bytes of an array, on the host.
  template <class T>
  [[nodiscard]] T* array(T* data, u64 count) {
    const auto address = reinterpret_cast<u64>(data);
    return reinterpret_cast<T*>(at(address, count * sizeof(T)).bytes(address));
  }
  [[nodiscard]] static bool has(const void* data) { return reinterpret_cast<u64>(data) >= first; }
  [[nodiscard]] std::size_t count() const { return regions_.size(); }
  [[nodiscard]] u64 byte_count() const { return byte_count_; }

  static constexpr int any_device = -1;
  int running = any_device;  ///< the device whose kernel runs

 private:
  static constexpr u64 first = u64{1} << 62;  // no address of a process on x86-64
  static constexpr u64 bytes_of_device = u64{1} << 48;
  u64 next_[devices] = {};
  u64 byte_count_ = 0;
  std::map<u64, region> regions_;
};

}  // namespace cutpoint::ptx
