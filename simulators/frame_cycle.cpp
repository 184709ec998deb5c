#include "simulators/frame_cycle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "acquisition/words.hpp"
#include "base/errors.hpp"

namespace echoform {
namespace {

SimulatorConfiguration fit(SimulatorConfiguration configuration, std::size_t memory_limit) {
  validate(configuration, "[simulator]");
  const std::size_t frame_bytes = acquisition_of(configuration).frame_bytes();
  const std::size_t room = memory_limit / frame_bytes;
  if (room == 0) {
    throw InputError("[simulator] memory_limit", fmt::format("{} bytes", memory_limit),
                     fmt::format("at least one frame, {} bytes", frame_bytes));
  }
  configuration.cycle_frames = std::min(configuration.cycle_frames, room);
  return configuration;
}

}  // namespace

FrameCycle::FrameCycle(SimulatorConfiguration configuration, const FrameCycleOptions& options)
    : simulator_(fit(std::move(configuration), options.memory_limit)), frame_bytes_(acquisition().frame_bytes()) {
  const std::size_t count = simulator_.configuration().cycle_frames;
  try {
    data_.resize(count * frame_bytes_);
  } catch (const std::bad_alloc&) {
    throw RuntimeFault(fmt::format("no memory for {} simulated frames, {} bytes", count, count * frame_bytes_));
  }

  std::atomic<std::size_t> next{0};
  std::mutex failure_mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    try {
      for (std::size_t k = next++; k < count; k = next++) {
        simulator_.synthesise(k, std::span(data_).subspan(k * frame_bytes_, frame_bytes_));
      }
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      failure = std::current_exception();
      next = count;
    }
  };
  const std::size_t wanted = options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  {
    std::vector<std::jthread> helpers;
    for (std::size_t k = 1; k < std::min(wanted, count); ++k) helpers.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

std::span<const std::byte> FrameCycle::frame(std::uint64_t index) {
  return std::span(data_).subspan(static_cast<std::size_t>(index % frames()) * frame_bytes_, frame_bytes_);
}

std::string FrameCycle::describe() const {
  const Acquisition& a = acquisition();
  return fmt::format(
      "simulated {} elements x {} samples, {}, {}, {:g} MHz sampled at {:g} MHz; {} reflectors; cycle of {} frames in {:.1f} MB",
      a.elements(), a.samples, pairs_word(a), words::sample_encoding.of(a.encoding), 1e-6 * a.probe.centre_frequency.value,
      1e-6 * a.sample_rate.value, simulator_.configuration().phantom.reflectors(), frames(), 1e-6 * static_cast<double>(bytes()));
}

}  // namespace echoform
