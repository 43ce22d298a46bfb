// Measures the link of an executor: a device, or the host double.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

#include <cutpoint/bytes.h>

#include "cuda/batch/workspace.h"
#include "cuda/device/devices.h"
#include "cuda/kernel/block.h"

namespace cutpoint::cuda {

/// Sizes and limits of the measurement.
struct link_measurement {
  std::uint64_t copy_bytes = 32 * MiB;
  int samples = 5;             ///< samples of each kind, after one that does not count
  double most_seconds = 0.06;  ///< time after which no more samples of a kind are taken
  int launches = 20;
};

/// A kernel without work, to measure a launch.
struct empty_kernel {
  static constexpr std::uint32_t threads_per_block = warp_size;

  [[nodiscard]] static std::uint64_t blocks(std::uint32_t) { return 1; }
  template <class Block>
  CUTPOINT_KERNEL_BODY void operator()(Block& block) const {
    block.for_each_thread([](auto) {});
  }
};

/// Copies from and to pinned memory, on two executors of one device, each with a stream.
template <class Executor>
class link_of {
 public:
  [[nodiscard]] static result<link_rates> measure(Executor in, Executor out, const link_measurement& how = {}) {
    link_of link(std::move(in), std::move(out), how);
    CUTPOINT_RETURN_IF_FAILED(link.in_.prepare(how.copy_bytes));
    CUTPOINT_RETURN_IF_FAILED(link.out_.prepare(how.copy_bytes));
    link_rates rates;
    CUTPOINT_RETURN_IF_FAILED(link.sample([&] { return link.copy_in(); }, {{&link.in_, &rates.in}}));
    CUTPOINT_RETURN_IF_FAILED(link.sample([&] { return link.copy_out(); }, {{&link.out_, &rates.out}}));
    const auto both = [&] {
      const status begun = link.copy_in();
      return begun.ok() ? link.copy_out() : begun;
    };
    CUTPOINT_RETURN_IF_FAILED(link.sample(both, {{&link.in_, &rates.in_duplex}, {&link.out_, &rates.out_duplex}}));
    CUTPOINT_RETURN_IF_FAILED(link.time_launches(rates.launch_seconds));
    return rates;
  }

 private:
  using steady = std::chrono::steady_clock;

  /// One stream, and memory at both ends.
  struct direction {
    Executor executor;
    typename Executor::template array<std::uint8_t> there = {};
    typename Executor::template host_array<std::uint8_t> here = {};

    [[nodiscard]] status prepare(std::uint64_t bytes) {
      CUTPOINT_TRY(there, executor.template allocate<std::uint8_t>(bytes));
      CUTPOINT_TRY(here, executor.template allocate_on_host<std::uint8_t>(bytes));
      return executor.reserve_events(2);
    }
  };

  /// A direction to measure, and the variable for its rate.
  struct sampled {
    direction* measured;
    double* rate;
  };

  link_of(Executor in, Executor out, const link_measurement& how)
      : how_(how), in_{.executor = std::move(in)}, out_{.executor = std::move(out)} {}

  [[nodiscard]] status copy_in() {
    return between_marks(in_, [&] {
      return in_.executor.copy_in(in_.there.data(), static_cast<const std::uint8_t*>(in_.here.data()), how_.copy_bytes);
    });
  }
  [[nodiscard]] status copy_out() {
    return between_marks(out_, [&] {
      return out_.executor.copy_out(out_.here.data(), static_cast<const std::uint8_t*>(out_.there.data()),
                                    how_.copy_bytes);
    });
  }
  template <class Copy>
  [[nodiscard]] static status between_marks(direction& measured, Copy copy) {
    CUTPOINT_RETURN_IF_FAILED(measured.executor.record_event(0));
    CUTPOINT_RETURN_IF_FAILED(copy());
    return measured.executor.record_event(1);
  }

  /// Samples the copies that `begin` puts into the streams of these directions.
  template <class Begin>
  [[nodiscard]] status sample(Begin begin, const std::vector<sampled>& directions) {
    std::vector<std::vector<double>> seconds(directions.size());
    const auto end = steady::now() + std::chrono::duration<double>(how_.most_seconds);
    for (int number = 0; number <= how_.samples; ++number) {
      if (number > 1 && steady::now() >= end) break;
      CUTPOINT_RETURN_IF_FAILED(begin());
      for (const sampled& each : directions) CUTPOINT_RETURN_IF_FAILED(each.measured->executor.wait());
      for (std::size_t i = 0; i < directions.size() && number > 0; ++i) {
        CUTPOINT_TRY(const auto elapsed, directions[i].measured->executor.seconds_between(0, 1));
        seconds[i].push_back(elapsed);
      }
    }
    for (std::size_t i = 0; i < directions.size(); ++i) {
      *directions[i].rate = static_cast<double>(how_.copy_bytes) / middle_of(seconds[i]);
    }
    return {};
  }

  [[nodiscard]] status time_launches(double& seconds_of_a_launch) {
    std::vector<double> seconds;
    for (int number = 0; number <= how_.launches; ++number) {
      const auto begin = steady::now();
      CUTPOINT_RETURN_IF_FAILED(in_.executor.launch(empty_kernel{}));
      CUTPOINT_RETURN_IF_FAILED(in_.executor.wait());
      if (number > 0) seconds.push_back(std::chrono::duration<double>(steady::now() - begin).count());
    }
    seconds_of_a_launch = middle_of(seconds);
    return {};
  }

  /// At least a nanosecond, since rates divide by it.
  [[nodiscard]] static double middle_of(std::vector<double>& seconds) {
    const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
    std::nth_element(seconds.begin(), middle, seconds.end());
    return std::max(*middle, 1e-9);
  }

  link_measurement how_;
  direction in_;
  direction out_;
};

}  // namespace cutpoint::cuda
