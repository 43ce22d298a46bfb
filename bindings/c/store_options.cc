#include "bindings/c/store_options.h"

#include <cstddef>

#include "bindings/c/options.h"
#include "bindings/c/structures.h"

namespace cutpoint::embed {

namespace {

// The sizes of the first release, by the last fields that it had.
constexpr std::uint64_t secret_bytes = offsetof(cutpoint_store_secret, byte_count) + sizeof(std::uint64_t);
constexpr std::uint64_t settings_bytes = offsetof(cutpoint_store_settings, container_bytes) + sizeof(std::uint32_t);
constexpr std::uint64_t backup_bytes = offsetof(cutpoint_store_backup_options, problem) + sizeof(void*);
constexpr std::uint64_t restore_bytes = offsetof(cutpoint_store_restore_options, problem) + sizeof(void*);
constexpr std::uint64_t check_bytes = offsetof(cutpoint_store_check_options, file_problem) + sizeof(void*);
constexpr std::uint64_t repair_bytes = offsetof(cutpoint_store_repair_options, replaced) + sizeof(void*);

/// No snapshot has more paths or tags.
constexpr std::uint64_t longest_list = 65'535;

outcome refused(std::string why) { return {CUTPOINT_INVALID_ARGUMENT, std::move(why)}; }

outcome read_list(std::string_view name, const char* const* texts, std::uint64_t count,
                  std::vector<std::string>& list) {
  const std::string named(name);
  if (count > longest_list) {
    return refused(named + " has " + std::to_string(count) + " entries, but at most " + std::to_string(longest_list) +
                   " are taken");
  }
  if (texts == nullptr && count != 0) return refused(named + " is null, but its count is not 0");
  for (std::uint64_t i = 0; i < count; ++i) {
    if (texts[i] == nullptr) return refused(named + "[" + std::to_string(i) + "] is null");
    list.emplace_back(texts[i]);
  }
  return {};
}

outcome read_patterns(std::string_view name, const char* const* texts, std::uint64_t count,
                      std::vector<path_pattern>& patterns) {
  std::vector<std::string> list;
  if (outcome done = read_list(name, texts, count, list); !done.ok()) return done;
  for (const std::string& each : list) {
    auto made = path_pattern::make(each);
    if (!made) return made.error();
    patterns.push_back(std::move(*made));
  }
  return {};
}

outcome check_flags(std::uint64_t flags, std::uint64_t known) {
  if ((flags & ~known) == 0) return {};
  return refused("flags = " + std::to_string(flags) + " has bits that this release of the library does not know");
}

}  // namespace

outcome read(const cutpoint_store_secret* given, store_secret& secret) {
  cutpoint_store_secret raw = {};
  if (outcome done = read_structure(given, "store_secret", secret_bytes, raw); !done.ok()) return done;
  if (raw.kind < CUTPOINT_SECRET_NONE || raw.kind > CUTPOINT_SECRET_KEY_FILE || raw.reserved != 0) {
    return refused("kind = " + std::to_string(raw.kind) + " is no kind of secret, or reserved is not 0");
  }
  static_assert(static_cast<int>(store_secret::kind::password) == CUTPOINT_SECRET_PASSWORD);
  static_assert(static_cast<int>(store_secret::kind::key_file) == CUTPOINT_SECRET_KEY_FILE);
  secret.which = static_cast<store_secret::kind>(raw.kind);
  if (raw.kind == CUTPOINT_SECRET_NONE) return {};
  if (raw.bytes == nullptr || raw.byte_count == 0 || raw.byte_count > MiB) {
    return refused("a secret of " + std::to_string(raw.byte_count) + " bytes, or of null: it has 1 byte to 1 MiB");
  }
  secret.bytes.assign(static_cast<const char*>(raw.bytes), raw.byte_count);
  return {};
}

outcome read(const cutpoint_store_settings* given, store_settings& settings) {
  cutpoint_store_settings raw = {};
  if (outcome done = read_structure(given, "store_settings", settings_bytes, raw); !done.ok()) return done;
  if (raw.cuts != nullptr) {
    const auto cuts = parse_cuts(raw.cuts);
    if (!cuts) return cuts.error();
    settings.cuts = cuts->canonical();
  }
  if (raw.fingerprint != nullptr) {
    const auto kind = parse_fingerprint(raw.fingerprint);
    if (!kind) return kind.error();
    settings.fingerprint = *kind;
  }
  if (raw.compression_level != 0) settings.compression_level = raw.compression_level == -1 ? 0 : raw.compression_level;
  if (raw.container_bytes != 0) settings.container_bytes = raw.container_bytes;
  return {};
}

outcome read(const cutpoint_store_backup_options* given, cutpoint_store_backup_options& raw,
             store_backup_options& options) {
  if (outcome done = read_structure(given, "store_backup_options", backup_bytes, raw); !done.ok()) return done;
  constexpr std::uint64_t known =
      CUTPOINT_BACKUP_ONE_FILE_SYSTEM | CUTPOINT_BACKUP_EXCLUDE_CACHES | CUTPOINT_BACKUP_READ_EVERYTHING;
  if (outcome done = check_flags(raw.flags, known); !done.ok()) return done;
  if (outcome done = read_list("paths", raw.paths, raw.path_count, options.paths); !done.ok()) return done;
  if (outcome done = read_list("tags", raw.tags, raw.tag_count, options.tags); !done.ok()) return done;
  walk_options& walking = options.walking;
  if (outcome done = read_patterns("exclude", raw.exclude, raw.exclude_count, walking.exclude); !done.ok()) return done;
  if (outcome done = read_patterns("include", raw.include, raw.include_count, walking.include); !done.ok()) return done;
  walking.one_file_system = (raw.flags & CUTPOINT_BACKUP_ONE_FILE_SYSTEM) != 0;
  walking.exclude_caches = (raw.flags & CUTPOINT_BACKUP_EXCLUDE_CACHES) != 0;
  options.reads_everything = (raw.flags & CUTPOINT_BACKUP_READ_EVERYTHING) != 0;
  if (raw.host != nullptr) options.host = raw.host;
  if (raw.parent != nullptr) options.parent = raw.parent;
  if (raw.standard_input_name != nullptr) options.standard_input_name = raw.standard_input_name;
  if (raw.memory_bytes != 0) options.memory_bytes = raw.memory_bytes;
  options.time = raw.time;
  return {};
}

outcome read(const cutpoint_store_restore_options* given, cutpoint_store_restore_options& raw,
             store_restore_options& options) {
  if (outcome done = read_structure(given, "store_restore_options", restore_bytes, raw); !done.ok()) return done;
  if (outcome done = check_flags(raw.flags, CUTPOINT_RESTORE_REPLACE_FILES); !done.ok()) return done;
  if (outcome done = expect_given(raw.target, "target"); !done.ok()) return done;
  if (outcome done = read_patterns("include", raw.include, raw.include_count, options.include); !done.ok()) return done;
  options.target = raw.target;
  if (raw.path != nullptr) options.path = raw.path;
  options.replaces_files = raw.flags != 0;
  options.threads = raw.threads;
  return {};
}

outcome read(const cutpoint_store_check_options* given, cutpoint_store_check_options& raw,
             store_check_options& options) {
  if (outcome done = read_structure(given, "store_check_options", check_bytes, raw); !done.ok()) return done;
  if (outcome done = check_flags(raw.flags, CUTPOINT_CHECK_READ_DATA); !done.ok()) return done;
  options.reads_data = raw.flags != 0;
  options.threads = raw.threads;
  return {};
}

outcome read(const cutpoint_store_repair_options* given, cutpoint_store_repair_options& raw,
             store_repair_options& options) {
  if (outcome done = read_structure(given, "store_repair_options", repair_bytes, raw); !done.ok()) return done;
  options.threads = raw.threads;
  return {};
}

}  // namespace cutpoint::embed
