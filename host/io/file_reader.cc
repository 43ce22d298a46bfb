// The files of a reader, in order. Some are read ahead, and the others are opened in their turn.
#include <deque>
#include <utility>

#include <cutpoint/file_reader.h>
#include <fmt/format.h>

#include "host/core/process_limits.h"
#include "host/io/read_ahead.h"

namespace cutpoint {

namespace {

constexpr std::size_t queue_depth = 64;

class stream_ahead final : public file_stream {
 public:
  stream_ahead(read_ahead& ahead, std::shared_ptr<file_progress> file) : ahead_(ahead), file_(std::move(file)) {}
  stream_ahead(const stream_ahead&) = delete;
  stream_ahead& operator=(const stream_ahead&) = delete;
  ~stream_ahead() override { ahead_.drop(*file_); }

  result<std::size_t> read(std::span<std::uint8_t> destination) override {
    return restarted_ != nullptr ? restarted_->read(destination) : ahead_.read(*file_, destination);
  }
  result<std::uint64_t> skip_hole() override {
    return restarted_ != nullptr ? restarted_->skip_hole() : ahead_.skip_hole(*file_);
  }
  shared_range readable_range() override {
    return restarted_ != nullptr ? restarted_->readable_range() : ahead_.readable_range(*file_);
  }
  void pass(std::uint64_t count) override {
    return restarted_ != nullptr ? restarted_->pass(count) : ahead_.pass(*file_, count);
  }
  status check_unchanged() const override {
    return file_->checked && restarted_ == nullptr ? *file_->checked : file_->file->check_unchanged();
  }
  bool restart_unmodified() override {
    restarted_ = file_->file->restart_unmodified();
    return restarted_ != nullptr;
  }

 private:
  read_ahead& ahead_;
  std::shared_ptr<file_progress> file_;
  file_source* restarted_ = nullptr;  ///< reads the file once more
};

}  // namespace

class file_reader::queued_files {
 public:
  queued_files(const file_reader_options& options, std::shared_ptr<read_queue> queue, std::string fallback_reason)
      : options_(options), why_not_(std::move(fallback_reason)) {
    if (queue != nullptr) ahead_ = std::make_unique<read_ahead>(options, std::move(queue));
  }

  void add(const std::string& path) {
    entry next = {.path = path, .file = std::shared_ptr<file_progress>()};
    if (ahead_ != nullptr) {
      auto file = preopened_file::open(path, options_.cancel);
      if (!file) {
        next.file = file.error();
      } else if (*file != nullptr) {
        next.file = std::make_shared<file_progress>(*std::move(file));
        ahead_->add(*next.file);
      }
    }
    is_held_up_ = next.file && *next.file == nullptr;
    entries_.push_back(std::move(next));
  }

  void add(result<file_source> file) {
    entry next = {.path = {}, .file = std::shared_ptr<file_progress>()};
    std::unique_ptr<preopened_file> preopened = ahead_ != nullptr && file ? preopened_file::take(*file) : nullptr;
    is_held_up_ = ahead_ == nullptr || (file && preopened == nullptr);
    if (preopened != nullptr) {
      next.file = std::make_shared<file_progress>(std::move(preopened));
      ahead_->add(*next.file);
    } else if (file) {
      next.source = std::make_unique<file_source>(*std::move(file));
    } else {
      next.file = file.error();
    }
    entries_.push_back(std::move(next));
  }

  bool is_full() const {
    if (entries_.empty()) return false;
    return is_held_up_ || entries_.size() >= most_files_ || ahead_->is_full();
  }

  result<std::unique_ptr<file_stream>> next() {
    entry first = std::move(entries_.front());
    entries_.pop_front();
    if (!first.file) return first.file.error();
    if (first.source != nullptr) return std::unique_ptr<file_stream>(std::move(first.source));
    if (*first.file != nullptr) return std::unique_ptr<file_stream>(new stream_ahead(*ahead_, *first.file));
    CUTPOINT_TRY(auto file, file_source::open(first.path, options_.cancel, options_.opening));
    return std::unique_ptr<file_stream>(new file_source(std::move(file)));
  }

  bool reads_ahead() const { return ahead_ != nullptr; }
  const std::string& fallback_reason() const { return why_not_; }
  file_reader_statistics statistics() const { return ahead_ ? ahead_->statistics() : file_reader_statistics(); }

 private:
  struct entry {
    std::string path;
    result<std::shared_ptr<file_progress>> file;  ///< null if the file is opened in its turn
    std::unique_ptr<file_source> source = {};     ///< of a file that is open and is not read ahead
  };

  file_reader_options options_;
  const std::size_t most_files_ = descriptor_share(8, options_.most_files);  ///< each may be open twice
  std::string why_not_;
  std::unique_ptr<read_ahead> ahead_;
  std::deque<entry> entries_;
  bool is_held_up_ = false;  ///< whether the last file is opened in its turn, which may take any time
};

file_reader::file_reader(std::unique_ptr<queued_files> own) noexcept : implementation_(std::move(own)) {}
file_reader::file_reader(file_reader&&) noexcept = default;
file_reader::~file_reader() = default;

result<file_reader> file_reader::make(const file_reader_options& options) {
  const auto make_reader = [&](std::shared_ptr<read_queue> queue, std::string fallback_reason) {
    return file_reader(std::make_unique<queued_files>(options, std::move(queue), std::move(fallback_reason)));
  };
  if (options.access == file_access::pread) return make_reader(nullptr, {});
  const bool may_do_without = options.access == file_access::automatic;
  if (options.budget_bytes < least_budget_bytes) {
    const std::string why =
        fmt::format("{} bytes are too few to read ahead: it takes {}", options.budget_bytes, least_budget_bytes);
    return may_do_without ? make_reader(nullptr, why) : result<file_reader>(status(status_code::invalid_argument, why));
  }
  if (options.reads != nullptr) return make_reader(options.reads, {});
  auto queue = make_uring_queue(queue_depth);
  if (queue) return make_reader(*std::move(queue), {});
  return may_do_without ? make_reader(nullptr, queue.error().message()) : result<file_reader>(queue.error());
}

void file_reader::add(const std::string& path) { implementation_->add(path); }
void file_reader::add(result<file_source> file) { implementation_->add(std::move(file)); }
bool file_reader::is_full() const { return implementation_->is_full(); }
result<std::unique_ptr<file_stream>> file_reader::next() { return implementation_->next(); }
bool file_reader::reads_ahead() const noexcept { return implementation_->reads_ahead(); }
const std::string& file_reader::fallback_reason() const noexcept { return implementation_->fallback_reason(); }
file_reader_statistics file_reader::statistics() const { return implementation_->statistics(); }

}  // namespace cutpoint
