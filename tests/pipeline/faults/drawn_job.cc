// Jobs of fault runs, drawn from seeds.
#include <algorithm>
#include <array>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "tests/host/io/reading.h"
#include "tests/host/support/tiny_parameters.h"
#include "tests/pipeline/faults/fault_run.h"
#include "tests/pipeline/support/exactness.h"

namespace cutpoint::tests {

namespace {

constexpr std::uint64_t page = 4096;

template <class T, std::size_t Count>
T any_of(const std::array<T, Count>& all, choices& random) {
  return all[random.between(0, Count - 1)];
}

bool has_uring() {
  static const bool has = file_reader::make({.access = file_access::uring}).ok();
  return has;
}

/// Draws a file size near the ends of blocks, pages and segments. Sizes for devices are smaller, because the host
/// double is slow.
std::uint64_t draw_size(const drawn_job& job, choices& random) {
  const std::array<std::uint64_t, 8> near = {0,
                                             page,
                                             64 * KiB,
                                             128 * KiB,
                                             192 * KiB,
                                             job.work.segment_bytes,
                                             3 * job.work.segment_bytes,
                                             random.between(0, 150'000)};
  const std::uint64_t most = job.has_devices() ? 70'000 : 200'000;
  const std::uint64_t size = any_of(near, random) % most + random.between(0, 2);
  return size - std::min<std::uint64_t>(size, 1);
}

/// Writes a file in which some pages may be a hole.
void write_file(expected_file& file, choices& random) {
  const held_open created(file.path, O_RDWR | O_CREAT | O_TRUNC);
  const std::uint64_t size = file.content.size();
  const std::uint64_t first = page * random.between(0, size / page);
  const std::uint64_t hole = random.once_in(3) ? std::min(size - first, page * random.between(1, size / page + 1)) : 0;
  std::fill_n(file.content.begin() + static_cast<std::ptrdiff_t>(first), hole, std::uint8_t{0});
  EXPECT_EQ(::ftruncate(created.get(), static_cast<off_t>(size)), 0);
  const auto write = [&](std::uint64_t begin, std::uint64_t end) {
    EXPECT_EQ(::pwrite(created.get(), file.content.data() + begin, end - begin, static_cast<off_t>(begin)),
              static_cast<ssize_t>(end - begin));
  };
  write(0, first);
  write(first + hole, size);
}

/// Makes the path unreadable: a folder, a link to itself, or no file.
void make_unreadable(const std::string& name, const temporary_folder& folder, choices& random) {
  if (random.once_in(3)) {
    static_cast<void>(folder.make_folder(name));
  } else if (random.once_in(2)) {
    static_cast<void>(folder.make_link(name, name));
  }
}

void draw_files(drawn_job& job, const temporary_folder& folder, choices& random) {
  auto fingerprint = fingerprinter::make(job.work.fingerprint);
  const std::uint64_t count = random.between(1, 5);
  const std::uint64_t unreadable = job.has(trouble::unreadable_file) ? random.between(0, count - 1) : count;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string name = "file" + std::to_string(i);
    expected_file next{.path = folder / name, .content = {}, .chunks = {}, .digests = {}};
    job.is_unreadable.push_back(i == unreadable);
    job.broken_from.push_back(checking_receiver::never);
    if (i == unreadable) {
      make_unreadable(name, folder, random);
    } else {
      next.content = draw_hostile_stream(job.work.cuts, draw_size(job, random), random);
      write_file(next, random);
      next.chunks = job.work.cuts.find_cuts(next.content);
      for (const chunk& c : next.chunks) {
        next.digests.push_back((*fingerprint)(byte_span(next.content).subspan(c.offset, c.length)).value());
      }
    }
    job.files.push_back(std::move(next));
  }
}

feed_options draw_work(choices& random) {
  constexpr std::array kinds = {fingerprint_kind::none, fingerprint_kind::sha1, fingerprint_kind::sha256,
                                fingerprint_kind::blake3, fingerprint_kind::xxh3};
  const chunker cuts = chunker::make(tiny_parameters(random.between(0, algorithm_count - 1), random)).value();
  const std::array<std::uint64_t, 6> segments = {0, random.between(1, 3'000), page - 1, page + 1, 64 * KiB, 20'000};
  return {.cuts = cuts,
          .fingerprint = any_of(kinds, random),
          .map = random.one_of(map_kind::cuts),
          .segment_bytes = any_of(segments, random),
          .memory_bytes = random.between(300'000, 4 * MiB)};
}

/// Draws a back end of the processor, of devices, or hybrid.
void draw_back_end(drawn_job& job, choices& random) {
  const bool wants_device = job.has(trouble::device_for_ever) || job.has(trouble::device_once);
  if (wants_device || random.once_in(4)) {
    job.work.segment_bytes = std::max<std::uint64_t>(job.work.segment_bytes, 500);
    draw_devices(job.work, random);
    if (random.once_in(5)) job.work.where = backend::cuda;
    return;
  }
  std::vector<backend> here = {backend::automatic};
  for (const backend_info& b : processor_backends()) {
    if (b.runs_here) here.push_back(b.kind);
  }
  job.work.where = here[random.between(0, here.size() - 1)];
}

void draw_reading(drawn_job& job, choices& random) {
  job.reads = job.has(trouble::queue_end) ? reading::by_reader_with_faulty_queue
                                          : random.one_of(reading::by_reader_with_faulty_queue);
  const file_access ahead = random.once_in(2) ? file_access::uring : file_access::direct;
  const file_access any = random.once_in(2) ? file_access::automatic : file_access::pread;
  const bool goes_ahead = job.reads == reading::by_reader_with_faulty_queue || (has_uring() && random.once_in(2));
  job.access = goes_ahead ? ahead : any;
  const auto rate = [&](trouble which) { return job.has(which) ? random.between(2, 12) : 0; };
  for (read_faults* faults : {&job.calls, &job.requests}) {
    faults->is_short = rate(trouble::short_read);
    faults->is_interrupted = rate(trouble::interrupted_read);
    faults->is_refused = rate(trouble::refused_read);
    faults->is_broken = rate(trouble::broken_read);
  }
  job.requests.queue_ends = rate(trouble::queue_end);
  const bool is_lasting = job.has(trouble::broken_read) && random.once_in(2);
  if (!is_lasting) return;
  job.calls.is_broken = 0;
  const std::uint64_t which = random.between(0, job.files.size() - 1);
  if (!job.is_unreadable[which]) job.broken_from[which] = random.between(0, job.files[which].content.size());
}

void draw_ends(drawn_job& job, choices& random) {
  constexpr std::array calls = {cuda::executor_call::allocate, cuda::executor_call::pin,
                                cuda::executor_call::copy_in,  cuda::executor_call::launch,
                                cuda::executor_call::copy_out, cuda::executor_call::record_event,
                                cuda::executor_call::wait};
  job.device_call = any_of(calls, random);
  job.good_device_calls = random.between(0, random.once_in(2) ? 1 : 12);
  std::uint64_t chunk_count = 0;
  for (const expected_file& file : job.files) chunk_count += file.chunks.size();
  if (job.has(trouble::receiver)) job.receiver_call = random.between(1, chunk_count + job.files.size());
  if (job.has(trouble::stop) && random.once_in(2)) {
    job.stopping_call = random.between(1, chunk_count + job.files.size());
  } else if (job.has(trouble::stop)) {
    job.stop_after_us = random.between(1, 5'000);
  }
  if (!job.has(trouble::memory_once) && !job.has(trouble::memory_for_a_while)) return;
  job.granted_allocations = random.between(0, std::uint64_t{1} << random.between(0, 12));
  job.refused_allocations = 1;
  if (job.has(trouble::memory_for_a_while)) {
    job.refused_allocations = random.once_in(3) ? ~std::uint64_t{0} : random.between(2, 300);
  }
}

}  // namespace

drawn_job draw_job(std::uint64_t seed, const temporary_folder& folder) {
  seeded_choices random(seed);
  drawn_job job{.work = draw_work(random), .seed = random.word()};
  for (std::uint64_t more = random.between(1, 3); more > 0; --more) {
    job.drawn[random.between(0, trouble_count - 1)] = true;
  }
  draw_back_end(job, random);
  job.threads.threads = random.between(1, 4);
  if (random.once_in(20)) job.threads.placement = thread_placement::cores;
  job.is_traced = random.once_in(4);
  draw_files(job, folder, random);
  draw_reading(job, random);
  draw_ends(job, random);
  job.selects = random.once_in(2) ? selecting::yes : selecting::no;
  return job;
}

std::string description(const drawn_job& job) {
  std::vector<std::string> troubles;
  for (std::size_t i = 0; i < trouble_count; ++i) {
    if (job.drawn[i]) troubles.emplace_back(to_string(static_cast<trouble>(i)));
  }
  std::vector<std::uint64_t> sizes;
  for (const expected_file& file : job.files) sizes.push_back(file.content.size());
  return fmt::format(
      "{}, fingerprint {}, {} threads, segments of {}, batches of {}, memory {}, back end {}, {} devices, "
      "reading {}, access {}, selecting {}, files of {}; device call {} after {}, receiver's call {}, stop at {} or {} "
      "us, "
      "{} allocations after {}: {}",
      job.work.cuts.canonical(), static_cast<int>(job.work.fingerprint.kind), job.threads.threads,
      job.work.segment_bytes, job.work.batch_bytes, job.work.memory_bytes, to_string(job.work.where),
      job.work.devices.size(), static_cast<int>(job.reads), static_cast<int>(job.access), static_cast<int>(job.selects),
      fmt::join(sizes, ", "), static_cast<int>(job.device_call), job.good_device_calls, job.receiver_call,
      job.stopping_call, job.stop_after_us, job.refused_allocations, job.granted_allocations,
      fmt::join(troubles, ", "));
}

}  // namespace cutpoint::tests
