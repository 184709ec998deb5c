#include "simulators/frame_cycle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "acquisition/words.hpp"
#include "base/errors.hpp"

namespace echoform {
namespace {

/// Maximum number of frames of a probe's travel to and fro.
constexpr std::uint64_t most_travel_frames = 1'000'000;

SimulatorConfiguration fit(SimulatorConfiguration configuration, std::size_t memory_limit) {
  if (configuration.part) configuration.phantom = configuration.part(configuration.encoder.first);
  validate(configuration, "[simulator]");
  const std::size_t frame_bytes = acquisition_of(configuration).frame_bytes();
  const std::size_t room = memory_limit / frame_bytes;
  if (room == 0) {
    throw InputError("[simulator] memory_limit", fmt::format("{} bytes", memory_limit),
                     fmt::format("at least one frame, {} bytes", frame_bytes));
  }
  // The part stands still while a probe moves over it: only the noise differs between frames.
  configuration.cycle_frames = configuration.motion ? 1 : std::min(configuration.cycle_frames, room);
  return configuration;
}

/// The encoder counts at which a moving probe is simulated; none if it stays. `order` receives, for each frame of the cycle, the
/// index of the frame that is synthesised for it.
std::vector<EncoderCount> take_places(const SimulatorConfiguration& configuration, std::vector<std::size_t>& order) {
  std::vector<EncoderCount> places;
  if (!configuration.motion || configuration.encoder.step == 0) {
    for (std::size_t k = 0; k < configuration.cycle_frames; ++k) order.push_back(k);
    return places;
  }
  const std::uint64_t period = travel_frames(configuration.encoder);
  if (period > most_travel_frames) {
    throw InputError("[simulator] encoder_step", fmt::format("a way to and fro of {} frames", period),
                     fmt::format("at most {} where the probe moves", most_travel_frames));
  }
  std::map<EncoderCount, std::size_t> known;
  for (std::uint64_t k = 0; k < period; ++k) {
    const EncoderCount count = encoder_count(configuration.encoder, k).value();
    const auto [found, first] = known.try_emplace(count, places.size());
    if (first) places.push_back(count);
    order.push_back(found->second);
  }
  return places;
}

/// A simulator with the probe where the encoder counts `count`.
FmcSimulator at_place(SimulatorConfiguration configuration, EncoderCount count) {
  configuration.encoder.first = count;
  if (configuration.part) configuration.phantom = configuration.part(count);
  return FmcSimulator(std::move(configuration));
}

}  // namespace

FrameCycle::FrameCycle(SimulatorConfiguration configuration, const FrameCycleOptions& options)
    : whole_(configuration.part ? std::optional(configuration.phantom) : std::nullopt),
      simulator_(fit(std::move(configuration), options.memory_limit)),
      frame_bytes_(acquisition().frame_bytes()) {
  const std::vector<EncoderCount> places = take_places(simulator_.configuration(), order_);
  const std::size_t count = places.empty() ? order_.size() : places.size();
  if (count > options.memory_limit / frame_bytes_) {
    throw InputError("[simulator] encoder_step", fmt::format("{} places of the probe, {} bytes each", count, frame_bytes_),
                     fmt::format("frames that fit into {} bytes", options.memory_limit));
  }
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
        if (options.progress) options.progress(k, count);
        const std::span<std::byte> frame = std::span(data_).subspan(k * frame_bytes_, frame_bytes_);
        if (places.empty()) {
          simulator_.synthesise(k, frame);
        } else {
          at_place(simulator_.configuration(), places[k]).synthesise(k, frame);
        }
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
  return std::span(data_).subspan(order_[static_cast<std::size_t>(index % frames())] * frame_bytes_, frame_bytes_);
}

std::string FrameCycle::describe() const {
  const Acquisition& a = acquisition();
  if (simulator_.configuration().sound) {
    return fmt::format("simulated {}; sound of {} balls; cycle of {} frames in {:.1f} MB", acquisition_text(a),
                       simulator_.sounding_balls(), frames(), 1e-6 * static_cast<double>(bytes()));
  }
  return fmt::format(
      "simulated {} elements x {} samples, {}, {}, {:g} MHz sampled at {:g} MHz; {} reflectors; cycle of {} frames in {:.1f} MB",
      a.elements(), a.samples, pairs_word(a), words::sample_encoding.of(a.encoding), 1e-6 * a.probe.centre_frequency.value,
      1e-6 * a.sample_rate.value,
      (whole_ ? *whole_ : simulator_.configuration().phantom).reflectors() + simulator_.tissue().still().size() +
          simulator_.tissue().moving(),
      frames(), 1e-6 * static_cast<double>(bytes()));
}

}  // namespace echoform
