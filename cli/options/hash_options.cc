// Makes a fingerprint recipe from a name and a key.
#include "cli/options/hash_options.h"

#include <cutpoint/text.h>
#include <fmt/format.h>

#include "cli/common/options.h"

namespace cutpoint::cli {

void hash_options::add_to(option_list& options) {
  options.add_value("--hash", fingerprint_, "NAME", "Fingerprint of each chunk, or none (default: sha256)");
  options.add_value("--hash-key", key_, "HEX",
                    "Secret key, 64 hexadecimal digits, for the keyed mode of --hash blake3");
}

status hash_options::use(const std::string& name) {
  if (fingerprint_) return usage_error("--hash cannot be given here: the listing names the fingerprint");
  if (name == name_of(fingerprint_kind::none)) return usage_error("the listing has no digests to compare");
  const bool is_keyed = name == keyed_name;
  if (is_keyed && !key_) return usage_error("the fingerprints were made with a key: give it by --hash-key");
  if (!is_keyed && key_) return usage_error(fmt::format("the fingerprints are {}, made without --hash-key", name));
  fingerprint_ = is_keyed ? name_of(fingerprint_kind::blake3) : name;
  return {};
}

result<std::optional<fingerprint_key>> hash_options::checked_key() const {
  if (!key_) return std::optional<fingerprint_key>();
  fingerprint_key key;
  if (read_hex(*key_, key)) return std::optional(key);
  return usage_error(fmt::format("--hash-key must be {} hexadecimal digits", 2 * key.size()));
}

result<fingerprint_recipe> hash_options::checked(std::string_view default_fingerprint) const {
  const auto fingerprint = parse_fingerprint(fingerprint_ ? *fingerprint_ : default_fingerprint);
  if (!fingerprint) return fingerprint.error();
  const auto key = checked_key();
  if (!key) return key.error();
  if (*key && !fingerprints()[static_cast<std::size_t>(*fingerprint)].takes_key) {
    return usage_error(fmt::format("--hash-key is for --hash blake3: {} takes no key", name_of(*fingerprint)));
  }
  return fingerprint_recipe(*fingerprint, *key);
}

}  // namespace cutpoint::cli
