// Makes digests with OpenSSL, with algorithms that are fetched once, and with XXH3-128 and BLAKE3, one by one and in batches.
#include <algorithm>
#include <vector>

#include <cutpoint/batch_fingerprinter.h>
#include <cutpoint/fingerprint.h>
#include <cutpoint/text.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <xxhash.h>

#include "host/hash/blake3.h"

namespace cutpoint {

namespace {

digest xxh3_digest(byte_span bytes, const std::optional<fingerprint_key>&) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  digest out;
  out.size = sizeof canonical.digest;
  std::copy(std::begin(canonical.digest), std::end(canonical.digest), out.bytes.begin());
  return out;
}

digest blake3_digest(byte_span bytes, const std::optional<fingerprint_key>& key) {
  return blake3::hash(bytes, blake3::start_of(key));
}

/// A fingerprint, and how its digests are made: by OpenSSL, by a function, or not at all for `none`.
struct fingerprint_row {
  fingerprint_info info;
  const char* openssl_name = nullptr;
  digest (*make)(byte_span, const std::optional<fingerprint_key>&) = nullptr;
};

/// The rows are in the order of the enumeration.
constexpr std::array rows = {
    fingerprint_row{{fingerprint_kind::none, "none", 0, false, "no fingerprint"}},
    fingerprint_row{{fingerprint_kind::sha1, "sha1", 20, false, "FIPS 180-4, OpenSSL"}, "SHA1"},
    fingerprint_row{{fingerprint_kind::sha256, "sha256", 32, true, "FIPS 180-4, OpenSSL"}, "SHA2-256"},
    fingerprint_row{{fingerprint_kind::sha512_256, "sha512-256", 32, true, "FIPS 180-4, OpenSSL"}, "SHA2-512/256"},
    fingerprint_row{{fingerprint_kind::md5, "md5", 16, false, "RFC 1321, OpenSSL"}, "MD5"},
    fingerprint_row{{fingerprint_kind::xxh3, "xxh3", 16, false, "XXH3-128, seed 0, libxxhash"}, nullptr, xxh3_digest},
    fingerprint_row{{fingerprint_kind::blake3, "blake3", blake3::digest_bytes, true, "BLAKE3 specification", true},
                    nullptr,
                    blake3_digest},
};

constexpr auto infos = [] {
  std::array<fingerprint_info, rows.size()> all = {};
  for (std::size_t i = 0; i < rows.size(); ++i) all[i] = rows[i].info;
  return all;
}();

struct openssl_free {
  void operator()(EVP_MD* algorithm) const { EVP_MD_free(algorithm); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

}  // namespace

struct fingerprinter::state {
  const fingerprint_row* row;
  std::optional<fingerprint_key> key;
  std::unique_ptr<EVP_MD, openssl_free> algorithm;
  std::unique_ptr<EVP_MD_CTX, openssl_free> context;
};

std::span<const fingerprint_info> fingerprints() noexcept { return infos; }

std::string to_hex(const digest& digest) { return fmt::format("{:02x}", fmt::join(digest.view(), "")); }

std::string_view name_of(const fingerprint_recipe& recipe) noexcept {
  return recipe.key ? keyed_name : infos[static_cast<std::size_t>(recipe.kind)].name;
}

result<fingerprint_kind> parse_fingerprint(std::string_view name) {
  std::vector<std::string_view> strong_names;  // a wrong name must not lead to a fingerprint whose collisions are known
  std::vector<std::string_view> weak_names;
  for (const fingerprint_info& info : infos) {
    if (info.name == name) return info.kind;
    (info.resists_collisions ? strong_names : weak_names).push_back(info.name);
  }
  const status unknown = unknown_name("fingerprint", name, strong_names);
  if (unknown.message().ends_with('?')) return unknown;
  return status(unknown.code(), fmt::format("{}, {}", unknown.message(), fmt::join(weak_names, ", ")));
}

fingerprinter::fingerprinter(std::unique_ptr<state> own) noexcept : state_(std::move(own)) {}
fingerprinter::fingerprinter(fingerprinter&&) noexcept = default;
fingerprinter& fingerprinter::operator=(fingerprinter&&) noexcept = default;
fingerprinter::~fingerprinter() = default;

result<fingerprinter> fingerprinter::make(const fingerprint_recipe& recipe) {
  const auto [kind, key] = recipe;
  const auto number = static_cast<std::size_t>(kind);
  if (number >= infos.size()) {
    return status{status_code::invalid_argument,
                  fmt::format("fingerprint = {} must be at most {}", static_cast<int>(kind), infos.size() - 1)};
  }
  const fingerprint_row& row = rows[number];
  if (key && !row.info.takes_key) {
    return status{status_code::invalid_argument,
                  fmt::format("fingerprint = {} takes no key: only blake3 does", row.info.name)};
  }
  auto own_state = std::make_unique<state>();
  own_state->row = &row;
  own_state->key = key;
  if (const char* name = row.openssl_name; name != nullptr) {
    own_state->algorithm.reset(EVP_MD_fetch(nullptr, name, nullptr));
    own_state->context.reset(EVP_MD_CTX_new());
    if (own_state->algorithm == nullptr || own_state->context == nullptr) {
      return status{status_code::unavailable, fmt::format("OpenSSL does not offer {} here", name)};
    }
  }
  return fingerprinter(std::move(own_state));
}

result<digest> fingerprinter::operator()(byte_span bytes) {
  const fingerprint_row& row = *state_->row;
  if (row.make != nullptr) return row.make(bytes, state_->key);
  digest out;
  out.size = static_cast<std::uint8_t>(row.info.digest_bytes);
  if (state_->algorithm != nullptr) {
    EVP_MD_CTX* context = state_->context.get();
    const bool is_done = EVP_DigestInit_ex2(context, state_->algorithm.get(), nullptr) == 1 &&
                         EVP_DigestUpdate(context, bytes.data(), bytes.size()) == 1 &&
                         EVP_DigestFinal_ex(context, out.bytes.data(), nullptr) == 1;
    if (!is_done) {
      return status{status_code::backend_failure,
                    fmt::format("OpenSSL failed to make a {} digest of {} bytes", row.info.name, bytes.size())};
    }
  }
  return out;
}

fingerprint_kind fingerprinter::kind() const noexcept { return state_->row->info.kind; }

namespace {

class one_by_one_fingerprinter final : public batch_fingerprinter {
 public:
  explicit one_by_one_fingerprinter(fingerprinter maker) : maker_(std::move(maker)) {}

  void submit(byte_span bytes, digest& destination) override {
    auto value = maker_(bytes);
    if (value) {
      destination = *value;
    } else if (failure_.ok()) {
      failure_ = value.error();
    }
  }
  status flush() override { return std::exchange(failure_, {}); }

 private:
  fingerprinter maker_;
  status failure_;  ///< the first error since the last flush
};

}  // namespace

std::unique_ptr<batch_fingerprinter> make_one_by_one_fingerprinter(fingerprinter maker) {
  return std::make_unique<one_by_one_fingerprinter>(std::move(maker));
}

}  // namespace cutpoint
