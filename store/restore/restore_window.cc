#include "store/restore/restore_window.h"

#include <algorithm>
#include <cerrno>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "host/core/parallel.h"
#include "host/core/process_limits.h"
#include "store/format/failure.h"

namespace cutpoint::store {

namespace {

constexpr std::size_t most_places = std::size_t{1} << 16;
/// Names and attributes of the files of a window.
constexpr std::size_t most_entry_bytes = 64 * MiB;

std::uint64_t bytes_of(const content_place& place) { return place.count * place.record.raw_bytes; }

std::uint64_t bytes_of(const std::vector<content_place>& places) {
  std::uint64_t bytes = 0;
  for (const content_place& each : places) bytes += bytes_of(each);
  return bytes;
}

status lost(const content_place& place, const status& why) {
  return {why.code(),
          fmt::format("{} bytes from byte {} on are lost and {}: {}", bytes_of(place), place.offset,
                      place.file->is_new ? "are zeros now" : "were left as they are", why.message()),
          why.system_error()};
}

}  // namespace

bool is_fatal(const status& outcome) noexcept {
  const int error = outcome.system_error();
  return error == ENOSPC || error == EDQUOT || error == EROFS || outcome.code() == status_code::cancelled;
}

result<restore_window> restore_window::make(const store_reading& store, const store_restore_options& options,
                                            progress_meter& meter) {
  CUTPOINT_TRY(auto contents, content_window::make(store, options.threads));
  CUTPOINT_TRY(auto comparison, content_comparison::make(store, options.threads));
  return restore_window(options, meter, std::move(contents), std::move(comparison));
}

restore_window::restore_window(const store_restore_options& options, progress_meter& meter, content_window contents,
                               content_comparison comparison)
    : options_(options),
      throttle_(std::make_unique<throttle>(options.most_bytes_per_second, options.cancel)),
      meter_(&meter),
      contents_(std::move(contents)),
      comparison_(std::move(comparison)),
      workers_(thread_count(options.threads)),
      most_files_(descriptor_share(8, 1024)) {}

bool restore_window::has_room() const noexcept {
  return collected_.files.size() < most_files_ && collected_.entry_bytes < most_entry_bytes;
}

bool restore_window::is_full() const noexcept { return collected_.places.size() >= most_places; }

restored_file& restore_window::add(std::unique_ptr<restored_file> file) {
  collected_.entry_bytes += file->path.size();
  for (const extended_attribute& each : file->entry.attributes) {
    collected_.entry_bytes += each.name.size() + each.value.size();
  }
  collected_.files.push_back(std::move(file));
  return *collected_.files.back();
}

void restore_window::take(const content_place& place, const result<chunk_content>& content) const {
  if (options_.cancel != nullptr && options_.cancel->is_requested()) {
    place.file->fail(stopped_as_asked());
  } else if (content) {
    const status awaited = throttle_->wait(place.count * content->bytes.size());
    if (awaited.ok()) place.file->write(place.offset, place.count, content->bytes);
    if (!awaited.ok()) place.file->fail(awaited);
  } else {
    place.file->fail(lost(place, content.error()));
  }
  meter_->add(0, bytes_of(place), place.file->path);
}

status restore_window::write(const done_function& done) {
  CUTPOINT_RETURN_IF_FAILED(finish(done));
  written_ = std::exchange(collected_, {});
  if (!written_.files.empty() && !written_.files.back()->is_complete) {
    collected_.files.push_back(std::move(written_.files.back()));
    written_.files.pop_back();
  }
  plan();
  begin_reading();
  return {};
}

/// Plans to read what files that existed before lack, and everything of new files.
void restore_window::plan() {
  auto& [files, places, wanted, entry_bytes] = written_;
  const auto present =
      std::stable_partition(places.begin(), places.end(), [](const auto& each) { return each.file->is_new; });
  wanted = comparison_.find_differences({present, places.end()});
  wanted.insert(wanted.end(), places.begin(), present);
  meter_->add(0, bytes_of(places) - bytes_of(wanted));  // what is there already
  std::vector<const record_reference*> records;
  records.reserve(wanted.size());
  for (const content_place& each : wanted) records.push_back(&each.record);
  read_containers_ += contents_.plan(std::move(records));
}

/// One thread alone reads at once: it would have to wait otherwise.
void restore_window::begin_reading() {
  const auto read = [this] {
    contents_.read([this](std::size_t i, const auto& content) { take(written_.wanted[i], content); });
  };
  if (workers_ > 1) {
    try {
      reading_ = std::async(std::launch::async, read);
      return;
    } catch (const std::system_error&) {  // there is no other thread
    }
  }
  read();
}

status restore_window::finish(const done_function& done) {
  if (reading_.valid()) reading_.get();
  contents_.read_rest([this](std::size_t i, const auto& content) { take(written_.wanted[i], content); });
  if (options_.verifies) verify();
  auto& files = written_.files;
  std::vector<std::vector<metadata_failure>> failures(files.size());
  run_parallel(workers_, files.size(), [&](std::size_t, std::size_t i) {
    failures[i] = files[i]->complete();
    if (const int error = files[i]->descriptor.close(); error != 0)
      files[i]->fail(system_failure(files[i]->path, "closed", error));
  });
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (status outcome = files[i]->outcome(); is_fatal(outcome)) return outcome;
    done(*files[i], failures[i]);
  }
  written_ = {};
  return {};
}

void restore_window::verify() {
  std::set<restored_file*> files;  // also one that is not complete
  for (const content_place& each : written_.places) files.insert(each.file);
  for (restored_file* each : files) each->flush();
  for (const content_place& each : comparison_.find_differences(written_.places)) {
    each.file->fail(damage(each.file->path, fmt::format("{} bytes from byte {} on were read back with another content",
                                                        each.count * each.record.raw_bytes, each.offset)));
  }
}

}  // namespace cutpoint::store
