#include "benchmarks/decoding.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <numbers>
#include <random>

#include "acquisition/acquisition.hpp"
#include "cpu/cpu_backend.hpp"
#include "gpu/cuda_backend.hpp"
#include "stages/block_checks.hpp"
#include "stages/decoding/decoding.hpp"

namespace echoform::benchmarks {
namespace {

/// A well-conditioned code of any size, made of cosines.
TransmitCode cosine_code(std::size_t elements) {
  TransmitCode code{elements, elements, {}, std::vector<bool>(elements, false)};
  for (std::size_t event = 0; event < elements; ++event) {
    for (std::size_t element = 0; element < elements; ++element) {
      const double turn = static_cast<double>(event) * (static_cast<double>(element) + 0.5) / static_cast<double>(elements);
      code.weights.push_back(std::cos(std::numbers::pi * turn));
    }
  }
  return code;
}

DecodingOptions of_hadamard(std::size_t elements) {
  Acquisition acquisition;
  acquisition.probe.elements.resize(elements);
  acquisition.events = hadamard_events(elements);
  return decoding_of(acquisition, false);
}

BlockSpec received_spec(const DecodingCase& test) {
  BlockSpec spec;
  spec.type = ElementType::float32;
  spec.rows = test.elements * test.elements;
  spec.columns = test.samples;
  spec.row_stride = padded_columns(test.samples);
  return spec;
}

}  // namespace

DecodingReport measure_decoding(const DecodingCase& test, const Progress& progress) {
  progress("making data");
  const auto backend = test.backend == BackendKind::cpu ? make_cpu_backend(test.threads) : make_cuda_backend();
  const auto queue = backend->make_queue();
  const BlockSpec spec = received_spec(test);
  const Buffer received = backend->allocate(spec.bytes(), MemoryUse::working);
  {
    std::vector<float> samples(spec.bytes() / sizeof(float));
    std::minstd_rand random(1);
    for (float& sample : samples) sample = static_cast<float>(static_cast<int>(random() >> 8 & 0xfff) - 2048);
    if (test.backend == BackendKind::cpu) {
      std::memcpy(received.data(), samples.data(), received.size());
    } else {
      copy_now(received.data(), samples.data(), received.size());
    }
  }

  DecodingReport report;
  StageTurns turns(*backend, *queue, received, test.frames, progress);
  const auto measure = [&](const std::string& name, const DecodingOptions& options) {
    const auto stage = make_stage(decoding_stage, options, *backend);
    const BlockSpec output = stage->prepare(spec);
    const Buffer decoded = backend->allocate(output.bytes(), MemoryUse::working);
    report.stages.push_back(
        turns.measure(name, stage_bytes(spec, output), [&] { stage->process({received.data()}, {decoded.data()}, *queue); }));
  };
  const auto measure_both = [&](const std::string& name, DecodingOptions options) {
    options.pairs = all_pairs(test.elements, test.elements);
    measure(name, options);
    options.pairs = summed_pairs(test.elements);
    measure(name + ", directions added", options);
  };
  DecodingOptions options;
  options.inverse = std::make_shared<const DecodingMatrix>(decoding_matrix(cosine_code(test.elements), "bench"));
  measure_both("any code", options);
  if (std::has_single_bit(test.elements) && test.elements > 1) measure_both("Hadamard", of_hadamard(test.elements));
  report.copy_bytes_per_second = turns.copy_bytes_per_second();
  return report;
}

}  // namespace echoform::benchmarks
