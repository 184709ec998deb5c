#include "benchmarks/hilbert.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>

#include "base/errors.hpp"
#include "benchmarks/hilbert_stages.hpp"
#include "cpu/cpu_backend.hpp"
#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/pairing/pairing.hpp"

namespace echoform::benchmarks {
namespace {

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Copies past the caches, as the stages write: ordinary stores would first read every line that they write, and the copy would
/// be no limit. Places are aligned to 16 bytes.
void copy_past_caches(std::byte* to, const std::byte* from, std::size_t bytes) {
#if defined(__SSE2__)
  for (; bytes >= 16; bytes -= 16, to += 16, from += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to), _mm_load_si128(reinterpret_cast<const __m128i*>(from)));
  }
  _mm_sfence();
#endif
  std::memcpy(to, from, bytes);
}

HilbertReport measure_on_cpu(const HilbertCase& test, const std::function<void(const std::string&)>& progress) {
  progress("making data");
  const auto backend = make_cpu_backend(test.threads);
  const auto queue = backend->make_queue();
  const BlockSpec raw_spec = hilbert_raw_spec(test);
  const Buffer raw = backend->allocate(raw_spec.bytes(), MemoryUse::working);
  const std::vector<std::int16_t> samples = hilbert_raw_samples(test);
  std::memcpy(raw.data(), samples.data(), raw.size());
  const auto pairing = make_pairing_cpu(pairing_of(hilbert_acquisition(test), true, 1.0));
  const auto analytic = make_analytic_signal_cpu(team_size(*backend));
  const BlockSpec half_spec = pairing->prepare(raw_spec);
  const BlockSpec analytic_spec = analytic->prepare(half_spec);
  const Buffer half = backend->allocate(half_spec.bytes(), MemoryUse::working);
  const Buffer signal = backend->allocate(analytic_spec.bytes(), MemoryUse::working);

  HilbertReport report;
  const Buffer target = backend->allocate(raw.size(), MemoryUse::working);
  const auto copy = [&] {
    constexpr std::size_t piece = std::size_t{1} << 20;
    team_of(*queue).for_each((raw.size() + piece - 1) / piece, 1, [&](std::size_t first, std::size_t last, std::size_t) {
      const std::size_t end = std::min(last * piece, raw.size());
      copy_past_caches(target.bytes_begin() + first * piece, raw.bytes_begin() + first * piece, end - first * piece);
    });
  };
  // The copy takes turns with what it is the limit of: a machine that others use too is not equally fast all the time.
  std::vector<double> all_rates;
  const auto figure = [&](const std::string& name, double bytes, const std::function<void()>& work) {
    progress(name);
    Turns turns;
    for (std::size_t frame = 0; frame < test.frames + 2; ++frame) {
      const double working = seconds_of(work);
      const double copying = seconds_of(copy);
      if (frame < 2) continue;
      turns.add("work", working);
      turns.add("copy", copying);
      all_rates.push_back(2.0 * static_cast<double>(raw.size()) / copying);
    }
    return hilbert_figure(name, std::move(turns), bytes, 2.0 * static_cast<double>(raw.size()));
  };
  const auto run_half = [&] { pairing->process({raw.data()}, {half.data()}, *queue); };
  const auto run_signal = [&] { analytic->process({half.data()}, {signal.data()}, *queue); };
  const double half_bytes = hilbert_bytes(raw_spec, half_spec);
  const double signal_bytes = hilbert_bytes(half_spec, analytic_spec);
  report.stages.push_back(figure("half matrix", half_bytes, run_half));
  report.stages.push_back(figure("analytic signal", signal_bytes, run_signal));
  report.chains.push_back(figure("half matrix and analytic signal", half_bytes + signal_bytes, [&] {
    run_half();
    run_signal();
  }));
  report.copy_bytes_per_second = spread_of(std::move(all_rates)).median;
  return report;
}

}  // namespace

Acquisition hilbert_acquisition(const HilbertCase& test) {
  Acquisition acquisition;
  acquisition.probe.elements.resize(test.elements);
  acquisition.samples = test.samples;
  return acquisition;
}

BlockSpec hilbert_raw_spec(const HilbertCase& test) {
  BlockSpec spec;
  spec.type = ElementType::int16;
  spec.rows = test.elements * test.elements;
  spec.columns = test.samples;
  spec.row_stride = test.samples;
  return spec;
}

std::vector<std::int16_t> hilbert_raw_samples(const HilbertCase& test) {
  std::vector<std::int16_t> samples(test.elements * test.elements * test.samples);
  std::minstd_rand random(1);
  for (std::int16_t& sample : samples) sample = static_cast<std::int16_t>(static_cast<int>(random() >> 8 & 0xfff) - 2048);
  return samples;
}

double hilbert_bytes(const BlockSpec& input, const BlockSpec& output) {
  const std::size_t sample = input.type == ElementType::int16 ? sizeof(std::int16_t) : sizeof(float);
  // Of float rows the padding is not written.
  const std::size_t written = output.type == ElementType::float32 ? output.rows * output.columns * sizeof(float) : output.bytes();
  return static_cast<double>(input.rows * input.columns * sample + written);
}

HilbertFigure hilbert_figure(std::string name, Turns turns, double bytes, double copied) {
  const double part = bytes / copied;
  const Spread copy = turns.spread("copy");
  const Spread ratio = turns.ratio("copy", "work");
  return {std::move(name),
          turns.spread("work"),
          bytes,
          {part * copy.median, part * copy.least, part * copy.most},
          {part * ratio.median, part * ratio.least, part * ratio.most},
          std::move(turns)};
}

HilbertReport measure_hilbert(const HilbertCase& test, const std::function<void(const std::string&)>& progress) {
  if (test.backend == BackendKind::cpu) return measure_on_cpu(test, progress);
#ifdef ECHOFORM_WITH_CUDA
  return measure_hilbert_cuda(test, progress);
#else
  throw RuntimeFault("this program holds no CUDA code");
#endif
}

}  // namespace echoform::benchmarks
