// The options of stores in C, checked and converted.
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>

#include "bindings/c/options.h"
#include "bindings/c/store.h"
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
constexpr std::uint64_t forget_bytes = offsetof(cutpoint_store_forget_options, problem) + sizeof(void*);
constexpr std::uint64_t lanes_bytes = offsetof(cutpoint_store_lanes, flags) + sizeof(std::uint64_t);
constexpr std::uint64_t copy_bytes = offsetof(cutpoint_store_copy_options, problem) + sizeof(void*);
constexpr std::uint64_t diff_bytes = offsetof(cutpoint_store_diff_options, problem) + sizeof(void*);
constexpr std::uint64_t push_bytes = offsetof(cutpoint_push_options, problem) + sizeof(void*);
constexpr std::uint64_t pushed_file_bytes = offsetof(cutpoint_pushed_file, device_number) + sizeof(std::uint64_t);
constexpr std::uint64_t tag_bytes = offsetof(cutpoint_store_tag_options, problem) + sizeof(void*);
constexpr std::uint64_t rewrite_bytes = offsetof(cutpoint_store_rewrite_options, warning) + sizeof(void*);
constexpr std::uint64_t prune_bytes = offsetof(cutpoint_store_prune_options, awaited) + sizeof(void*);

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
    auto pattern = path_pattern::make(each);
    if (!pattern) return pattern.error();
    patterns.push_back(std::move(*pattern));
  }
  return {};
}

/// Reads tags, each of which is a list of its own.
outcome read_tags(std::string_view name, const char* const* texts, std::uint64_t count,
                  std::vector<std::vector<std::string>>& lists) {
  std::vector<std::string> tags;
  if (outcome done = read_list(name, texts, count, tags); !done.ok()) return done;
  for (std::string& each : tags) lists.push_back({std::move(each)});
  return {};
}

outcome check_flags(std::uint64_t flags, std::uint64_t known) {
  if ((flags & ~known) == 0) return {};
  return refused("flags = " + std::to_string(flags) + " has bits that this release of the library does not know");
}

outcome read_lanes(const cutpoint_store_lanes* user_lanes, store_lane_options& lanes) {
  cutpoint_store_lanes raw = {};
  if (outcome done = read_structure(user_lanes, "store_lanes", lanes_bytes, raw); !done.ok()) return done;
  if (outcome done = check_flags(raw.flags, CUTPOINT_LANES_MEASURE); !done.ok()) return done;
  if (outcome done = read_back_end(raw.back_end, lanes.where); !done.ok()) return done;
  if (outcome done = read_devices(raw.devices, raw.device_count, lanes.devices); !done.ok()) return done;
  if (raw.device_memory_bytes != 0) lanes.device_memory_bytes = raw.device_memory_bytes;
  lanes.segment_bytes = raw.segment_bytes;
  lanes.measures_rates = raw.flags != 0;
  return {};
}

}  // namespace

outcome read_ids(std::string_view name, const char* const* texts, std::uint64_t count, std::set<std::string>& ids) {
  std::vector<std::string> list;
  if (outcome done = read_list(name, texts, count, list); !done.ok()) return done;
  ids.insert(std::move_iterator(list.begin()), std::move_iterator(list.end()));
  return {};
}

outcome read(const cutpoint_store_secret* user_secret, store_secret& secret) {
  cutpoint_store_secret raw = {};
  if (outcome done = read_structure(user_secret, "store_secret", secret_bytes, raw); !done.ok()) return done;
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

outcome read(const cutpoint_store_settings* user_settings, store_settings& settings) {
  cutpoint_store_settings raw = {};
  if (outcome done = read_structure(user_settings, "store_settings", settings_bytes, raw); !done.ok()) return done;
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
  if (outcome done = check_flags(raw.flags, CUTPOINT_STORE_INSECURE_CUTS); !done.ok()) return done;
  settings.accepts_insecure_cuts = raw.flags != 0;
  if (raw.context != nullptr) {
    const auto context = parse_context(raw.context);
    if (!context) return context.error();
    if (status used = settings.use(*context); !used.ok()) return used;
  }
  return {};
}

outcome read(const cutpoint_store_backup_options* user_options, cutpoint_store_backup_options& raw,
             store_backup_options& options) {
  if (outcome done = read_structure(user_options, "store_backup_options", backup_bytes, raw); !done.ok()) return done;
  constexpr std::uint64_t known = CUTPOINT_BACKUP_ONE_FILE_SYSTEM | CUTPOINT_BACKUP_EXCLUDE_CACHES |
                                  CUTPOINT_BACKUP_READ_EVERYTHING | CUTPOINT_BACKUP_DRY_RUN |
                                  CUTPOINT_BACKUP_SKIP_UNCHANGED | CUTPOINT_BACKUP_TRUST_CHANGE_TIME;
  if (outcome done = check_flags(raw.flags, known); !done.ok()) return done;
  if (outcome done = read_list("paths", raw.paths, raw.path_count, options.paths); !done.ok()) return done;
  if (outcome done = read_list("tags", raw.tags, raw.tag_count, options.tags); !done.ok()) return done;
  walk_options& walking = options.walking;
  if (outcome done = read_patterns("exclude", raw.exclude, raw.exclude_count, walking.exclude); !done.ok()) return done;
  if (outcome done = read_patterns("include", raw.include, raw.include_count, walking.include); !done.ok()) return done;
  walking.one_file_system = (raw.flags & CUTPOINT_BACKUP_ONE_FILE_SYSTEM) != 0;
  walking.exclude_caches = (raw.flags & CUTPOINT_BACKUP_EXCLUDE_CACHES) != 0;
  options.reads_everything = (raw.flags & CUTPOINT_BACKUP_READ_EVERYTHING) != 0;
  options.trusts_change_time = (raw.flags & CUTPOINT_BACKUP_TRUST_CHANGE_TIME) != 0;
  options.is_dry_run = (raw.flags & CUTPOINT_BACKUP_DRY_RUN) != 0;
  options.skips_unchanged = (raw.flags & CUTPOINT_BACKUP_SKIP_UNCHANGED) != 0;
  if (raw.host != nullptr) options.host = raw.host;
  if (raw.parent != nullptr) options.parent = raw.parent;
  if (raw.standard_input_name != nullptr) options.standard_input_name = raw.standard_input_name;
  if (raw.memory_bytes != 0) options.memory_bytes = raw.memory_bytes;
  options.time = raw.time;
  options.most_old_containers = raw.most_old_containers;
  options.most_bytes_per_second = raw.most_bytes_per_second;
  return read_lanes(raw.lanes, options.lanes);
}

outcome read(const cutpoint_store_restore_options* user_options, cutpoint_store_restore_options& raw,
             store_restore_options& options) {
  if (outcome done = read_structure(user_options, "store_restore_options", restore_bytes, raw); !done.ok()) return done;
  constexpr std::uint64_t known = CUTPOINT_RESTORE_REPLACE_FILES | CUTPOINT_RESTORE_VERIFY |
                                  CUTPOINT_RESTORE_REMOVE_OTHERS | CUTPOINT_RESTORE_DRY_RUN;
  if (outcome done = check_flags(raw.flags, known); !done.ok()) return done;
  if (outcome done = expect_given(raw.target, "target"); !done.ok()) return done;
  if (outcome done = read_patterns("include", raw.include, raw.include_count, options.include); !done.ok()) return done;
  if (outcome done = read_patterns("exclude", raw.exclude, raw.exclude_count, options.exclude); !done.ok()) return done;
  options.target = raw.target;
  if (raw.path != nullptr) options.path = raw.path;
  options.replaces_files = (raw.flags & CUTPOINT_RESTORE_REPLACE_FILES) != 0;
  options.removes_others = (raw.flags & CUTPOINT_RESTORE_REMOVE_OTHERS) != 0;
  options.is_dry_run = (raw.flags & CUTPOINT_RESTORE_DRY_RUN) != 0;
  options.verifies = (raw.flags & CUTPOINT_RESTORE_VERIFY) != 0;
  options.threads = raw.threads;
  options.most_bytes_per_second = raw.most_bytes_per_second;
  return {};
}

outcome read(const cutpoint_store_check_options* user_options, cutpoint_store_check_options& raw,
             store_check_options& options) {
  if (outcome done = read_structure(user_options, "store_check_options", check_bytes, raw); !done.ok()) return done;
  if (outcome done = check_flags(raw.flags, CUTPOINT_CHECK_READ_DATA); !done.ok()) return done;
  options.reads_data = raw.flags != 0;
  store_data_subset& subset = options.subset;
  if (raw.subset_number != 0 || raw.subset_count != 0) {
    subset.number = raw.subset_number;
    subset.subset_count = raw.subset_count;
  }
  if (raw.subset_share != 0) subset.share = raw.subset_share;
  if (raw.subset_most_bytes != 0) subset.most_bytes = raw.subset_most_bytes;
  options.threads = raw.threads;
  return {};
}

outcome read(const cutpoint_store_repair_options* user_options, cutpoint_store_repair_options& raw,
             store_repair_options& options) {
  if (outcome done = read_structure(user_options, "store_repair_options", repair_bytes, raw); !done.ok()) return done;
  options.threads = raw.threads;
  return {};
}

outcome read(const cutpoint_store_forget_options* user_options, cutpoint_store_forget_options& raw,
             forget_rules& rules) {
  if (outcome done = read_structure(user_options, "store_forget_options", forget_bytes, raw); !done.ok()) return done;
  constexpr std::uint64_t known = CUTPOINT_FORGET_REHEARSE | CUTPOINT_FORGET_ANY_HOST | CUTPOINT_FORGET_ANY_PATHS |
                                  CUTPOINT_FORGET_BY_TAGS | CUTPOINT_FORGET_DISTRUST_TIMES;
  if (outcome done = check_flags(raw.flags, known); !done.ok()) return done;
  snapshot_policy& policy = rules.policy;
  policy.counts = {raw.keep_last, raw.keep_hourly, raw.keep_daily, raw.keep_weekly, raw.keep_monthly, raw.keep_yearly};
  const std::array spans = {raw.keep_within,        raw.keep_within_hourly,  raw.keep_within_daily,
                            raw.keep_within_weekly, raw.keep_within_monthly, raw.keep_within_yearly};
  for (std::size_t period = 0; period < spans.size(); ++period) {
    if (spans[period] == nullptr) continue;
    const auto span = parse_calendar_span(spans[period]);
    if (!span) return span.error();
    policy.spans[period] = *span;
  }
  snapshot_filter& filter = rules.filter;
  if (outcome done = read_tags("keep_tags", raw.keep_tags, raw.keep_tag_count, policy.tags); !done.ok()) return done;
  if (outcome done = read_list("hosts", raw.hosts, raw.host_count, filter.hosts); !done.ok()) return done;
  if (outcome done = read_list("paths", raw.paths, raw.path_count, filter.paths); !done.ok()) return done;
  if (outcome done = read_tags("tags", raw.tags, raw.tag_count, filter.tags); !done.ok()) return done;
  rules.grouping = {.uses_host = (raw.flags & CUTPOINT_FORGET_ANY_HOST) == 0,
                    .uses_paths = (raw.flags & CUTPOINT_FORGET_ANY_PATHS) == 0,
                    .uses_tags = (raw.flags & CUTPOINT_FORGET_BY_TAGS) != 0};
  return {};
}

outcome read(const cutpoint_store_tag_options* user_options, cutpoint_store_tag_options& raw,
             store_tag_options& options) {
  if (outcome done = read_structure(user_options, "store_tag_options", tag_bytes, raw); !done.ok()) return done;
  if (outcome done = check_flags(raw.flags, CUTPOINT_TAGS_SET); !done.ok()) return done;
  if (raw.flags == 0 && raw.tag_count != 0) return refused("tags are given without CUTPOINT_TAGS_SET");
  if (raw.flags != 0) options.tags.emplace();
  std::vector<std::string> none;
  std::vector<std::string>& tags = options.tags ? *options.tags : none;
  if (outcome done = read_ids("snapshots", raw.snapshots, raw.snapshot_count, options.snapshots); !done.ok())
    return done;
  if (outcome done = read_list("tags", raw.tags, raw.tag_count, tags); !done.ok()) return done;
  if (outcome done = read_list("added", raw.added, raw.added_count, options.added); !done.ok()) return done;
  return read_list("removed", raw.removed, raw.removed_count, options.removed);
}

outcome read(const cutpoint_store_rewrite_options* user_options, cutpoint_store_rewrite_options& raw,
             store_rewrite_options& options) {
  if (outcome done = read_structure(user_options, "store_rewrite_options", rewrite_bytes, raw); !done.ok()) return done;
  if (outcome done = check_flags(raw.flags, CUTPOINT_REWRITE_REPLACE | CUTPOINT_REWRITE_DRY_RUN); !done.ok())
    return done;
  options.replaces_originals = (raw.flags & CUTPOINT_REWRITE_REPLACE) != 0;
  options.is_dry_run = (raw.flags & CUTPOINT_REWRITE_DRY_RUN) != 0;
  if (outcome done = read_ids("snapshots", raw.snapshots, raw.snapshot_count, options.snapshots); !done.ok())
    return done;
  return read_patterns("exclude", raw.exclude, raw.exclude_count, options.exclude);
}

outcome read(const cutpoint_store_copy_options* user_options, cutpoint_store_copy_options& raw,
             store_copy_options& options) {
  if (outcome done = read_structure(user_options, "store_copy_options", copy_bytes, raw); !done.ok()) return done;
  if (outcome done = read_list("snapshots", raw.snapshots, raw.snapshot_count, options.snapshots); !done.ok()) {
    return done;
  }
  options.threads = raw.threads;
  if (raw.memory_bytes != 0) options.memory_bytes = raw.memory_bytes;
  return read_lanes(raw.lanes, options.lanes);
}

outcome read(const cutpoint_store_diff_options* user_options, cutpoint_store_diff_options& raw,
             store_diff_options& options) {
  if (outcome done = read_structure(user_options, "store_diff_options", diff_bytes, raw); !done.ok()) return done;
  if (outcome done = check_flags(raw.flags, CUTPOINT_DIFF_METADATA); !done.ok()) return done;
  if (outcome done = expect_given(raw.before, "before"); !done.ok()) return done;
  if (outcome done = expect_given(raw.after, "after"); !done.ok()) return done;
  options.before = raw.before;
  options.after = raw.after;
  if (raw.before_path != nullptr) options.before_path = raw.before_path;
  if (raw.after_path != nullptr) options.after_path = raw.after_path;
  options.compares_metadata = raw.flags != 0;
  return {};
}

outcome read(const cutpoint_store_prune_options* user_options, cutpoint_store_prune_options& raw,
             store_prune_options& options) {
  if (outcome done = read_structure(user_options, "store_prune_options", prune_bytes, raw); !done.ok()) return done;
  if (outcome done = check_flags(raw.flags, CUTPOINT_PRUNE_REHEARSE); !done.ok()) return done;
  if (raw.most_unused != 0) options.most_unused = raw.most_unused == -1 ? 0 : raw.most_unused;
  if (raw.most_rewritten_bytes != 0) options.most_rewritten_bytes = raw.most_rewritten_bytes;
  options.is_dry_run = raw.flags != 0;
  options.threads = raw.threads;
  return read_ids("forgotten", raw.forgotten, raw.forgotten_count, options.forgotten);
}

outcome read(const cutpoint_push_options* user_options, cutpoint_push_options& raw, store_push_options& options) {
  if (outcome done = read_structure(user_options, "push_options", push_bytes, raw); !done.ok()) return done;
  std::vector<std::string> paths;
  if (outcome done = read_list("paths", raw.paths, raw.path_count, paths); !done.ok()) return done;
  if (outcome done = read_list("tags", raw.tags, raw.tag_count, options.tags); !done.ok()) return done;
  if (!paths.empty()) options.paths = std::move(paths);
  if (raw.host != nullptr) options.host = raw.host;
  if (raw.most_streams != 0) options.most_streams = raw.most_streams;
  if (raw.memory_bytes != 0) options.memory_bytes = raw.memory_bytes;
  options.most_bytes_per_second = raw.most_bytes_per_second;
  options.time = raw.time;
  return read_lanes(raw.lanes, options.lanes);
}

outcome read(const cutpoint_pushed_file* user_file, bool is_stream, pushed_file& file) {
  if (outcome done = expect_given(user_file, "file"); !done.ok()) return done;
  cutpoint_pushed_file raw = {};
  if (outcome done = read_structure(user_file, "pushed_file", pushed_file_bytes, raw); !done.ok()) return done;
  if (outcome done = expect_given(raw.path, "path"); !done.ok()) return done;
  constexpr std::uint64_t known = CUTPOINT_PUSHED_PERMISSIONS | CUTPOINT_PUSHED_OWNER | CUTPOINT_PUSHED_MODIFIED;
  if (outcome done = check_flags(raw.flags, known); !done.ok()) return done;
  if (raw.kind < CUTPOINT_DIRECTORY || raw.kind > CUTPOINT_BLOCK_DEVICE || raw.reserved != 0) {
    return refused("kind = " + std::to_string(raw.kind) + " is no kind of file, or reserved is not 0");
  }
  file = describe_pushed_file(raw.path, is_stream ? file_kind::regular_file : static_cast<file_kind>(raw.kind));
  if (raw.target != nullptr) file.target = raw.target;
  if ((raw.flags & CUTPOINT_PUSHED_PERMISSIONS) != 0) file.permissions = raw.permissions;
  if ((raw.flags & CUTPOINT_PUSHED_OWNER) != 0) {
    file.user_id = raw.user_id;
    file.group_id = raw.group_id;
  }
  if ((raw.flags & CUTPOINT_PUSHED_MODIFIED) != 0) {
    file.modified.tv_sec = static_cast<std::time_t>(raw.modified_seconds);
    file.modified.tv_nsec = static_cast<long>(raw.modified_nanoseconds);
  }
  file.device_number = raw.device_number;
  if (raw.attributes == nullptr && raw.attribute_count != 0) {
    return refused("attributes is null, but its count is not 0");
  }
  if (raw.attribute_count > longest_list) return refused("attributes has more than 65535 entries");
  for (std::uint64_t i = 0; i < raw.attribute_count; ++i) {
    const cutpoint_attribute& each = raw.attributes[i];
    if (each.name == nullptr || (each.value == nullptr && each.byte_count != 0)) {
      return refused("attributes[" + std::to_string(i) + "] has null for its name or value");
    }
    if (each.byte_count > MiB) return refused(std::string(each.name) + ": its value has more than 1 MiB");
    file.attributes.push_back({each.name, {static_cast<const char*>(each.value), each.byte_count}});
  }
  return {};
}

}  // namespace cutpoint::embed
