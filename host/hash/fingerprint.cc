// Makes digests with OpenSSL, with algorithms that are fetched once, and with XXH3-128 and BLAKE3.
#include <algorithm>
#include <vector>

#include <cutpoint/fingerprint.h>
#include <cutpoint/text.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <xxhash.h>

#include "host/hash/blake3.h"

namespace cutpoint {

namespace {

constexpr std::array<fingerprint_info, 7> infos = {{
    {fingerprint_kind::none, "none", 0, false, "no fingerprint"},
    {fingerprint_kind::sha1, "sha1", 20, false, "FIPS 180-4, OpenSSL"},
    {fingerprint_kind::sha256, "sha256", 32, true, "FIPS 180-4, OpenSSL"},
    {fingerprint_kind::sha512_256, "sha512-256", 32, true, "FIPS 180-4, OpenSSL"},
    {fingerprint_kind::md5, "md5", 16, false, "RFC 1321, OpenSSL"},
    {fingerprint_kind::xxh3, "xxh3", 16, false, "XXH3-128, seed 0, libxxhash"},
    {fingerprint_kind::blake3, "blake3", blake3::digest_bytes, true, "BLAKE3 specification"},
}};

const fingerprint_info& info_of(fingerprint_kind kind) { return infos[static_cast<std::size_t>(kind)]; }

/// The name that OpenSSL fetches by; null for what OpenSSL does not make.
const char* openssl_name(fingerprint_kind kind) {
  switch (kind) {
    case fingerprint_kind::sha1:
      return "SHA1";
    case fingerprint_kind::sha256:
      return "SHA2-256";
    case fingerprint_kind::sha512_256:
      return "SHA2-512/256";
    case fingerprint_kind::md5:
      return "MD5";
    case fingerprint_kind::none:
    case fingerprint_kind::xxh3:
    case fingerprint_kind::blake3:
      break;
  }
  return nullptr;
}

struct openssl_free {
  void operator()(EVP_MD* algorithm) const { EVP_MD_free(algorithm); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

}  // namespace

struct fingerprinter::state {
  fingerprint_kind kind;
  blake3::start start;
  std::unique_ptr<EVP_MD, openssl_free> algorithm;
  std::unique_ptr<EVP_MD_CTX, openssl_free> context;
};

std::span<const fingerprint_info> fingerprints() noexcept { return infos; }

std::string to_hex(const digest& digest) { return fmt::format("{:02x}", fmt::join(digest.view(), "")); }

std::string_view name_of(const fingerprint_recipe& recipe) noexcept {
  return recipe.key ? keyed_name : fingerprints()[static_cast<std::size_t>(recipe.kind)].name;
}

result<fingerprint_kind> parse_fingerprint(std::string_view name) {
  std::vector<std::string_view> names;
  for (const fingerprint_info& info : infos) {
    if (info.name == name) return info.kind;
    names.push_back(info.name);
  }
  return unknown_name("fingerprint", name, names);
}

fingerprinter::fingerprinter(std::unique_ptr<state> held) noexcept : state_(std::move(held)) {}
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
  if (key && kind != fingerprint_kind::blake3) {
    return status{status_code::invalid_argument,
                  fmt::format("fingerprint = {} takes no key: only blake3 does", info_of(kind).name)};
  }
  auto made = std::make_unique<state>();
  made->kind = kind;
  made->start = blake3::start_of(key);
  if (const char* name = openssl_name(kind); name != nullptr) {
    made->algorithm.reset(EVP_MD_fetch(nullptr, name, nullptr));
    made->context.reset(EVP_MD_CTX_new());
    if (made->algorithm == nullptr || made->context == nullptr) {
      return status{status_code::unavailable, fmt::format("OpenSSL does not offer {} here", name)};
    }
  }
  return fingerprinter(std::move(made));
}

result<digest> fingerprinter::operator()(byte_span bytes) {
  digest out;
  out.size = static_cast<std::uint8_t>(info_of(state_->kind).digest_bytes);
  if (state_->kind == fingerprint_kind::xxh3) {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
    std::copy(std::begin(canonical.digest), std::end(canonical.digest), out.bytes.begin());
  } else if (state_->kind == fingerprint_kind::blake3) {
    out = blake3::hash(bytes, state_->start);
  } else if (state_->algorithm != nullptr) {
    EVP_MD_CTX* context = state_->context.get();
    const bool is_done = EVP_DigestInit_ex2(context, state_->algorithm.get(), nullptr) == 1 &&
                         EVP_DigestUpdate(context, bytes.data(), bytes.size()) == 1 &&
                         EVP_DigestFinal_ex(context, out.bytes.data(), nullptr) == 1;
    if (!is_done) {
      return status{status_code::backend_failure, fmt::format("OpenSSL failed to make a {} digest of {} bytes",
                                                              info_of(state_->kind).name, bytes.size())};
    }
  }
  return out;
}

fingerprint_kind fingerprinter::kind() const noexcept { return state_->kind; }

}  // namespace cutpoint
