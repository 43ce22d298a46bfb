#include "cli/store/reports.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/store_options/store_options.h"

namespace cutpoint::cli {

// --- Progress --------------------------------------------------------------------------------------------------------

std::string activity_text(const store_progress& progress, double seconds) {
  std::string text = fmt::format("{}: ", progress.activity);
  const bool counts_bytes = progress.total_bytes != 0;
  const std::uint64_t total = counts_bytes ? progress.total_bytes : progress.total_items;
  if (total != 0) {
    const double share = std::min(1.0, as_double(counts_bytes ? progress.bytes : progress.items) / as_double(total));
    text += fmt::format("{:.0f} %, ", std::floor(100 * share));  // 100 % only at the end
    if (share > 0) text += fmt::format("{} left, ", human_seconds(seconds * (1 - share) / share));
  }
  if (progress.bytes != 0 && seconds > 0) text += human_rate(as_double(progress.bytes) / seconds) + ", ";
  text += human_count(progress.items);
  if (progress.total_items != 0) text += " of " + human_count(progress.total_items);
  return progress.name.empty() ? text : text + ", " + printable(progress.name);
}

store_progress_function activity_line::drawer() {
  if (!is_shown_) return {};
  return [this](const store_progress& progress) { draw(progress); };
}

void activity_line::draw(const store_progress& progress) {
  const auto now = clock::now();
  if (activity_ != progress.activity) {
    activity_ = progress.activity;
    activity_begin_ = now;
  }
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  say_.progress(activity_text(progress, std::chrono::duration<double>(now - activity_begin_).count()));
}

void activity_line::finish(std::string_view summary) const {
  erase();
  if (!is_shown_) return;
  const double seconds = std::chrono::duration<double>(clock::now() - begin_).count();
  say_.announce(fmt::format("{} in {}", summary, human_duration(seconds)));
}

std::string counted_records(std::uint64_t count) { return counted(count, "chunk or node", "chunks and nodes"); }

// --- Settings --------------------------------------------------------------------------------------------------------

namespace {

/// Returns the name of the catalog that chooses these cuts: of a profile, only if all parameters are its own. Empty if none does, or if it
/// is the algorithm's in the canonical string.
std::string_view catalog_name(const std::string& canonical) {
  std::string fields = canonical;
  for (char& each : fields) each = each == '(' || each == ')' ? ',' : each;
  const auto stands_for = [&](const catalog_entry& entry) {
    if (entry.kind == entry_kind::profile) return entry.defaults.canonical() == canonical;
    return canonical.starts_with(fmt::format("{}(", entry.algorithm)) &&
           std::ranges::all_of(entry.parameters, [&](const listed_parameter& each) {
             const std::string field = fmt::format(",{}={},", each.info.name, each.default_value);
             return !each.is_fixed || fields.find(field) != std::string::npos;
           });
  };
  // Profiles come last, and are what is more special.
  const auto entry = std::ranges::find_if(catalog().rbegin(), catalog().rend(), stands_for);
  return entry == catalog().rend() || entry->name == entry->algorithm ? "" : entry->name;
}

std::string compression_text(int level) { return level == 0 ? "none" : fmt::format("zstd, level {}", level); }

}  // namespace

std::string settings_lines(const store_settings& settings) {
  const std::string_view name = catalog_name(settings.cuts);
  std::string text = line("cuts", settings.cuts);
  if (!name.empty()) text += line("catalog name", std::string(name));
  for (const context_rule& rule : settings.context.rules()) {
    text += line("class " + rule.name,
                 fmt::format("{}; compression {}; {}", rule.cuts.canonical(),
                             compression_text(rule.compression_level.value_or(settings.compression_level)),
                             fmt::join(rule.extensions, ", ")));
  }
  text += line("fingerprint", name_of(settings.fingerprint));
  return text + line("compression", compression_text(settings.compression_level));
}

json context_json(const chunking_context& context) {
  return json_list(context.rules(), [](const context_rule& rule) {
    return json{{"class", rule.name},
                {"extensions", rule.extensions},
                {"cuts", rule.cuts.canonical()},
                {"compression_level", or_null(rule.compression_level)}};
  });
}

// --- Changed snapshots -----------------------------------------------------------------------------------------------

void edit_report::add_edited(const std::string& old_id, const std::string& new_id) {
  if (format_ == format::text) {
    if (!new_id.empty()) write(fmt::format("{} -> {}\n", old_id, new_id));
    return;
  }
  json line = {{"message_type", "changed"}, {"old_snapshot_id", old_id}};
  if (!new_id.empty()) line["new_snapshot_id"] = new_id;
  write(json_line(line));
}

void edit_report::add_left_out(const std::string& snapshot, const std::string& path) {
  if (format_ == format::text) return write(fmt::format("leave out  {}:{}\n", short_id(snapshot), printable(path)));
  json line = {{"message_type", "left_out"}, {"snapshot_id", snapshot}};
  add_text(line, "path", path);
  write(json_line(line));
}

void edit_report::add_problem(const std::string& snapshot, const status& why) {
  say_.error(problem_text(snapshot, why));
}

result<exit_code> edit_report::finish(const result<store_edit_summary>& done, std::string_view sum, bool is_whole) {
  if (done && format_ == format::json) {
    write(json_line({{"message_type", "summary"},
                     {"changed_snapshots", done->edited},
                     {"unchanged_snapshots", done->unchanged},
                     {"problems", done->problems}}));
  } else if (done) {
    write(fmt::format("{}\n", sum));
  }
  if (written_.ok()) written_ = out_.finish();
  if (!done && done.error().code() == status_code::invalid_argument) return done.error();
  if (!done)
    return fail(say_, done.error(), "the new ids that were printed stand; the other snapshots are as they were");
  if (!written_.ok()) return fail(say_, written_);
  return done->problems == 0 && is_whole ? exit_code::done : exit_code::input_failed;
}

}  // namespace cutpoint::cli
