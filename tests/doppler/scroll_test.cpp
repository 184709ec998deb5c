// Images that scroll, against all rows of all frames written down one after the other.
#include "stages/scroll/scroll.hpp"

#include <cstring>
#include <utility>
#include <vector>

#include "tests/stages/stage_harness.hpp"
#include "tests/support/input_error.hpp"

namespace echoform::test {
namespace {

constexpr std::size_t scroll_rows = 6;
constexpr std::size_t scroll_columns = 37;

BlockSpec scrolled_spec() {
  return make_spec(ElementType::float32, scroll_rows, scroll_columns, scroll_columns + 3);
}

/// Row, column and frame tell each number.
float number_of(std::size_t frame, std::size_t row, std::size_t column) {
  return static_cast<float>(1000 * frame + 100 * row + column);
}

TestBlock scrolled_frame(std::size_t frame) {
  const BlockSpec spec = scrolled_spec();
  TestBlock block(spec);
  for (std::size_t row = 0; row < spec.rows; ++row) {
    for (std::size_t k = 0; k < spec.columns; ++k) block.as<float>()[row * spec.row_stride + k] = number_of(frame, row, k);
  }
  return block;
}

class Scroll : public StageTest {
 protected:
  /// All rows so far; images are the last of them, with zeros before.
  void take(std::size_t frame, const ScrollOptions& options) {
    for (std::size_t row = options.first; row < options.first + options.count; ++row) {
      std::vector<float>& taken = all_.emplace_back();
      for (std::size_t k = 0; k < scroll_columns; ++k) taken.push_back(number_of(frame, row, k));
    }
  }
  void expect_shown(const StageResult& result, std::size_t kept) const {
    ASSERT_EQ(result.spec.rows, kept);
    for (std::size_t row = 0; row < kept; ++row) {
      const float* const shown = result.block->as<float>() + row * scroll_columns;
      const std::size_t missing = kept > all_.size() ? kept - all_.size() : 0;
      for (std::size_t k = 0; k < scroll_columns; ++k) {
        const float expected = row < missing ? 0.0F : all_[all_.size() - kept + row][k];
        ASSERT_EQ(shown[k], expected) << "row " << row << ", column " << k;
      }
    }
  }
  std::vector<std::vector<float>> all_;
};
ECHOFORM_ALL_IMPLEMENTATIONS(Scroll);

TEST_P(Scroll, ShowsTheLastRows) {
  // Rings whose size rows of a frame divide, do not divide, and fill.
  for (const auto& [count, kept] : {std::pair<std::size_t, std::size_t>{1, 5}, {2, 8}, {3, 8}, {4, 4}, {4, 5}}) {
    all_.clear();
    ScrollOptions options{1, count, kept};
    const auto stage = make_stage(scroll_stage, options, backend());
    StageResult result = run(*stage, scrolled_spec(), scrolled_frame(0));
    take(0, options);
    expect_shown(result, kept);
    const StageStatement stated = scroll_stage.state(options, scrolled_spec(), {backend().kind(), threads()});
    EXPECT_EQ(stated.output, result.spec);
    EXPECT_EQ(on_cuda() ? stated.memory.device : stated.memory.host, stage->bytes());
    for (std::size_t frame = 1; frame < 12; ++frame) {
      if (frame == 7) {
        // Another line: what is kept stays.
        options.first = 2;
        ASSERT_TRUE(stage->accepts(options));
        stage->retune(options, queue());
      }
      run_again(*stage, scrolled_frame(frame), result);
      take(frame, options);
      expect_shown(result, kept);
    }
    stage->restart(queue());
    all_.clear();
    run_again(*stage, scrolled_frame(20), result);
    take(20, options);
    expect_shown(result, kept);
  }
}

TEST_P(Scroll, RefusesRowsThatThereAreNot) {
  const auto refused = [&](const ScrollOptions& options) {
    return input_error([&] { (void)make_stage(scroll_stage, options, backend())->prepare(scrolled_spec()); });
  };
  EXPECT_EQ(refused({6, 1, 4}), "scroll stage, rows: found 1 from 6 on; expected some of 6");
  EXPECT_EQ(refused({5, 2, 4}), "scroll stage, rows: found 2 from 5 on; expected some of 6");
  EXPECT_EQ(refused({0, 0, 4}), "scroll stage, rows: found 0 from 0 on; expected some of 6");
  EXPECT_EQ(refused({0, 4, 3}), "scroll stage, kept: found 3; expected 4 to 8192");
  const auto stage = make_stage(scroll_stage, ScrollOptions{0, 1, 4}, backend());
  (void)stage->prepare(scrolled_spec());
  EXPECT_FALSE(stage->accepts(ScrollOptions{0, 1, 5}));
  EXPECT_EQ(input_error([&] {
              (void)stage->accepts(ScrollOptions{9, 1, 4});
            }),
            "scroll stage, rows: found 1 from 9 on; expected some of 6");
}

}  // namespace
}  // namespace echoform::test
