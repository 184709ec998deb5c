// Sums of lines that several events have at one place, against plain ones in double precision.
#include "stages/line_blend/line_blend.hpp"

#include <cmath>
#include <limits>
#include <random>

#include "tests/stages/stage_harness.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

class LineBlend : public StageTest {
 protected:
  [[nodiscard]] std::unique_ptr<Stage> make(std::shared_ptr<const LineBlendTable> table) {
    return make_stage(line_blend_stage, LineBlendOptions{std::move(table)}, backend());
  }
};
ECHOFORM_ALL_IMPLEMENTATIONS(LineBlend);

/// Lines of 1 to 4 terms from any of `rows` rows.
std::shared_ptr<LineBlendTable> random_table(std::size_t rows, std::size_t lines, std::size_t ranges, unsigned seed) {
  std::mt19937 random(seed);
  auto table = std::make_shared<LineBlendTable>();
  table->ranges = ranges;
  constexpr std::uint32_t tables = 5;
  std::uniform_real_distribution<float> weight(-1.0F, 1.0F);
  for (std::size_t n = 0; n < tables * ranges; ++n) table->weights.push_back(weight(random));
  for (std::size_t line = 0; line < lines; ++line) {
    std::vector<BlendTerm> terms;
    for (std::size_t t = 0; t <= line % 4; ++t) {
      terms.push_back({static_cast<std::uint32_t>(random() % rows), static_cast<std::uint32_t>(random() % tables)});
    }
    table->lines.push_back(std::move(terms));
  }
  return table;
}

TEST_P(LineBlend, EqualsThePlainSum) {
  for (const ElementType type : {ElementType::float32, ElementType::complex64}) {
    const std::size_t parts = type == ElementType::complex64 ? 2 : 1;
    for (const std::size_t ranges : {1, 16, 333, 700}) {
      const auto table = random_table(11, 23, ranges, static_cast<unsigned>(ranges));
      const BlockSpec spec = make_spec(type, 11, ranges, ranges + 3);
      const TestBlock input(spec);
      std::mt19937 random(8);
      std::normal_distribution<float> noise;
      for (std::size_t n = 0; n < spec.bytes() / sizeof(float); ++n) input.as<float>()[n] = noise(random);
      const auto stage = make(table);
      const StageResult result = run(*stage, spec, input, 2);
      ASSERT_EQ(result.spec, make_spec(type, 23, ranges, (ranges + 15) / 16 * 16));
      for (std::size_t line = 0; line < 23; ++line) {
        for (std::size_t n = 0; n < result.spec.row_stride * parts; ++n) {
          const float found = result.block->as<float>()[line * result.spec.row_stride * parts + n];
          double sum = 0.0;
          if (n < ranges * parts) {
            for (const BlendTerm& term : table->lines[line]) {
              sum += static_cast<double>(table->weights[term.weights * ranges + n / parts]) *
                     input.as<float>()[term.row * (ranges + 3) * parts + n];
            }
          }
          // Four products of numbers below 5 and their sum, each rounded to 2^-24 of it; what pads a row is 0.
          ASSERT_NEAR(found, sum, n < ranges * parts ? 1e-5 : 0.0);
        }
      }
      const auto plain = make_line_blend_cpu({table});
      const StageResult same = run_on_one_thread(*plain, spec, input);
      EXPECT_EQ(std::memcmp(result.block->as<float>(), same.block->as<float>(), result.spec.bytes()), 0);
    }
  }
}

TEST_P(LineBlend, TableOutOfRangeIsTold) {
  const BlockSpec spec = make_spec(ElementType::float32, 4, 20);
  const auto error_of = [&](auto change) {
    const auto table = random_table(4, 3, 20, 1);
    change(*table);
    return input_error([&] { (void)make(table)->prepare(spec); });
  };
  EXPECT_EQ(error_of([](LineBlendTable&) {}), "");
  EXPECT_EQ(error_of([](LineBlendTable& table) { table.lines[1].front().row = 4; }),
            "line-blend stage, row of a term: found 4; expected one of 4");
  EXPECT_EQ(error_of([](LineBlendTable& table) { table.lines[2].front().weights = 5; }),
            "line-blend stage, weights of a term: found 5; expected one of 5 tables");
  EXPECT_EQ(error_of([](LineBlendTable& table) { table.lines[0].clear(); }),
            "line-blend stage, terms of a line: found 0; expected at least one");
  EXPECT_EQ(error_of([](LineBlendTable& table) { table.lines.clear(); }),
            "line-blend stage, lines: found 0; expected at least one");
  EXPECT_EQ(error_of([](LineBlendTable& table) { table.ranges = 19; }), "line-blend stage, input ranges: found 20; expected 19");
  EXPECT_EQ(error_of([](LineBlendTable& table) { table.weights[3] = std::numeric_limits<float>::infinity(); }),
            "line-blend stage, weights: found one that is not finite; expected finite ones");
  EXPECT_EQ(input_error([&] { (void)make(nullptr)->prepare(spec); }),
            "line-blend stage, table: found none; expected the terms of each line");
}

}  // namespace
}  // namespace echoform::test
