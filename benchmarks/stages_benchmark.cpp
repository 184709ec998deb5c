// Benchmarks of the CPU stages other than the beamformer, each alone, for one and more threads, next to memcpy on the same
// threads.
//   stages_benchmark [--benchmark_filter=REGEX]     ECHOFORM_SIMD=portable|avx2|avx512 lowers the instruction set
// Rates count bytes read and bytes written once each.
#include <benchmark/benchmark.h>

#include <cstring>
#include <memory>

#include "acquisition/acquisition.hpp"
#include "cpu/cpu_backend.hpp"
#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/compression/compression.hpp"
#include "stages/envelope/envelope.hpp"
#include "stages/pairing/pairing.hpp"
#include "stages/scan_conversion/scan_conversion.hpp"

namespace {

using namespace echoform;

BlockSpec make_spec(ElementType type, std::size_t rows, std::size_t columns) {
  BlockSpec spec;
  spec.type = type;
  spec.rows = rows;
  spec.columns = columns;
  return spec;
}

/// Runs frames of `spec` through `stage` on `threads` threads.
void run(benchmark::State& state, Stage& stage, const BlockSpec& spec, std::size_t threads) {
  const auto backend = make_cpu_backend(threads);
  const auto queue = backend->make_queue();
  const Buffer input = backend->allocate(spec.bytes(), MemoryUse::staging);
  if (spec.type == ElementType::uint8 || (spec.type == ElementType::raw && facts_of(spec.encoding).counts())) {
    for (std::size_t n = 0; n < spec.bytes(); ++n) input.bytes_begin()[n] = static_cast<std::byte>(n * 131 >> 3);
  } else {
    auto* const values = static_cast<float*>(input.data());
    for (std::size_t n = 0; n < spec.bytes() / sizeof(float); ++n)
      values[n] = static_cast<float>(n * 2654435761u % 2001) - 1000.0F;
  }
  const BlockSpec out = stage.prepare(spec);
  const Buffer output = backend->allocate(out.bytes(), MemoryUse::working);
  for (auto _ : state) {
    stage.process({input.data()}, {output.data()}, *queue);
    queue->finish();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(spec.bytes() + out.bytes()));
}

void memory_copy(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0)) << 20;
  const auto backend = make_cpu_backend(static_cast<std::size_t>(state.range(1)));
  const auto queue = backend->make_queue();
  const Buffer from = backend->allocate(bytes, MemoryUse::staging);
  const Buffer to = backend->allocate(bytes, MemoryUse::working);
  for (auto _ : state) {
    team_of(*queue).for_each(bytes >> 16, 1, [&](std::size_t first, std::size_t last, std::size_t) {
      std::memcpy(to.bytes_begin() + (first << 16), from.bytes_begin() + (first << 16), (last - first) << 16);
    });
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(2 * bytes));
}

/// Arguments in `state`: encoding, elements, samples, threads.
void run_pairing(benchmark::State& state, bool reciprocal) {
  const auto n = static_cast<std::size_t>(state.range(1));
  Acquisition acquisition;
  acquisition.probe.elements.resize(n);
  const auto stage = make_pairing_cpu(pairing_of(acquisition, reciprocal, 1.0));
  BlockSpec spec = make_spec(ElementType::raw, n * n, static_cast<std::size_t>(state.range(2)));
  spec.encoding = static_cast<SampleEncoding>(state.range(0));
  run(state, *stage, spec, static_cast<std::size_t>(state.range(3)));
}

void pairing(benchmark::State& state) {
  run_pairing(state, true);
}

/// Pairing for rows as they were received.
void pairing_as_received(benchmark::State& state) {
  run_pairing(state, false);
}

void analytic_signal(benchmark::State& state) {
  const auto stage = make_analytic_signal_cpu(static_cast<std::size_t>(state.range(2)));
  run(state, *stage,
      make_spec(ElementType::float32, static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1))),
      static_cast<std::size_t>(state.range(2)));
}

void envelope(benchmark::State& state) {
  const auto stage = make_envelope_cpu();
  const auto side = static_cast<std::size_t>(state.range(0));
  run(state, *stage, make_spec(ElementType::complex64, side, side), static_cast<std::size_t>(state.range(1)));
}

void compression(benchmark::State& state) {
  const auto stage = make_compression_cpu(Compression{});
  const auto side = static_cast<std::size_t>(state.range(0));
  run(state, *stage, make_spec(ElementType::float32, side, side), static_cast<std::size_t>(state.range(1)));
}

void scan_conversion(benchmark::State& state) {
  const auto side = static_cast<std::size_t>(state.range(0));
  const auto threads = static_cast<std::size_t>(state.range(2));
  const Grid acoustic{{Metres(0.0), Metres(0.02), side}, {Metres(0.0), Metres(0.02), side}, {}};
  const Grid display{{Metres(0.0), Metres(0.02), 1024}, {Metres(0.0), Metres(0.02), 1024}, {}};
  const auto stage = make_scan_conversion_cpu({acoustic, display, static_cast<ScanInterpolation>(state.range(1)), -0.5}, threads);
  run(state, *stage, make_spec(ElementType::uint8, side, side), threads);
}

constexpr int int16 = static_cast<int>(SampleEncoding::int16);
constexpr int packed12 = static_cast<int>(SampleEncoding::packed12);
constexpr int float32 = static_cast<int>(SampleEncoding::float32);
constexpr int nearest = static_cast<int>(ScanInterpolation::nearest);
constexpr int cubic = static_cast<int>(ScanInterpolation::cubic);

BENCHMARK(memory_copy)
    ->ArgNames({"MB", "threads"})
    ->ArgsProduct({{1, 128}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(pairing_as_received)
    ->ArgNames({"encoding", "elements", "samples", "threads"})
    ->ArgsProduct({{int16, packed12, float32}, {128}, {4096}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(pairing)
    ->ArgNames({"encoding", "elements", "samples", "threads"})
    ->ArgsProduct({{int16, packed12, float32}, {128}, {4096}, {1, 2}})
    ->ArgsProduct({{int16}, {32}, {1024}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(analytic_signal)
    ->ArgNames({"rows", "samples", "threads"})
    ->ArgsProduct({{8256}, {1024, 1031, 4096}, {1, 2}})
    ->ArgsProduct({{528}, {1024}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(envelope)
    ->ArgNames({"side", "threads"})
    ->ArgsProduct({{256, 1024}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(compression)
    ->ArgNames({"side", "threads"})
    ->ArgsProduct({{256, 1024}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(scan_conversion)
    ->ArgNames({"side", "method", "threads"})
    ->ArgsProduct({{256, 1024}, benchmark::CreateDenseRange(nearest, cubic, 1), {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
