// What a backup says while it runs and at its end: to people on standard error, and as JSON on standard output.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <cutpoint/store.h>

#include "cli/common/console.h"
#include "cli/common/json.h"
#include "cli/common/output.h"

namespace cutpoint::cli {

enum class report_format { text, json };

/// Warns if a device has failed whose work the processor has done.
void say_device_warning(const store_work& work, const console& say);

/// The lines in JSON have the keys of restic's where they mean the same. For one backup; not thread-safe.
class backup_report {
 public:
  /// The arguments must outlive the report. `out` receives the lines in JSON.
  backup_report(const console& say, verbosity level, report_format format, output& out)
      : say_(say),
        level_(level),
        format_(format),
        out_(out),
        problems_(say, level),
        shows_progress_(say.shows_progress()) {}

  void add_problem(const std::string& path, const status& why);
  void update(const store_backup_progress& progress);
  /// Takes where the time went; `rates`, which may be null, are those that were expected. Warns if a device has failed.
  void take_work(const store_work& work, std::shared_ptr<const job_rates> rates);

  /// Ends the lines for people that are not complete.
  void finish();
  /// Reports what was done. A snapshot without an id was not made. Errors: those of the output.
  [[nodiscard]] status summarize(const store_snapshot& snapshot, bool is_dry_run);

  [[nodiscard]] const problem_log& problems() const { return problems_; }

  std::optional<bool> survives_power_cuts;  ///< what `backup_store::survives_power_cuts` has returned, if it was asked

 private:
  using clock = std::chrono::steady_clock;

  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(clock::now() - begin_).count(); }
  [[nodiscard]] std::string text_of(const store_snapshot& snapshot, bool is_dry_run) const;
  [[nodiscard]] std::string json_of(const store_snapshot& snapshot, bool is_dry_run) const;
  [[nodiscard]] std::string class_lines() const;
  [[nodiscard]] std::string work_text() const;
  [[nodiscard]] json work_json() const;
  void write(const std::string& line);

  const console& say_;
  verbosity level_;
  report_format format_;
  output& out_;
  problem_log problems_;
  bool shows_progress_;
  store_backup_progress totals_;
  std::optional<store_work> work_;  ///< nullopt until everything is done
  std::shared_ptr<const job_rates> rates_;
  status written_;
  clock::time_point begin_ = clock::now();
  clock::time_point next_line_ = begin_ + std::chrono::milliseconds(100);
  clock::time_point next_status_ = begin_ + std::chrono::seconds(1);
};

}  // namespace cutpoint::cli
