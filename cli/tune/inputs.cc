// Feeds the inputs to the engine. The sample needs super-chunks without fingerprints; counting uses a fast fingerprint.
#include "cli/tune/inputs.h"

#include <cutpoint/input_tally.h>

#include "cli/inputs/progress.h"

namespace cutpoint::cli {

namespace {

/// Returns what follows the last dot of a file's name, in lower case: the extension of a rule. That of a compressed tar has "tar."
/// before it.
std::string extension_of(std::string_view path) {
  const std::string kind = kind_of_file(path);
  if (!kind.starts_with('.')) return {};
  const bool is_compressed_tar = kind_of_file(path.substr(0, path.size() - kind.size())) == ".tar";
  return is_compressed_tar ? "tar" + kind : kind.substr(1);
}

/// Samples the chunks of a feed that cuts `super_chunks()`.
class sample_receiver final : public input_receiver {
 public:
  sample_receiver(content_sample& sample, std::vector<std::string>& extensions, const console& say)
      : sample_(sample), extensions_(extensions), say_(say) {}

 private:
  status take_chunk(const delivered_chunk& c) override { return sample_.add(extensions_.size() - 1, c.bytes, c.count); }
  status begin_input(std::uint64_t, const std::string& path) override {
    extensions_.push_back(extension_of(path));
    return {};
  }
  status end_input(std::uint64_t, const status&) override {
    sample_.end_input(extensions_.size() - 1);
    return {};
  }
  status input_failed(const std::string&, const status& why) override {
    say_.error(why.message());
    return {};
  }

  content_sample& sample_;
  std::vector<std::string>& extensions_;  ///< of the inputs that have begun
  const console& say_;
};

/// Counts the chunks of all inputs.
class whole_receiver final : public input_tally {
 public:
  explicit whole_receiver(const console& say) : input_tally(counting_fingerprint), say_(say) {}

 private:
  status input_failed(const std::string&, const status& why) override {
    say_.error(why.message());
    return {};
  }

  const console& say_;
};

}  // namespace

status tune_reading::feed_all(const chunker& cuts, fingerprint_kind fingerprint, input_receiver& receiver,
                              std::optional<std::uint64_t> total) const {
  chunking how{
      .feed = {.cuts = cuts, .fingerprint = fingerprint, .memory_bytes = job.feed_bytes}, .engine = {}, .warnings = {}};
  auto reader = inputs.make_reader(how);
  if (!reader) return reader.error();
  auto destination = threads.open(how.feed, receiver);
  if (!destination) return destination.error();
  progress_line progress(say, total);
  console_feeder feeder(*destination, nullptr, *reader, receiver, inputs, out, say);
  feeder.watch([&](const reading_record& read) { progress.update(read, std::nullopt); });
  status outcome = feeder.feed_all();
  progress.clear();
  return outcome;
}

status tune_reading::fill(content_sample& sample, std::vector<std::string>& extensions, tune_facts& facts) const {
  sample_receiver receiver(sample, extensions, say);
  status outcome = feed_all(super_chunks(), fingerprint_kind::none, receiver, known_total(inputs));
  sample.finish();
  facts.input_count = receiver.done_count();
  facts.failed_count = receiver.failed_count();
  facts.input_bytes = sample.read_bytes();
  facts.sample_bytes = sample.bytes().size();
  facts.sample_stream_count = sample.streams().size();
  facts.sample_share = sample.share();
  return outcome;
}

status tune_reading::count_whole(tune_row& row) const {
  whole_receiver receiver(say);
  status outcome = feed_all(row.candidate.cuts, counting_fingerprint, receiver, known_total(inputs));
  if (outcome.ok()) row.whole = receiver.tally().total();
  return outcome;
}

}  // namespace cutpoint::cli
