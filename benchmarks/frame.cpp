#include "benchmarks/frame.hpp"

#include <chrono>
#include <cstring>
#include <random>

#include "cpu/cpu_backend.hpp"

namespace echoform::benchmarks {
namespace {

/// Rate of reading the samples from memory, which every engine must do.
double read_rate(const Buffer& samples, ThreadTeam& team) {
  const auto* words = static_cast<const std::uint64_t*>(samples.data());
  const std::size_t count = samples.size() / 8;
  std::vector<std::uint64_t> sums(team.size() * 8);
  const auto begin = std::chrono::steady_clock::now();
  team.for_each(count, 1U << 15U, [&](std::size_t first, std::size_t last, std::size_t member) {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::uint64_t c = 0;
    std::uint64_t d = 0;
    std::size_t k = first;
    for (; k + 4 <= last; k += 4) {
      a ^= words[k];
      b ^= words[k + 1];
      c ^= words[k + 2];
      d ^= words[k + 3];
    }
    sums[member * 8] ^= a ^ b ^ c ^ d;
  });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  volatile std::uint64_t keep = sums[0];
  (void)keep;
  return static_cast<double>(samples.size()) / seconds;
}

}  // namespace

std::vector<std::byte> noise_frame(const Acquisition& acquisition) {
  std::minstd_rand random(7);
  std::vector<std::byte> samples(acquisition.frame_bytes());
  if (acquisition.encoding == SampleEncoding::float32) {
    for (std::size_t k = 0; k + 4 <= samples.size(); k += 4) {
      const float value = static_cast<float>(random()) * 0x1p-31F - 0.5F;
      std::memcpy(samples.data() + k, &value, sizeof(value));
    }
    return samples;
  }
  // Samples are 12-bit amplitudes; packed samples may be any bytes.
  const bool packed = acquisition.encoding == SampleEncoding::packed12;
  for (std::size_t k = 0; k + 2 <= samples.size(); k += 2) {
    const auto value = static_cast<std::int16_t>(packed ? random() & 0xFFFFU : random() % 4096U - 2048U);
    std::memcpy(samples.data() + k, &value, sizeof(value));
  }
  return samples;
}

FrameReport measure_frame(const std::shared_ptr<const ImagingSetup>& setup, std::size_t threads, std::size_t frames) {
  const auto engine = make_engine(setup, {false, BackendKind::cpu, threads}, {});
  FrameSlot slot;
  engine->equip(slot);
  const std::vector<std::byte> noise = noise_frame(setup->acquisition);
  std::memcpy(slot.samples.data(), noise.data(), noise.size());

  FrameReport report;
  report.frame_bytes = slot.samples.size();
  report.engine_bytes = engine->bytes();
  std::vector<double> reads;
  std::vector<double> beamforming;
  std::vector<std::vector<double>> stages;
  ThreadTeam team(threads);
  for (std::size_t frame = 0; frame < frames + 2; ++frame) {
    const auto begin = std::chrono::steady_clock::now();
    engine->submit(slot, [](FrameSlot&, bool) {});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double read = read_rate(slot.samples, team);
    if (frame < 2) continue;
    report.turns.add("images", 1.0 / seconds);
    report.turns.add("reads", read / static_cast<double>(report.frame_bytes));
    reads.push_back(read);
    beamforming.push_back(0.0);
    stages.resize(slot.timings.size());
    for (std::size_t k = 0; k < slot.timings.size(); ++k) {
      stages[k].push_back(std::chrono::duration<double>(slot.timings[k].duration).count());
      if (slot.timings[k].stage.starts_with("beamform")) beamforming.back() += stages[k].back();
    }
  }
  report.images_per_second = report.turns.spread("images");
  report.beamform_seconds = spread_of(std::move(beamforming)).median;
  report.read_bytes_per_second = spread_of(reads);
  for (std::size_t k = 0; k < slot.timings.size(); ++k) {
    report.stages.push_back({std::string(slot.timings[k].stage), spread_of(stages[k])});
  }
  return report;
}

}  // namespace echoform::benchmarks
