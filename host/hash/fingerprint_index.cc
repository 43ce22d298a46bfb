// Flat hash sets whose keys have exactly the size of their digests.
#include <cassert>
#include <cstring>
#include <type_traits>
#include <utility>

#include <absl/container/flat_hash_set.h>
#include <cutpoint/fingerprint_index.h>

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

}  // namespace

class fingerprint_index::table {
 public:
  virtual ~table() = default;
  virtual bool insert(const digest& fingerprint) = 0;
  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t memory_bytes() const noexcept = 0;
};

template <class Key, class Hash>
class fingerprint_index::table_of final : public table {
 public:
  bool insert(const digest& fingerprint) override {
    assert(fingerprint.size == sizeof(Key));
    Key stored;
    std::memcpy(stored.data(), fingerprint.bytes.data(), sizeof stored);
    return set_.insert(stored).second;
  }
  std::uint64_t size() const noexcept override { return set_.size(); }
  std::uint64_t memory_bytes() const noexcept override {
    const std::uint64_t slots = set_.capacity();
    return slots == 0 ? 0 : slots * (sizeof(Key) + 1) + control_surplus_bytes;
  }

 private:
  absl::flat_hash_set<Key, Hash> set_;
};

std::unique_ptr<fingerprint_index::table> fingerprint_index::make_table(fingerprint_kind kind) {
  const fingerprint_info& info = fingerprints()[static_cast<std::size_t>(kind)];
  const auto made = [&]<std::size_t bytes>(std::integral_constant<std::size_t, bytes>) -> std::unique_ptr<table> {
    if (info.resists_collisions) return std::make_unique<table_of<key<bytes>, first_bytes>>();
    return std::make_unique<table_of<key<bytes>, absl::Hash<key<bytes>>>>();
  };
  switch (info.digest_bytes) {
    case 16:
      return made(std::integral_constant<std::size_t, 16>());
    case 20:
      return made(std::integral_constant<std::size_t, 20>());
    case 32:
      return made(std::integral_constant<std::size_t, 32>());
    default:
      assert(false && "no table for digests of this size");
      return nullptr;
  }
}

fingerprint_index::fingerprint_index(fingerprint_kind kind) : table_(make_table(kind)) {}
fingerprint_index::fingerprint_index(fingerprint_index&&) noexcept = default;
fingerprint_index& fingerprint_index::operator=(fingerprint_index&&) noexcept = default;
fingerprint_index::~fingerprint_index() = default;

bool fingerprint_index::insert(const digest& fingerprint) { return table_->insert(fingerprint); }
std::uint64_t fingerprint_index::size() const noexcept { return table_->size(); }
std::uint64_t fingerprint_index::memory_bytes() const noexcept { return table_->memory_bytes(); }

}  // namespace cutpoint
