// Flat hash sets whose keys have exactly the size of their digests.
#include <algorithm>
#include <cassert>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>

#include <absl/container/flat_hash_set.h>
#include <cutpoint/memory_index.h>

namespace cutpoint {

namespace {

template <std::size_t Bytes>
using key = std::array<std::uint8_t, Bytes>;

/// A cryptographic digest is as good as random, so its first bytes are its hash.
struct first_bytes {
  template <std::size_t Bytes>
  std::size_t operator()(const key<Bytes>& fingerprint) const noexcept {
    std::size_t word = 0;
    static_assert(Bytes >= sizeof word);
    std::memcpy(&word, fingerprint.data(), sizeof word);
    return word;
  }
};

/// The control bytes of the table in addition to one for each slot: the end mark, and one less than a group of slots
/// that are probed together.
constexpr std::uint64_t control_surplus_bytes = 16;

/// Slots that are prefetched before the first of them is read, about as many as a core can wait for at once.
constexpr std::size_t prefetched_digests = 16;

/// Memory for a table. Abseil's tables can neither be used nor destroyed after their allocator has thrown. So what they need
/// to grow is allocated before.
class table_memory {
 public:
  /// Throws std::bad_alloc.
  void reserve(std::size_t bytes) {
    if (reserved_ != nullptr) return;
    reserved_.reset(::operator new(bytes));
    reserved_bytes_ = bytes;
  }
  [[nodiscard]] void* take(std::size_t bytes) {
    return reserved_ != nullptr && bytes <= reserved_bytes_ ? reserved_.release() : ::operator new(bytes);
  }

 private:
  struct deleter {
    void operator()(void* bytes) const noexcept { ::operator delete(bytes); }
  };
  std::unique_ptr<void, deleter> reserved_;
  std::size_t reserved_bytes_ = 0;
};

template <class Value>
struct table_allocator {
  using value_type = Value;
  explicit table_allocator(table_memory& source) noexcept : memory(&source) {}
  template <class Other>
  table_allocator(const table_allocator<Other>& other) noexcept : memory(other.memory) {}  // NOLINT: as allocators must

  [[nodiscard]] Value* allocate(std::size_t count) { return static_cast<Value*>(memory->take(count * sizeof(Value))); }
  void deallocate(Value* values, std::size_t) noexcept { ::operator delete(values); }
  friend bool operator==(const table_allocator&, const table_allocator&) = default;

  table_memory* memory;
};

}  // namespace

class memory_index::table {
 public:
  virtual ~table() = default;
  virtual void look_up(std::span<const digest> digests, std::span<index_answer> answers) const = 0;
  virtual void insert(std::span<const digest> digests, std::span<index_answer> answers) = 0;
  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t memory_bytes() const noexcept = 0;
};

template <class Key, class Hash>
class memory_index::table_of final : public table {
 public:
  void look_up(std::span<const digest> digests, std::span<index_answer> answers) const override {
    answer_each(digests, answers, [this](const Key& key) { return set_.contains(key); });
  }
  void insert(std::span<const digest> digests, std::span<index_answer> answers) override {
    answer_each(digests, answers, [this](const Key& key) {
      reserve_growth();
      return !set_.insert(key).second;
    });
  }
  std::uint64_t size() const noexcept override { return set_.size(); }
  std::uint64_t memory_bytes() const noexcept override {
    const std::uint64_t slots = set_.capacity();
    return slots == 0 ? 0 : slots * (sizeof(Key) + 1) + control_surplus_bytes;
  }

 private:
  static Key key_of(const digest& fingerprint) noexcept {
    assert(fingerprint.size == sizeof(Key));
    Key stored;
    std::memcpy(stored.data(), fingerprint.bytes.data(), sizeof stored);
    return stored;
  }

  template <class IsPresent>
  void answer_each(std::span<const digest> digests, std::span<index_answer> answers, IsPresent&& is_present) const {
    assert(digests.size() == answers.size());
    for (std::size_t begin = 0; begin < digests.size(); begin += prefetched_digests) {
      const std::size_t end = std::min(begin + prefetched_digests, digests.size());
      for (std::size_t i = begin; i < end; ++i) set_.prefetch(key_of(digests[i]));
      for (std::size_t i = begin; i < end; ++i) {
        answers[i] = is_present(key_of(digests[i])) ? index_answer::present : index_answer::absent;
      }
    }
  }

  /// Abseil fills seven eighths of a table, and then makes one of twice the size.
  void reserve_growth() {
    const std::size_t slots = set_.capacity();
    if (set_.size() + 2 <= slots - slots / 8) return;
    memory_.reserve((2 * slots + 1) * (sizeof(Key) + 1) + 4 * control_surplus_bytes);
  }

  table_memory memory_;  ///< outlives the set
  absl::flat_hash_set<Key, Hash, std::equal_to<Key>, table_allocator<Key>> set_{table_allocator<Key>(memory_)};
};

std::unique_ptr<memory_index::table> memory_index::make_table(fingerprint_kind kind) {
  const fingerprint_info& info = fingerprints()[static_cast<std::size_t>(kind)];
  const auto make_sized = [&]<std::size_t bytes>(std::integral_constant<std::size_t, bytes>) -> std::unique_ptr<table> {
    if (info.resists_collisions) return std::make_unique<table_of<key<bytes>, first_bytes>>();
    return std::make_unique<table_of<key<bytes>, absl::Hash<key<bytes>>>>();
  };
  switch (info.digest_bytes) {
    case 16:
      return make_sized(std::integral_constant<std::size_t, 16>());
    case 20:
      return make_sized(std::integral_constant<std::size_t, 20>());
    case 32:
      return make_sized(std::integral_constant<std::size_t, 32>());
    default:
      assert(false && "no table for digests of this size");
      return nullptr;
  }
}

memory_index::memory_index(fingerprint_kind kind) : table_(make_table(kind)) {}
memory_index::memory_index(memory_index&&) noexcept = default;
memory_index& memory_index::operator=(memory_index&&) noexcept = default;
memory_index::~memory_index() = default;

status memory_index::look_up(std::span<const digest> digests, std::span<index_answer> answers) {
  table_->look_up(digests, answers);
  return {};
}
status memory_index::insert(std::span<const digest> digests, std::span<index_answer> answers) {
  table_->insert(digests, answers);
  return {};
}
std::uint64_t memory_index::size() const noexcept { return table_->size(); }
std::uint64_t memory_index::memory_bytes() const noexcept { return table_->memory_bytes(); }

}  // namespace cutpoint
