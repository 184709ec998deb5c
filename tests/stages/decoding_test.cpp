// Decoding: rows of codes to firings of single elements, against a plain product in double precision.
#include "stages/decoding/decoding.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "stages/analytic_signal/analytic_signal.hpp"
#include "stages/decoding/decoding_kernels.hpp"
#include "stages/pairing/pairing.hpp"
#include "tests/stages/stage_harness.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

using testing::HasSubstr;

double sylvester(std::size_t row, std::size_t column) {
  return std::popcount(row & column) % 2 == 0 ? 1.0 : -1.0;
}

/// Whether `value` is a square in the field of a prime.
bool is_square(std::size_t value, std::size_t prime) {
  for (std::size_t root = 1; root < prime; ++root) {
    if (root * root % prime == value % prime) return true;
  }
  return false;
}

/// An S-matrix of a prime of 4 m + 3, cyclic: 1 where the distance is 0 or a square (Paley).
TransmitCode s_matrix(std::size_t prime) {
  TransmitCode code{prime, prime, {}, std::vector<bool>(prime, false)};
  for (std::size_t event = 0; event < prime; ++event) {
    for (std::size_t element = 0; element < prime; ++element) {
      const std::size_t apart = (element + prime - event) % prime;
      code.weights.push_back(apart == 0 || is_square(apart, prime) ? 1.0 : 0.0);
    }
  }
  return code;
}

TransmitCode hadamard(std::size_t size) {
  TransmitCode code{size, size, {}, std::vector<bool>(size, false)};
  for (std::size_t event = 0; event < size; ++event) {
    for (std::size_t element = 0; element < size; ++element) code.weights.push_back(sylvester(event, element));
  }
  return code;
}

TransmitCode random_code(std::size_t events, std::size_t elements, unsigned seed) {
  TransmitCode code{events, elements, {}, std::vector<bool>(elements, false)};
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  for (std::size_t k = 0; k < events * elements; ++k) code.weights.push_back(normal(random));
  return code;
}

TransmitCode code_of(std::size_t elements, std::initializer_list<double> weights) {
  return {weights.size() / elements, elements, weights, std::vector<bool>(elements, false)};
}

Acquisition acquisition_of(std::size_t elements, std::vector<TransmitEvent> events) {
  Acquisition acquisition;
  acquisition.probe.elements.resize(elements);
  acquisition.events = std::move(events);
  return acquisition;
}

/// decoding * code: 1 on the diagonal of living elements that fire, 0 elsewhere.
void expect_inverse(const TransmitCode& code, const DecodingMatrix& decoding, double tolerance) {
  for (std::size_t i = 0; i < code.elements; ++i) {
    bool fires = false;
    for (std::size_t event = 0; event < code.events; ++event) fires = fires || code.weights[event * code.elements + i] != 0.0;
    const bool decoded = fires && !code.dead[i];
    for (std::size_t j = 0; j < code.elements; ++j) {
      if (code.dead[j]) continue;
      double sum = 0.0;
      for (std::size_t event = 0; event < code.events; ++event) {
        sum += decoding.weights[i * code.events + event] * code.weights[event * code.elements + j];
      }
      EXPECT_NEAR(sum, decoded && i == j ? 1.0 : 0.0, tolerance) << i << ", " << j;
    }
  }
}

std::string refusal_of(const TransmitCode& code) {
  return input_error([&] { static_cast<void>(decoding_matrix(code, "Hello,")); });
}

TEST(DecodingMatrix, UndoesTheCode) {
  // A few hundred roundings of double precision, times the condition.
  expect_inverse(hadamard(16), decoding_matrix(hadamard(16), "test"), 1e-12);
  expect_inverse(s_matrix(19), decoding_matrix(s_matrix(19), "test"), 1e-12);
  for (const unsigned seed : {1u, 2u, 3u}) {
    expect_inverse(random_code(24, 24, seed), decoding_matrix(random_code(24, 24, seed), "test"), 1e-9);
    expect_inverse(random_code(31, 24, seed), decoding_matrix(random_code(31, 24, seed), "test"), 1e-9);
  }
  TransmitCode sparse = random_code(6, 9, 4);
  for (std::size_t event = 0; event < 6; ++event) sparse.weights[event * 9 + 2] = sparse.weights[event * 9 + 7] = 0.0;
  sparse.dead[5] = sparse.dead[7] = true;
  const DecodingMatrix decoding = decoding_matrix(sparse, "test");
  expect_inverse(sparse, decoding, 1e-9);
  for (const std::size_t element : {2, 5, 7}) {
    for (std::size_t event = 0; event < 6; ++event) EXPECT_EQ(decoding.weights[element * 6 + event], 0.0);
  }
}

TEST(DecodingMatrix, TellsAHadamardMatrixInAnyOrderOfEvents) {
  const DecodingMatrix plain = decoding_matrix(hadamard(8), "test");
  ASSERT_TRUE(plain.sylvester.has_value());
  for (std::uint32_t k = 0; k < 8; ++k) {
    EXPECT_EQ(plain.sylvester->event_of_row[k], k);
    EXPECT_EQ(plain.sylvester->element_of_column[k], k);
    for (std::size_t event = 0; event < 8; ++event) EXPECT_EQ(plain.weights[k * 8 + event], sylvester(event, k) / 8.0);
  }
  // Of ten elements eight fire, one of them dead; the events come in another order.
  const std::vector<std::size_t> elements{0, 1, 3, 4, 5, 6, 8, 9};
  const std::vector<std::size_t> rows{5, 0, 7, 2, 1, 6, 3, 4};
  TransmitCode mixed{8, 10, std::vector<double>(80), std::vector<bool>(10, false)};
  mixed.dead[4] = true;
  for (std::size_t event = 0; event < 8; ++event) {
    for (std::size_t k = 0; k < 8; ++k) mixed.weights[event * 10 + elements[k]] = sylvester(rows[event], k);
  }
  const DecodingMatrix decoding = decoding_matrix(mixed, "test");
  ASSERT_TRUE(decoding.sylvester.has_value());
  expect_inverse(mixed, decoding, 1e-12);
  for (std::size_t event = 0; event < 8; ++event) EXPECT_EQ(decoding.sylvester->event_of_row[rows[event]], event);
  EXPECT_EQ(decoding.sylvester->element_of_column[3], SylvesterOrder::nobody);
  EXPECT_EQ(decoding.sylvester->element_of_column[7], 9u);

  TransmitCode other = hadamard(8);
  other.weights[63] = 1.0;
  EXPECT_FALSE(decoding_matrix(other, "test").sylvester.has_value());
  EXPECT_FALSE(decoding_matrix(s_matrix(7), "test").sylvester.has_value());
}

TEST(DecodingMatrix, RefusesWhatCannotBeUndoneAndSaysWhichRowsDependOnEachOther) {
  TransmitCode twice = random_code(9, 9, 1);
  for (std::size_t element = 0; element < 9; ++element) twice.weights[7 * 9 + element] = twice.weights[3 * 9 + element];
  EXPECT_EQ(refusal_of(twice),
            "Hello, events: found events 3 and 7 that depend on each other; expected rows of a code that can be inverted");
  TransmitCode sum = random_code(9, 9, 2);
  for (std::size_t element = 0; element < 9; ++element) {
    sum.weights[5 * 9 + element] = sum.weights[element] - 0.5 * sum.weights[2 * 9 + element];
  }
  EXPECT_THAT(refusal_of(sum), HasSubstr("found events 0, 2 and 5 that depend on each other;"));
  TransmitCode both = sum;
  for (std::size_t element = 0; element < 9; ++element) both.weights[8 * 9 + element] = 2.0 * both.weights[4 * 9 + element];
  EXPECT_THAT(refusal_of(both), HasSubstr("found events 4 and 8 that depend on each other;")) << "the fewest";
  // A dead element's share of a row is none.
  TransmitCode dead = code_of(3, {1, 1, 1, 1, -1, 1, 0, 0, 1});
  EXPECT_EQ(refusal_of(dead), "");
  dead.dead[2] = true;
  EXPECT_EQ(refusal_of(dead), "") << "more events than elements that live";
  EXPECT_THAT(refusal_of(code_of(2, {0.0, 0.0, 1.0, 1.0})), HasSubstr("event"));
  TransmitCode nearly = twice;
  nearly.weights[7 * 9] += 1e-5;
  EXPECT_THAT(refusal_of(nearly), HasSubstr("found events 3 and 7 that nearly depend on each other (condition "));
  EXPECT_THAT(refusal_of(nearly), HasSubstr("; expected rows of a code of a condition up to 10000"));

  TransmitCode alike = random_code(12, 9, 3);
  for (std::size_t event = 0; event < 12; ++event) alike.weights[event * 9 + 6] = -alike.weights[event * 9 + 1];
  EXPECT_THAT(refusal_of(alike), HasSubstr("found elements 1 and 6 that cannot be told apart;"));

  EXPECT_EQ(refusal_of(random_code(3, 4, 1)),
            "Hello, events: found 3 rows of a code; expected at least 4: one for each living element that fires");
  TransmitCode none = hadamard(2);
  none.dead = {true, true};
  EXPECT_THAT(refusal_of(none), HasSubstr("no living element that fires"));
  EXPECT_THAT(refusal_of({1025, 1, std::vector<double>(1025, 1.0), {false}}),
              HasSubstr("found 1025 rows of a code; expected at most 1024"));
}

TEST(TransmitCode, IsOfTheEventsOfAnAcquisition) {
  Acquisition acquisition = acquisition_of(4, hadamard_events(4));
  acquisition.probe.elements[2].dead = true;
  TransmitCode wanted = hadamard(4);
  wanted.dead[2] = true;
  EXPECT_EQ(transmit_code(acquisition, "test"), wanted);

  const Acquisition laws =
      acquisition_of(3, {{LawEvent{{0, 2}, {}, {1.0F, -0.5F}}, {}}, {LawEvent{{1, 2}, {}, {-1.0F, 2.0F}}, {}}});
  EXPECT_EQ(transmit_code(laws, "test").weights, (std::vector<double>{1.0, 0.0, -0.5, 0.0, -1.0, 2.0}));

  const auto refusal = [](const Acquisition& of) { return input_error([&] { static_cast<void>(decoding_of(of, true)); }); };
  EXPECT_EQ(refusal(acquisition_of(2, {{ElementEvent{0}, {}}, {ElementEvent{1}, {}}})),
            "decoding, events: found no rows of a code; expected rows of a code in all events");
  Acquisition some = acquisition_of(4, hadamard_events(4));
  for (TransmitEvent& event : some.events) event.receivers = {0, 1, 3};
  EXPECT_EQ(refusal(some), "") << "the same receivers in all events";
  some.events[1].receivers = {3, 1, 0};
  EXPECT_EQ(refusal(some), "") << "in any order";
  some.events[1].receivers = {0, 3};
  EXPECT_EQ(refusal(some),
            "decoding, event 1: found element 1 not recorded, other than in event 0; expected the same receivers in all rows of "
            "a code");
}

struct Case {
  std::string name;
  TransmitCode code;
  std::size_t samples = 0;
  std::size_t stride = 0;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const std::size_t size : {2, 4, 8, 16, 32}) all.push_back({"hadamard", hadamard(size), 77, 80});
  all.push_back({"hadamard", hadamard(64), 96, 96});
  all.push_back({"hadamard", hadamard(128), 35, 48});
  all.push_back({"S-matrix", s_matrix(31), 201, 208});
  all.push_back({"any", random_code(13, 13, 8), 301, 301});
  all.push_back({"one", random_code(1, 1, 8), 3, 3});
  all.push_back({"more events", random_code(21, 13, 9), 64, 64});
  // Of 12 elements 8 fire, in an order of its own; one that fires and one that does not are dead.
  Case mixed{"mixed hadamard", {8, 12, std::vector<double>(8 * 12), std::vector<bool>(12, false)}, 150, 160};
  const std::size_t elements[] = {1, 2, 3, 5, 6, 8, 9, 11};
  for (std::size_t event = 0; event < 8; ++event) {
    for (std::size_t k = 0; k < 8; ++k) mixed.code.weights[event * 12 + elements[k]] = sylvester(event * 3 % 8, k);
  }
  mixed.code.dead[5] = mixed.code.dead[7] = true;
  all.push_back(mixed);
  return all;
}

class Decoding : public StageTest {
 protected:
  [[nodiscard]] std::unique_ptr<Stage> make(const DecodingOptions& options) {
#ifdef ECHOFORM_WITH_CUDA
    if (on_cuda()) return make_decoding_cuda(options, backend());
#endif
    return make_decoding_cpu(options, threads(), level());
  }

  /// Normal numbers, the same in every run; of dead receivers zeros, as pairing leaves them, and garbage between the rows.
  static TestBlock received(const BlockSpec& spec, const TransmitCode& code, unsigned seed) {
    TestBlock block(spec);
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (std::size_t row = 0; row < spec.rows; ++row) {
      const bool dead = code.dead[row % code.elements];
      for (std::size_t n = 0; n < spec.columns; ++n) {
        const float value = normal(random);
        block.as<float>()[row * stride_of(spec) + n] = dead ? 0.0F : value;
      }
    }
    return block;
  }

  /// The plain product, [element, receiver, sample].
  static std::vector<double> plain(const DecodingMatrix& matrix, const BlockSpec& spec, const TestBlock& block) {
    const std::size_t receivers = spec.rows / matrix.events;
    std::vector<double> decoded(matrix.elements * receivers * spec.columns);
    for (std::size_t element = 0; element < matrix.elements; ++element) {
      for (std::size_t receiver = 0; receiver < receivers; ++receiver) {
        for (std::size_t event = 0; event < matrix.events; ++event) {
          const float* const row = block.as<float>() + (event * receivers + receiver) * stride_of(spec);
          const double weight = matrix.weights[element * matrix.events + event];
          double* const out = decoded.data() + (element * receivers + receiver) * spec.columns;
          for (std::size_t n = 0; n < spec.columns; ++n) out[n] += weight * static_cast<double>(row[n]);
        }
      }
    }
    return decoded;
  }

  static float peak_of(const StageResult& result) {
    float peak = 0.0F;
    for (std::size_t row = 0; row < result.spec.rows; ++row) {
      for (std::size_t n = 0; n < result.spec.columns; ++n) {
        peak = std::max(peak, std::abs(result.block->as<float>()[row * result.spec.row_stride + n]));
      }
    }
    return peak;
  }

  /// Of the rows against `wanted`, relative to the norm of all that was received.
  static void expect_rows(const StageResult& result, const std::vector<double>& wanted, double tolerance) {
    double most = 0.0;
    double norm = 0.0;
    for (std::size_t row = 0; row < result.spec.rows; ++row) {
      for (std::size_t n = 0; n < result.spec.columns; ++n) {
        const double want = wanted[row * result.spec.columns + n];
        most = std::max(most, std::abs(static_cast<double>(result.block->as<float>()[row * result.spec.row_stride + n]) - want));
        norm += want * want;
      }
    }
    norm = std::sqrt(norm / static_cast<double>(result.spec.rows * result.spec.columns));
    EXPECT_LE(most, tolerance * norm);
  }
};
ECHOFORM_ALL_IMPLEMENTATIONS(Decoding);

TEST_P(Decoding, IsThePlainProduct) {
  for (const Case& test : cases()) {
    const auto matrix = std::make_shared<const DecodingMatrix>(decoding_matrix(test.code, "test"));
    const BlockSpec spec = make_spec(ElementType::float32, test.code.events * test.code.elements, test.samples, test.stride);
    const TestBlock block = received(spec, test.code, 7);
    const std::vector<double> decoded = plain(*matrix, spec, block);
    const std::size_t elements = matrix->elements;
    std::vector<double> sums;
    for (std::size_t i = 0; i < elements; ++i) {
      for (std::size_t j = i; j < elements; ++j) {
        for (std::size_t n = 0; n < test.samples; ++n) {
          const double forward = decoded[(i * elements + j) * test.samples + n];
          sums.push_back(i == j ? forward : forward + decoded[(j * elements + i) * test.samples + n]);
        }
      }
    }
    for (const DecodingRoute route : {DecodingRoute::product, DecodingRoute::hadamard}) {
      if (route == DecodingRoute::hadamard && !matrix->sylvester) continue;
      SCOPED_TRACE(test.name + std::to_string(elements) + (route == DecodingRoute::product ? ", product" : ", transform"));
      // Peaks are 5 rms; sums of up to 128 numbers are right to 2e-6 of the rms of the numbers at the worst, those of codes of
      // a condition of 100 to 1e-4 of what is decoded.
      const double tolerance = matrix->sylvester || test.name == "S-matrix" ? 1e-5 : 1e-4;
      const auto all = make({matrix, all_pairs(elements, elements), route});
      const StageResult result = run(*all, spec, block, 2);
      EXPECT_EQ(result.spec.rows, elements * elements);
      EXPECT_EQ(result.spec.row_stride, test.stride);
      expect_rows(result, decoded, tolerance);
      DecodingOptions options{matrix, summed_pairs(elements), route};
      for (const std::size_t scratch : {std::size_t{1}, std::size_t{32} << 20}) {
        options.scratch_bytes = scratch;  // sums in pieces, and at once
        const auto summed = make(options);
        const StageResult sum = run(*summed, spec, block, 2);
        EXPECT_EQ(sum.spec.rows, elements * (elements + 1) / 2);
        EXPECT_EQ(sum.spec.row_stride, test.stride);
        expect_rows(sum, sums, tolerance);
        if (on_cuda()) {
          ASSERT_NE(sum.spec.trailer, 0u);
        }
        if (sum.spec.trailer != 0) {
          float peak = 0.0F;
          std::memcpy(&peak, sum.block->as<std::byte>() + sum.spec.bytes() - sum.spec.trailer, sizeof peak);
          EXPECT_EQ(peak, peak_of(sum));
        }
      }
      if (result.spec.trailer != 0) {
        float peak = 0.0F;
        std::memcpy(&peak, result.block->as<std::byte>() + result.spec.bytes() - result.spec.trailer, sizeof peak);
        EXPECT_EQ(peak, peak_of(result));
      }
    }
  }
}

TEST_P(Decoding, OfManyEventsAndFewReceivers) {
  // More events than the transform on CUDA holds in registers, and more than it takes at all; three receivers.
  for (const std::size_t size : {256, 512}) {
    const auto matrix = std::make_shared<const DecodingMatrix>(decoding_matrix(hadamard(size), "test"));
    const BlockSpec spec = make_spec(ElementType::float32, size * 3, 40, 48);
    TransmitCode receivers;
    receivers.elements = 3;
    receivers.dead.assign(3, false);
    const TestBlock block = received(spec, receivers, 3);
    const auto stage = make({matrix, all_pairs(size, 3), DecodingRoute::automatic});
    const StageResult result = run(*stage, spec, block);
    expect_rows(result, plain(*matrix, spec, block), 1e-5);
  }
}

TEST_P(Decoding, TheTransformGivesTheSameBitsEverywhere) {
  for (const std::size_t size : {8, 64, 128, 256}) {
    const auto matrix = std::make_shared<const DecodingMatrix>(decoding_matrix(hadamard(size), "test"));
    const BlockSpec spec = make_spec(ElementType::float32, size * 4, 33, 33);
    TransmitCode receivers;
    receivers.elements = 4;
    receivers.dead.assign(4, false);
    const TestBlock block = received(spec, receivers, 4);
    const DecodingOptions options{matrix, all_pairs(size, 4), DecodingRoute::hadamard};
    const auto reference = make_decoding_cpu(options, 1, SimdLevel::portable);
    const StageResult wanted = run_on_one_thread(*reference, spec, block);
    const auto stage = make(options);
    const StageResult result = run(*stage, spec, block);
    EXPECT_EQ(std::memcmp(result.block->as<float>(), wanted.block->as<float>(), spec.rows * 33 * sizeof(float)), 0) << size;
  }
}

TEST_P(Decoding, WinsInNoiseWhatTheoryTells) {
  // 32 x 32 x 512 numbers: a variance of them is right to sqrt(2 / 524288) = 0.2 %, 0.01 dB.
  constexpr std::size_t samples = 512;
  struct Gain {
    TransmitCode code;
    double gain;  // variance of the firing of one element over that of a decoded one
  };
  // Of Hadamard codes N. Of an S-matrix of n every decoded number is 2 / (n + 1) times a sum of n with signs: (n + 1)^2 / 4 n.
  const Gain gains[] = {{hadamard(32), 32.0}, {s_matrix(31), 32.0 * 32.0 / (4.0 * 31.0)}};
  for (const Gain& test : gains) {
    const std::size_t n = test.code.elements;
    const auto matrix = std::make_shared<const DecodingMatrix>(decoding_matrix(test.code, "test"));
    const BlockSpec spec = make_spec(ElementType::float32, n * n, samples, samples);
    const TestBlock block = received(spec, test.code, 11);  // noise of variance 1
    std::mt19937 random(5);
    std::normal_distribution<double> normal;
    std::vector<double> echoes(n * n * samples);  // [element, receiver, sample]
    for (double& echo : echoes) echo = normal(random);
    for (std::size_t event = 0; event < n; ++event) {
      for (std::size_t element = 0; element < n; ++element) {
        const double weight = test.code.weights[event * n + element];
        if (weight == 0.0) continue;
        for (std::size_t k = 0; k < n * samples; ++k) {
          block.as<float>()[event * n * samples + k] += static_cast<float>(weight * echoes[element * n * samples + k]);
        }
      }
    }
    for (const DecodingRoute route : {DecodingRoute::product, DecodingRoute::automatic}) {
      const auto stage = make({matrix, all_pairs(n, n), route});
      const StageResult result = run(*stage, spec, block);
      double variance = 0.0;
      for (std::size_t k = 0; k < echoes.size(); ++k) {
        const double error = static_cast<double>(result.block->as<float>()[k]) - echoes[k];
        variance += error * error;
      }
      variance /= static_cast<double>(echoes.size());
      EXPECT_NEAR(10.0 * std::log10(1.0 / variance), 10.0 * std::log10(test.gain), 0.3) << n << " elements";
    }
  }
}

TEST_P(Decoding, StandsBetweenPairingAndTheAnalyticSignal) {
  // Frames of a code, as an instrument sends them, against frames of single elements, on the float path.
  constexpr std::size_t n = 8;
  constexpr std::size_t samples = 200;
  Acquisition coded_frame = acquisition_of(n, hadamard_events(n));
  coded_frame.probe.elements[3].dead = true;
  coded_frame.samples = samples;
  const BlockSpec spec = make_raw_spec(SampleEncoding::float32, n * n, samples);
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  std::vector<double> echoes(n * n * samples);
  for (double& echo : echoes) echo = normal(random);
  const TestBlock coded_block(spec);
  for (std::size_t event = 0; event < n; ++event) {
    for (std::size_t k = 0; k < n * samples; ++k) {
      double sum = 0.0;
      for (std::size_t element = 0; element < n; ++element) {
        if (element != 3) sum += sylvester(event, element) * echoes[element * n * samples + k];
      }
      coded_block.as<float>()[event * n * samples + k] = static_cast<float>(sum);
    }
  }
  for (const bool reciprocal : {false, true}) {
    // Events are no elements: their rows are never added before they are decoded.
    const PairingOptions pairing = pairing_of(coded_frame, false, 1.0);
    const DecodingOptions decoding = decoding_of(coded_frame, reciprocal);
    std::unique_ptr<Stage> first = make_pairing_cpu(pairing, level());
#ifdef ECHOFORM_WITH_CUDA
    if (on_cuda()) first = make_pairing_cuda(pairing, backend());
#endif
    const StageResult paired = run(*first, spec, coded_block);
    const auto second = make(decoding);
    const StageResult decoded = run(*second, paired.spec, *paired.block);
    std::vector<double> wanted;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = reciprocal ? i : 0; j < n; ++j) {
        for (std::size_t k = 0; k < samples; ++k) {
          const bool living = i != 3 && j != 3;
          const double one = echoes[(i * n + j) * samples + k];
          const double other = echoes[(j * n + i) * samples + k];
          wanted.push_back(!living ? 0.0 : reciprocal && i != j ? one + other : one);
        }
      }
    }
    expect_rows(decoded, wanted, 1e-5);
    for (const bool half : {false, true}) {
      if (half && !on_cuda()) continue;
      std::unique_ptr<Stage> third = make_analytic_signal_cpu(threads(), level());
#ifdef ECHOFORM_WITH_CUDA
      if (on_cuda()) third = make_analytic_signal_cuda({.half = half}, backend());
#endif
      const StageResult signal = run(*third, decoded.spec, *decoded.block);
      EXPECT_EQ(signal.spec.rows, decoded.spec.rows);
      if (!half) continue;
      // 1 / k, by the greatest |I|: k brings it into (0.125, 0.25].
      float inverse = 0.0F;
      std::memcpy(&inverse, signal.block->as<std::byte>() + signal.spec.bytes() - signal.spec.trailer, sizeof inverse);
      EXPECT_GT(peak_of(decoded) / inverse, 0.125F);
      EXPECT_LE(peak_of(decoded) / inverse, 0.25F);
    }
  }
}

TEST(DecodingKernels, WritePastTheCachesWhatTheyWriteThroughThem) {
  // Frames of a size that goes past the caches are for benchmarks.
  constexpr std::size_t count = 101;
  alignas(64) float one[128];
  alignas(64) float other[128];
  for (std::size_t n = 0; n < 128; ++n) {
    one[n] = static_cast<float>(n % 7) - 3.0F;
    other[n] = 0.25F * static_cast<float>(n % 11);
  }
  for (const SimdLevel level : {SimdLevel::portable, SimdLevel::avx2, SimdLevel::avx512}) {
    if (level > simd_level()) continue;
    const DecodingKernels kernels = decoding_kernels(level);
    for (const std::size_t shift : {0, 1, 4, 8}) {  // rows that start on any place
      for (const bool streaming : {false, true}) {
        alignas(64) float copy[128] = {};
        alignas(64) float sum[128] = {};
        kernels.put(one, copy + shift, count, -0.5F, streaming);
        kernels.put_sum(one, other, sum + shift, count, -0.5F, streaming);
        for (std::size_t n = 0; n < 128; ++n) {
          const bool inside = n >= shift && n < shift + count;
          EXPECT_EQ(copy[n], inside ? -0.5F * one[n - shift] : 0.0F) << n;
          EXPECT_EQ(sum[n], inside ? -0.5F * (one[n - shift] + other[n - shift]) : 0.0F) << n;
        }
      }
    }
  }
}

TEST_P(Decoding, RefusesWhatItCannotDecode) {
  const auto matrix = std::make_shared<const DecodingMatrix>(decoding_matrix(s_matrix(7), "test"));
  EXPECT_THAT(input_error([&] { static_cast<void>(make({})); }), HasSubstr("decoding stage, matrix: found none"));
  EXPECT_EQ(input_error([&] {
              static_cast<void>(make({matrix, all_pairs(7, 7), DecodingRoute::hadamard}));
            }),
            "decoding stage, route: found hadamard; expected product: the code is no Hadamard matrix in Sylvester's order");
  EXPECT_EQ(input_error([&] {
              static_cast<void>(make({matrix, pairs_both_ways(7), DecodingRoute::automatic}));
            }),
            "decoding stage, pairs: found 28 rows of 7 events; expected every pair or every sum of 7 elements");
  const auto stage = make({matrix, all_pairs(7, 7), DecodingRoute::automatic});
  EXPECT_EQ(input_error([&] { static_cast<void>(stage->prepare(make_spec(ElementType::float32, 48, 9))); }),
            "decoding stage, input A-scans: found 48; expected 7 events x 7 receivers");
  EXPECT_EQ(input_error([&] { static_cast<void>(stage->prepare(make_spec(ElementType::raw, 49, 9))); }),
            "decoding stage, input type: found raw samples; expected float32");
}

}  // namespace
}  // namespace echoform::test
