// A simulated read queue. A seed determines in which order requests are done, and which of them are incomplete, late or
// failed. The bytes of a request in flight are overwritten, so a reader that uses them too early gives wrong content.
// The queue allocates no memory after its construction.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <cutpoint/file_reader.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "host/io/read_ahead.h"
#include "tests/host/io/reading.h"
#include "tests/host/support/choices.h"

namespace cutpoint::tests {

/// The rate of each fault: one request in so many, or 0 for none.
struct read_faults {
  std::uint64_t is_short = 0;
  std::uint64_t is_empty = 0;        ///< gives 0 bytes, as at the end of the file
  std::uint64_t is_interrupted = 0;  ///< EINTR
  std::uint64_t is_refused = 0;      ///< EAGAIN
  std::uint64_t is_broken = 0;       ///< EIO
  std::uint64_t queue_ends = 0;      ///< from then on no request is taken
};

/// Draws the faults that happen, and counts them.
class drawn_faults {
 public:
  drawn_faults(std::uint64_t seed, const read_faults& faults) : random_(seed), faults_(faults) {}

  bool happens(std::uint64_t read_faults::*fault) {
    const bool does = faults_.*fault != 0 && random_.once_in(faults_.*fault);
    if (does) ++(happened_.*fault);
    return does;
  }
  /// Returns the generator, for other choices.
  [[nodiscard]] seeded_choices& random() { return random_; }
  /// Returns the number of times that each fault has happened.
  [[nodiscard]] const read_faults& happened() const { return happened_; }

 private:
  seeded_choices random_;
  read_faults faults_;
  read_faults happened_;
};

class simulated_reads final : public read_queue {
 public:
  simulated_reads(std::uint64_t seed, const read_faults& faults, std::size_t depth = 64)
      : faults_(seed, faults), depth_(depth) {
    in_flight_.reserve(depth);
    done_.reserve(depth);
  }
  ~simulated_reads() override { EXPECT_TRUE(in_flight_.empty()) << "memory of requests went before their outcomes"; }

  std::size_t depth() const noexcept override { return depth_; }

  bool push(const read_request& next) override {
    EXPECT_LT(in_flight_.size(), depth_);
    EXPECT_FALSE(next.into.empty());
    EXPECT_NE(next.token, std::numeric_limits<std::uint64_t>::max());
    for (const read_request& other : in_flight_) {
      EXPECT_NE(next.token, other.token);
      EXPECT_TRUE(next.into.data() + next.into.size() <= other.into.data() ||
                  other.into.data() + other.into.size() <= next.into.data())
          << "two requests fill the same bytes";
    }
    has_ended_ = has_ended_ || faults_.happens(&read_faults::queue_ends);
    if (has_ended_) return false;
    std::fill(next.into.begin(), next.into.end(), poison);
    in_flight_.push_back(next);
    ++pushed_;
    return true;
  }

  void submit() override {}

  std::span<const read_outcome> collect(std::chrono::milliseconds at_most) override {
    done_.clear();
    if (is_stuck_ || in_flight_.empty()) return done_;
    std::uint64_t count = faults_.random().between(at_most.count() > 0 ? 1 : 0, in_flight_.size());
    if (faults_.random().once_in(3)) count = std::min<std::uint64_t>(count, 1);
    for (; count > 0; --count) {
      const auto which =
          in_flight_.begin() + static_cast<std::ptrdiff_t>(faults_.random().between(0, in_flight_.size() - 1));
      done_.push_back({which->token, outcome_of(*which)});
      in_flight_.erase(which);
    }
    return done_;
  }

  void cancel(std::uint64_t token) override {
    ++cancelled_;
    const auto which =
        std::find_if(in_flight_.begin(), in_flight_.end(), [&](const auto& r) { return r.token == token; });
    ASSERT_NE(which, in_flight_.end());
    is_stuck_ = false;
  }

  /// Stops all requests until one of them is cancelled.
  void get_stuck() { is_stuck_ = true; }

  /// Returns the number of times that each fault has happened.
  [[nodiscard]] const read_faults& happened() const { return faults_.happened(); }
  [[nodiscard]] std::uint64_t pushed() const { return pushed_; }
  [[nodiscard]] std::uint64_t cancelled() const { return cancelled_; }
  [[nodiscard]] std::size_t in_flight() const { return in_flight_.size(); }

 private:
  static constexpr std::uint8_t poison = 0xdb;

  std::int64_t outcome_of(const read_request& asked) {
    if (faults_.happens(&read_faults::is_interrupted)) return -EINTR;
    if (faults_.happens(&read_faults::is_refused)) return -EAGAIN;
    if (faults_.happens(&read_faults::is_broken)) return -EIO;
    if (faults_.happens(&read_faults::is_empty)) return 0;
    const auto count =
        ::pread(asked.descriptor, asked.into.data(), asked.into.size(), static_cast<off_t>(asked.offset));
    if (count < 0) return -errno;
    if (count == 0 || !faults_.happens(&read_faults::is_short)) return count;
    const auto kept_bytes = static_cast<std::ptrdiff_t>(faults_.random().between(1, static_cast<std::uint64_t>(count)));
    std::fill(asked.into.begin() + kept_bytes, asked.into.end(), poison);
    return kept_bytes;
  }

  drawn_faults faults_;
  std::size_t depth_;
  bool has_ended_ = false;
  bool is_stuck_ = false;
  std::uint64_t pushed_ = 0;
  std::uint64_t cancelled_ = 0;
  std::vector<read_request> in_flight_;
  std::vector<read_outcome> done_;
};

// Files to be read ahead, and the function that reads the next of them.

inline std::string letters(std::uint64_t size, std::uint64_t seed) {
  seeded_choices random(seed);
  std::string content(size, '\0');
  for (std::size_t at = 0; at < size; at += 8) {
    const std::uint64_t word = random.word();
    std::copy_n(reinterpret_cast<const char*>(&word), std::min<std::size_t>(8, size - at),
                content.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return content;
}

/// Takes the next file of a reader and reads it to its end, up to `room_bytes` at a time.
inline stream_read take(file_reader& reader, std::size_t room_bytes = 100'000, bool asks_for_holes = true) {
  auto next = reader.next();
  if (!next) return {{}, {}, next.error()};
  stream_read got = read_skipping(**next, room_bytes, [=] { return asks_for_holes; });
  if (got.outcome.ok()) got.outcome = (*next)->check_unchanged();
  return got;
}

/// Writes a file with one unit of 64 KiB for each character of `drawing`: a hole for a '.', random bytes otherwise.
/// `tail` random bytes follow. Returns the content.
inline std::string write_sparse(const std::string& path, const std::string& drawing, std::uint64_t tail) {
  constexpr std::uint64_t unit = 64 * KiB;
  std::string content(drawing.size() * unit, '\0');
  content += letters(tail, 77);
  const held_open file(path, O_RDWR | O_CREAT | O_TRUNC);
  EXPECT_EQ(::ftruncate(file.get(), static_cast<off_t>(content.size())), 0);
  const auto write = [&](std::uint64_t offset, std::uint64_t size) {
    EXPECT_EQ(::pwrite(file.get(), &content[offset], size, static_cast<off_t>(offset)), static_cast<ssize_t>(size));
  };
  for (std::size_t i = 0; i < drawing.size(); ++i) {
    if (drawing[i] == '.') continue;
    content.replace(i * unit, unit, letters(unit, i));
    write(i * unit, unit);
  }
  if (tail != 0) write(drawing.size() * unit, tail);
  return content;
}

}  // namespace cutpoint::tests
