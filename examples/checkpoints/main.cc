// Deduplicates checkpoints of a model from device memory: only what is new is copied to the host.
//
//     checkpoint_dedup [--cuts CUTS] [--whole] [--pack FILE] [--recipe FILE] CHECKPOINT...
//
// It prints a line for each file of the format safetensors: bytes, chunks, new chunks, bytes that were copied. The first file's
// own repetitions count as known, too. Chunks end where tensors end, except with --whole. --cuts is a canonical string, such as
// "fixed(avg_bytes=64K)". --pack receives the new chunks one after the other, and --recipe a line for each chunk, its digest
// and length: with both, every file can be put together again. Exit codes: 0 success; 1 a failure; 2 wrong usage.
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include <cutpoint/catalog.h>
#include <cutpoint/cuda_dedup.h>
#include <thrust/execution_policy.h>

#include "chunk_finder.h"
#include "safetensors.h"

namespace {

using cutpoint::status;
using cutpoint::status_code;
using device_policy = std::decay_t<decltype(thrust::device)>;

struct options {
  std::string cuts = "fastcdc(avg_bytes=64K)";
  bool is_whole = false;
  std::string pack;
  std::string recipe;
  std::vector<std::string> checkpoints;
};

class checkpoint_dedup {
 public:
  checkpoint_dedup(options wanted, chunk_finder finder, cutpoint::device_dedup<device_policy> known)
      : wanted_(std::move(wanted)), finder_(std::move(finder)), known_(std::move(known)) {}

  status open_outputs() {
    for (const auto& [path, file] : {std::pair(wanted_.pack, &pack_), std::pair(wanted_.recipe, &recipe_)}) {
      if (!path.empty()) file->open(path, std::ios::binary | std::ios::trunc);
      if (!*file) return {status_code::io_error, path + ": cannot be created"};
    }
    return {};
  }

  status add(const std::string& path) {
    const auto file = read_safetensors(path);
    if (!file) return file.error();
    // In a program that trains, the tensors are in device memory already.
    const thrust::device_vector<std::uint8_t> bytes(file->bytes.begin(), file->bytes.end());

    checkpoint_chunks chunks;
    std::uint64_t begin = 0;
    for (const std::uint64_t end : wanted_.is_whole ? std::vector{file->ends.back()} : file->ends) {
      if (status cut = finder_.append(bytes, begin, end, chunks); !cut.ok()) return cut;
      begin = end;
    }
    const auto chunk_count = static_cast<std::uint32_t>(chunks.places.size());
    thrust::device_vector<std::uint32_t> positions(chunk_count);
    const auto new_count = known_.insert(thrust::raw_pointer_cast(chunks.digests.data()), chunk_count,
                                         thrust::raw_pointer_cast(positions.data()));
    if (!new_count) return new_count.error();
    std::vector<std::uint32_t> new_chunks(*new_count);
    thrust::copy(positions.begin(), positions.begin() + *new_count, new_chunks.begin());

    std::uint64_t copied_bytes = 0;
    for (const cutpoint::chunk& range : joined(chunks.places, new_chunks)) {
      if (status copied = copy_to_pack(bytes, range); !copied.ok()) return copied;
      copied_bytes += range.length;
    }
    write_recipe(chunks);
    std::printf("%s: %zu bytes, %u chunks, %u new, %llu bytes copied\n", path.c_str(), file->bytes.size(), chunk_count,
                *new_count, static_cast<unsigned long long>(copied_bytes));
    return {};
  }

  status close_outputs() {
    pack_.flush();
    recipe_.flush();
    if (!pack_ || !recipe_) return {status_code::io_error, "the pack or the recipe cannot be written"};
    return {};
  }

 private:
  /// Returns the byte ranges of the new chunks. Neighbours are one range, so that a new tensor is one copy.
  static std::vector<cutpoint::chunk> joined(const std::vector<cutpoint::chunk>& places,
                                             const std::vector<std::uint32_t>& new_chunks) {
    std::vector<cutpoint::chunk> ranges;
    for (const std::uint32_t position : new_chunks) {
      const cutpoint::chunk& each = places[position];
      if (!ranges.empty() && ranges.back().offset + ranges.back().length == each.offset) {
        ranges.back().length += each.length;
      } else {
        ranges.push_back(each);
      }
    }
    return ranges;
  }

  status copy_to_pack(const thrust::device_vector<std::uint8_t>& bytes, const cutpoint::chunk& range) {
    std::vector<std::uint8_t> copied(range.length);
    const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(range.offset);
    thrust::copy(first, first + static_cast<std::ptrdiff_t>(range.length), copied.begin());
    if (!pack_.is_open()) return {};
    pack_.write(reinterpret_cast<const char*>(copied.data()), static_cast<std::streamsize>(copied.size()));
    return pack_ ? status() : status(status_code::io_error, wanted_.pack + ": cannot be written");
  }

  void write_recipe(const checkpoint_chunks& chunks) {
    if (!recipe_.is_open()) return;
    std::vector<std::uint8_t> digests(chunks.digests.size());
    thrust::copy(chunks.digests.begin(), chunks.digests.end(), digests.begin());
    for (std::size_t i = 0; i < chunks.places.size(); ++i) {
      for (std::uint32_t at = 0; at < chunks.digest_bytes; ++at) {
        const unsigned byte = digests[i * chunks.digest_bytes + at];
        recipe_ << "0123456789abcdef"[byte >> 4] << "0123456789abcdef"[byte & 15];
      }
      recipe_ << ' ' << chunks.places[i].length << '\n';
    }
  }

  options wanted_;
  chunk_finder finder_;
  cutpoint::device_dedup<device_policy> known_;
  std::ofstream pack_;
  std::ofstream recipe_;
};

/// Reads the command line. Returns false if it is wrong.
bool read_options(int count, char** words, options& wanted) {
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    std::string* const value = word == "--cuts"     ? &wanted.cuts
                               : word == "--pack"   ? &wanted.pack
                               : word == "--recipe" ? &wanted.recipe
                                                    : nullptr;
    if (value != nullptr) {
      if (++i == count) return false;
      *value = words[i];
    } else if (word == "--whole") {
      wanted.is_whole = true;
    } else if (word.starts_with("--")) {
      return false;
    } else {
      wanted.checkpoints.push_back(word);
    }
  }
  return !wanted.checkpoints.empty();
}

status run(const options& wanted, const cutpoint::chunker& cuts) {
  auto finder = chunk_finder::make(cuts);
  if (!finder) return finder.error();
  auto known = cutpoint::device_dedup<device_policy>::make(thrust::device, checkpoint_chunks::digest_bytes);
  if (!known) return known.error();
  checkpoint_dedup dedup(wanted, std::move(*finder), std::move(*known));
  if (status ready = dedup.open_outputs(); !ready.ok()) return ready;
  for (const std::string& path : wanted.checkpoints) {
    if (status added = dedup.add(path); !added.ok()) return added;
  }
  return dedup.close_outputs();
}

}  // namespace

int main(int count, char** words) {
  options wanted;
  if (!read_options(count, words, wanted)) {
    std::fputs("usage: checkpoint_dedup [--cuts CUTS] [--whole] [--pack FILE] [--recipe FILE] CHECKPOINT...\n", stderr);
    return 2;
  }
  const auto cuts = cutpoint::parse_canonical(wanted.cuts);
  if (!cuts) {
    std::fprintf(stderr, "checkpoint_dedup: --cuts: %s\n", cuts.error().message().c_str());
    return 2;
  }
  try {
    const status done = run(wanted, *cuts);
    if (!done.ok()) std::fprintf(stderr, "checkpoint_dedup: %s\n", done.message().c_str());
    return done.ok() ? 0 : 1;
  } catch (const std::exception& failure) {  // Thrust's vectors throw when memory is short or the device fails
    std::fprintf(stderr, "checkpoint_dedup: %s\n", failure.what());
    return 1;
  }
}
