// The chunkers of a store: which ones it takes, and the keys that an encrypted store derives for them.
#include <algorithm>
#include <concepts>
#include <string_view>
#include <utility>
#include <variant>

#include <cutpoint/algorithms.h>
#include <cutpoint/catalog.h>
#include <fmt/format.h>
#include <openssl/crypto.h>

#include "store/format/record.h"
#include "store/format/sealer.h"
#include "store/session/open_store.h"

namespace cutpoint::store {

namespace {

status refused_cuts(std::string message) { return {status_code::invalid_argument, std::move(message)}; }

status in_class(const context_rule& rule, const status& why) {
  return refused_cuts(fmt::format("class {}: {}", rule.name, why.message()));
}

bool is_encrypted(const store_config& config) { return config.encryption != seal_kind::checksum; }

/// Keyed gear and keyed buzhash.
bool has_insecure_key(const chunker& cuts) {
  return std::holds_alternative<borg2_fastcdc_parameters>(cuts.parameters()) ||
         std::holds_alternative<borg1_parameters>(cuts.parameters());
}

status check_cuts(const store_config& config, const chunker& cuts) {
  if (takes_secret_key(cuts) && !is_encrypted(config)) {
    return refused_cuts(cuts.canonical() +
                        ": a store without encryption has no secret, so these cuts would hide nothing");
  }
  if (cuts.reach() <= largest_raw_bytes) return {};
  return refused_cuts(fmt::format("{}: a store needs a maximum of at most {} MiB for chunks", cuts.canonical(),
                                  largest_raw_bytes / MiB));
}

/// The key of an algorithm's chunkers. Each algorithm has another: borg2-fastcdc would give its key stream away, from which
/// others draw their secrets. Its key has the name that it had before there were others.
class chunker_key {
 public:
  chunker_key(const store_config& config, const fingerprint_key* store_key, const chunker& cuts) {
    if (store_key == nullptr) return;
    std::string purpose = "cutpoint store chunker";
    if (!std::holds_alternative<borg2_fastcdc_parameters>(cuts.parameters())) {
      const std::string& canonical = cuts.canonical();
      purpose.append(" ").append(canonical, 0, canonical.find('('));
    }
    bytes_ = derive_key(*store_key, config.identity, purpose);
  }
  chunker_key(const chunker_key&) = delete;
  chunker_key& operator=(const chunker_key&) = delete;
  ~chunker_key() { OPENSSL_cleanse(bytes_.data(), bytes_.size()); }

  [[nodiscard]] const fingerprint_key& bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint32_t number() const noexcept {
    std::uint32_t number = 0;
    for (std::size_t i = 4; i-- > 0;) number = number << 8 | bytes_[i];
    return number;
  }

 private:
  fingerprint_key bytes_ = {};
};

result<chunker> with_key(const store_config& config, const fingerprint_key* store_key, const chunker& cuts) {
  const chunker_key key(config, store_key, cuts);
  const auto set_key = [&]<class Parameters>(Parameters parameters) -> result<chunker> {
    if constexpr (std::same_as<Parameters, borg1_parameters>) {
      parameters.seed = key.number();
    } else if constexpr (std::same_as<Parameters, borg2_fastcdc_parameters>) {
      parameters.key = key.bytes();
    } else if constexpr (requires {
                           { parameters.key } -> std::same_as<secret_key&>;
                         }) {
      parameters.key = store_key == nullptr ? secret_key() : secret_key(key.bytes());
    } else {
      return refused_cuts(cuts.canonical() +
                          ": an encrypted store needs an algorithm with a key, because lengths of chunks " +
                          "tell what the chunks are; toeplitz128-aes has one");
    }
    return chunker::make(parameters);
  };
  return std::visit(set_key, cuts.parameters());
}

status check_new(const store_config& config, const chunker& cuts, insecure_cuts insecure) {
  if (!is_encrypted(config)) return {};
  CUTPOINT_TRY(const auto keyless, with_key(config, nullptr, cuts));
  if (keyless.canonical() != cuts.canonical()) {
    return refused_cuts(keyless.canonical() + ": an encrypted store derives the key of its cuts itself: give none");
  }
  if (insecure == insecure_cuts::accepted || !has_insecure_key(cuts)) return {};
  return refused_cuts(
      cuts.canonical() + ": lengths of chunks give the key of these cuts away, and then tell which known contents " +
      "are stored; toeplitz128-aes hides that. An encrypted store takes these cuts only if insecure cuts are accepted");
}

}  // namespace

status check_new_cuts(const store_config& config, insecure_cuts insecure) {
  CUTPOINT_TRY(const auto cuts, parse_canonical(config.cuts));
  CUTPOINT_RETURN_IF_FAILED(check_new(config, cuts, insecure));
  for (const context_rule& rule : config.context.rules()) {
    if (rule.cuts.fixed_chunk_bytes()) continue;
    if (status checked = check_new(config, rule.cuts, insecure); !checked.ok()) return in_class(rule, checked);
  }
  return {};
}

result<chunker> chunker_of(const store_config& config, const fingerprint_key* store_key) {
  const auto cuts = parse_canonical(config.cuts);
  if (!cuts) return cuts;
  CUTPOINT_RETURN_IF_FAILED(check_cuts(config, *cuts));
  return is_encrypted(config) ? with_key(config, store_key, *cuts) : cuts;
}

result<chunking_context> context_of(const store_config& config, const fingerprint_key* store_key) {
  std::vector<context_rule> rules(config.context.rules().begin(), config.context.rules().end());
  for (context_rule& rule : rules) {
    if (status checked = check_cuts(config, rule.cuts); !checked.ok()) return in_class(rule, checked);
    if (!is_encrypted(config) || rule.cuts.fixed_chunk_bytes()) continue;
    auto keyed = with_key(config, store_key, rule.cuts);
    if (!keyed) return in_class(rule, keyed.error());
    rule.cuts = *std::move(keyed);
  }
  return chunking_context::make(std::move(rules));
}

std::vector<std::string> warnings_of_insecure_cuts(const store_config& config) {
  std::vector<std::string> warnings;
  const auto add = [&](const std::string& place, const chunker& cuts, std::string_view shown) {
    if (!is_encrypted(config) || !has_insecure_key(cuts)) return;
    warnings.push_back(
        fmt::format("{}{}: whoever sees lengths of chunks can compute the key of these cuts, and then tell which known "
                    "contents are "
                    "stored. A copy in a store with the usual cuts, toeplitz128-aes, hides that",
                    place, shown));
  };
  if (const auto cuts = parse_canonical(config.cuts)) add("", *cuts, config.cuts);
  for (const context_rule& rule : config.context.rules()) {
    const std::string canonical = rule.cuts.canonical();
    add(fmt::format("class {}: ", rule.name), rule.cuts, canonical);
  }
  return warnings;
}

}  // namespace cutpoint::store
