// Keeps the digests of chunks that the change did not touch, and reads the bytes of the others.
#include "cli/chunk/chunks_after_change.h"

#include <algorithm>
#include <array>
#include <utility>

#include <cutpoint/catalog.h>
#include <cutpoint/cut_stream.h>
#include <cutpoint/text.h>
#include <fmt/format.h>

#include "cli/common/interrupt.h"
#include "cli/common/option_values.h"

namespace cutpoint::cli {

namespace {

/// Reads the bytes of a chunk. Errors: those of the file; io_error, if the file is shorter.
result<byte_span> read_chunk(file_random_access& file, const std::string& path, const chunk& where,
                             std::vector<std::uint8_t>& buffer) {
  buffer.resize(std::max<std::size_t>(buffer.size(), where.length));
  for (std::uint64_t filled = 0; filled < where.length;) {
    const auto count = file.read_at(where.offset + filled, {buffer.data() + filled, where.length - filled});
    if (!count) return count.error();
    if (*count == 0) return status(status_code::io_error, fmt::format("{}: shrank while it was read", path));
    filled += *count;
  }
  return byte_span(buffer.data(), where.length);
}

/// Returns the digest of a chunk. Errors: as `read_chunk`; backend_failure.
result<digest> digest_of(fingerprinter& make, file_random_access& file, const std::string& path, const chunk& where,
                         std::vector<std::uint8_t>& buffer) {
  if (make.kind() == fingerprint_kind::none) return digest();
  const auto bytes = read_chunk(file, path, where, buffer);
  return bytes ? make(*bytes) : bytes.error();
}

/// Checks the key with a chunk that is kept, because no listing says which key made it. Errors: invalid_argument, if
/// the chunk has another digest.
status check_key(new_listing& listing, fingerprinter& make, file_random_access& file, const std::string& path,
                 std::vector<std::uint8_t>& buffer) {
  const auto& [listed, found, canonical] = listing;
  if (!listed.fingerprint.key || found.kept_before + found.kept_after == 0) return {};
  const bool is_before = found.kept_before != 0;
  const std::size_t kept = is_before ? found.kept_before - 1 : listed.chunks.size() - found.kept_after;
  chunk where = listed.chunks[kept];
  if (!is_before) where.offset += static_cast<std::uint64_t>(found.shift);
  const auto made = digest_of(make, file, path, where, buffer);
  if (!made) return made.error();
  listing.found.read_bytes += where.length;
  if (*made == listed.digests[kept]) return {};
  return {status_code::invalid_argument, fmt::format("{}: --hash-key is not the key of the listing, or more bytes have "
                                                     "changed: the chunk at {} has another fingerprint",
                                                     path, where.offset)};
}

/// Replaces the digests of the chunks that changed.
status renew_digests(new_listing& listing, file_random_access& file, const std::string& path) {
  auto make = fingerprinter::make(listing.listed.fingerprint);
  if (!make) return make.error();
  std::vector<digest> anew;
  std::vector<std::uint8_t> buffer;
  if (status key = check_key(listing, *make, file, path, buffer); !key.ok()) return key;
  for (const chunk& where : listing.found.cut_anew) {
    const auto made = digest_of(*make, file, path, where, buffer);
    if (!made) return made.error();
    anew.push_back(*made);
  }
  auto& digests = listing.listed.digests;
  const auto first = digests.begin() + static_cast<std::ptrdiff_t>(listing.found.kept_before);
  const auto last = digests.end() - static_cast<std::ptrdiff_t>(listing.found.kept_after);
  digests.insert(digests.erase(first, last), anew.begin(), anew.end());
  return {};
}

}  // namespace

void change_options::add_to(CLI::App& command) {
  auto* since =
      add_value_option(command, "--since", listing_, "FILE",
                       "Listing (text or jsonl) from before a change; reads only the bytes around the change");
  auto* changed = command
                      .add_option("--changed", changed_,
                                  "The change since the listing: where, bytes removed there, bytes added there")
                      ->type_name("OFFSET:REMOVED:ADDED")
                      ->needs(since);
  since->needs(changed);
  for (const char* answered : {"--algorithm", "--profile", "--cuts", "--size", "--param", "--hash", "--backend",
                               "--device", "--device-memory", "--threads", "--segment", "--join", "--follow"}) {
    since->excludes(command.get_option(answered));
  }
}

result<stream_change> change_options::change() const {
  const auto wrong = [this](std::string_view why) {
    return usage_error(fmt::format("--changed {}: {}", changed_, why));
  };
  if (std::count(changed_.begin(), changed_.end(), ':') != 2) return wrong("must be OFFSET:REMOVED:ADDED");
  const std::size_t first = changed_.find(':');
  const std::size_t second = changed_.rfind(':');
  const std::array<std::string, 3> parts = {changed_.substr(0, first), changed_.substr(first + 1, second - first - 1),
                                            changed_.substr(second + 1)};
  std::array<std::uint64_t, 3> values = {};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto value = parse_size(parts[i]);
    if (!value) return wrong(value.error().message());
    values[i] = *value;
  }
  return stream_change{values[0], values[1], values[2]};
}

result<new_listing> chunks_after_change(old_listing old, const stream_change& change, const std::string& path,
                                        std::uint64_t memory_bytes) {
  const auto cuts = parse_canonical(old.cuts);
  if (!cuts) return cuts.error();
  if (old.chunks.empty() && (change.offset != 0 || change.removed_bytes != 0)) {
    return status(
        status_code::invalid_argument,
        fmt::format("the listing has no chunk of '{}', so the file was empty and --changed must be 0:0:ADDED", path));
  }
  const stream_limits limits{.memory_bytes = memory_bytes};
  if (const status memory = check_memory(*cuts, limits); !memory.ok()) {
    return usage_error(memory.message() + ": increase --memory");
  }
  auto file = file_random_access::open(path, &interruption());
  if (!file) return file.error();
  auto found = rechunk(*cuts, old.chunks, change, *file, limits);
  if (!found) return status(found.error().code(), fmt::format("{}: {}", path, found.error().message()));
  new_listing renewed{.listed = std::move(old), .found = *std::move(found), .canonical = cuts->canonical()};
  if (status digests = renew_digests(renewed, *file, path); !digests.ok()) return digests;
  renewed.listed.chunks = chunks_after(renewed.listed.chunks, renewed.found);
  return renewed;
}

}  // namespace cutpoint::cli
