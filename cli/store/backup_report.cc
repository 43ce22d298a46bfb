#include "cli/store/backup_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/dedup/report.h"
#include "cli/inputs/inputs.h"
#include "cli/store_options/store_options.h"

namespace cutpoint::cli {

namespace {

std::uint64_t count_of(const store_backup_counts& counts) { return counts.added + counts.changed + counts.unchanged; }

std::string counts_text(std::string_view name, const store_backup_counts& counts) {
  return fmt::format("{} {} new, {} changed, {} unchanged\n", name, human_count(counts.added),
                     human_count(counts.changed), human_count(counts.unchanged));
}

}  // namespace

void backup_report::write(const std::string& line) {
  if (written_.ok()) written_ = out_.write(line);
  if (written_.ok()) written_ = out_.flush();
}

void backup_report::add_problem(const std::string& path, const status& why) {
  problems_.add(path, why);
  if (format_ == report_format::text) return;
  json line = {{"message_type", "error"}, {"error", {{"message", why.message()}}}, {"during", "archival"}};
  add_text(line, "item", path);
  write(json_line(line));
}

void backup_report::update(const store_backup_progress& progress) {
  if (progress.path.empty()) totals_ = progress;
  const auto now = clock::now();
  if (shows_progress_ && now >= next_line_) {
    next_line_ = now + std::chrono::milliseconds(100);
    progress_facts facts{.bytes = progress.bytes, .seconds = seconds()};
    if (progress.parent_bytes > progress.bytes) facts.total_bytes = progress.parent_bytes;
    say_.progress(fmt::format("{}, {}, {}", progress_text(facts), counted(count_of(progress.files), "file"),
                              printable(progress.path)));
  }
  if (format_ == report_format::text || now < next_status_) return;
  next_status_ = now + std::chrono::seconds(1);
  json line = {{"message_type", "status"},
               {"seconds_elapsed", static_cast<std::uint64_t>(seconds())},
               {"files_done", count_of(progress.files)},
               {"bytes_done", progress.bytes},
               {"error_count", progress.problems}};
  add_texts(line, "current_files", {progress.path});
  const bool is_walked = progress.path.empty();
  if (is_walked || progress.parent_bytes != 0) {
    const std::uint64_t total_bytes = std::max(progress.parent_bytes, progress.bytes);
    const double share = is_walked ? 1 : as_double(progress.bytes) / as_double(total_bytes);
    line["percent_done"] = share;
    line["total_files"] = std::max(progress.parent_files, count_of(progress.files));
    line["total_bytes"] = total_bytes;
    if (share > 0) line["seconds_remaining"] = static_cast<std::uint64_t>(seconds() * (1 - share) / share);
  }
  write(json_line(line));
}

void backup_report::finish() {
  say_.progress({});
  problems_.finish();
}

status backup_report::summarize(const store_snapshot& snapshot, bool is_dry_run) {
  if (format_ == report_format::json) {
    write(json_of(snapshot, is_dry_run));
  } else {
    const std::string text = text_of(snapshot, is_dry_run);
    if (!snapshot.id.empty()) write(snapshot.id + '\n');
    if (snapshot.healed_chunks != 0 && level_ != verbosity::quiet) {
      say_.announce(fmt::format("{} again: {}", is_dry_run ? "would be stored" : "stored",
                                counted(snapshot.healed_chunks, "chunk whose stored copies are damaged",
                                        "chunks whose stored copies are damaged")));
    }
    if (is_dry_run) {
      write(text);
    } else if (level_ == verbosity::verbose || shows_progress_) {
      for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        say_.announce(text.substr(begin, end - begin));
        begin = end + 1;
      }
    } else if (snapshot.id.empty() && level_ != verbosity::quiet) {
      say_.announce("nothing has changed: no snapshot was made");
    }
  }
  if (!written_.ok()) return written_;
  return out_.finish();
}

std::string backup_report::text_of(const store_snapshot& snapshot, bool is_dry_run) const {
  std::string text = counts_text("files:", totals_.files) + counts_text("folders:", totals_.folders);
  text += fmt::format("bytes: {} of {} read, {} new, {} {}\n", human_bytes(as_double(totals_.read_bytes)),
                      human_bytes(as_double(snapshot.bytes)), human_bytes(as_double(snapshot.new_raw_bytes)),
                      human_bytes(as_double(snapshot.new_stored_bytes)), is_dry_run ? "would be stored" : "stored");
  text += class_lines();
  if (is_dry_run) return text;
  text += work_text();
  text += snapshot.id.empty() ? std::string("nothing has changed: no snapshot was made")
                              : fmt::format("snapshot {} was made", short_id(snapshot.id));
  return text + fmt::format(" in {}\n", human_duration(seconds()));
}

/// Returns a line for each class of the store's context that had something to cut.
std::string backup_report::class_lines() const {
  if (!work_) return {};
  std::string text;
  for (const store_class_work& each : work_->classes) {
    if (each.bytes == 0) continue;
    text += fmt::format("class {}: {} cut, {} new, stored as {}\n", each.name, human_bytes(as_double(each.bytes)),
                        human_bytes(as_double(each.new_raw_bytes)), human_bytes(as_double(each.new_stored_bytes)));
  }
  return text;
}

std::string backup_report::json_of(const store_snapshot& snapshot, bool is_dry_run) const {
  json line = {{"message_type", "summary"}};
  line.update(snapshot_json(snapshot));
  line.update(json{{"dry_run", is_dry_run},
                   {"files_new", totals_.files.added},
                   {"files_changed", totals_.files.changed},
                   {"files_unmodified", totals_.files.unchanged},
                   {"dirs_new", totals_.folders.added},
                   {"dirs_changed", totals_.folders.changed},
                   {"dirs_unmodified", totals_.folders.unchanged},
                   {"data_added", snapshot.new_raw_bytes},
                   {"data_added_packed", snapshot.new_stored_bytes},
                   {"total_files_processed", count_of(totals_.files)},
                   {"total_bytes_processed", snapshot.bytes},
                   {"read_bytes", totals_.read_bytes},
                   {"healed_chunks", snapshot.healed_chunks},
                   {"total_duration", seconds()}});
  if (work_) line.update(work_json());
  if (!snapshot.id.empty()) line["snapshot_id"] = snapshot.id;
  if (survives_power_cuts) line["survives_power_cuts"] = *survives_power_cuts;
  return json_line(line);
}

void say_device_warning(const store_work& work, const console& say) {
  if (!work.feed.device_warning.empty()) say.warning(work.feed.device_warning);
}

void backup_report::take_work(const store_work& work, std::shared_ptr<const job_rates> rates) {
  work_ = work;
  work_->feed.predictions = work.predictions();
  rates_ = std::move(rates);
  say_.progress({});
  say_device_warning(work, say_);
}

/// Returns nothing if nothing was cut.
std::string backup_report::work_text() const {
  const auto bottleneck = work_ ? work_->bottleneck() : std::nullopt;
  if (!bottleneck) return {};
  std::string text = fmt::format("bottleneck: {}; cut on {}, fingerprinted on {}\n", *bottleneck,
                                 to_string(work_->feed.chunked_on), to_string(work_->feed.fingerprinted_on));
  const explanation why(work_->feed, rates_.get());
  if (!why.is_predicted()) return text;
  return text + fmt::format("before offload: {}\nafter offload: {}; {} cut on devices\n",
                            cli::text_of(why.before_offload()), cli::text_of(why.after_offload()),
                            or_dash(why.device_cut_share(), human_percent));
}

json backup_report::work_json() const {
  const explanation why(work_->feed, rates_.get());
  return {{"thread_count", work_->thread_count},
          {"wall_seconds", work_->wall_seconds},
          {"bottleneck", or_null(work_->bottleneck())},
          {"backends", work_->feed.fed_bytes == 0 ? json()
                                                  : json{{"chunking", to_string(work_->feed.chunked_on)},
                                                         {"fingerprinting", to_string(work_->feed.fingerprinted_on)}}},
          {"classes", json_list(work_->classes,
                                [](const store_class_work& each) {
                                  return json{{"class", each.name},
                                              {"bytes", each.bytes},
                                              {"new_raw_bytes", each.new_raw_bytes},
                                              {"new_stored_bytes", each.new_stored_bytes}};
                                })},
          {"plan", to_string(work_->feed.plan)},
          {"before_offload", cli::json_of(why.before_offload())},
          {"after_offload", cli::json_of(why.after_offload())},
          {"device_cut_share", or_null(why.device_cut_share())},
          {"stages", stages_json(work_->stages(), why, work_->thread_count)},
          {"devices", devices_json(work_->devices(), why)}};
}

}  // namespace cutpoint::cli
