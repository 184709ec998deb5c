#include "stages/block_checks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.hpp"
#include "pipeline/words.hpp"

namespace echoform {
namespace {

constexpr std::size_t size_limit = std::size_t{1} << 40;  // elements; far above any memory, far below overflow

constexpr std::size_t launch_limit = (std::size_t{1} << 31) - 1;  // blocks along x in one launch

}  // namespace

void require_block(const BlockSpec& spec, std::string_view stage, std::initializer_list<ElementType> types) {
  const auto place = [&](std::string_view field) { return fmt::format("{} stage, input {}", stage, field); };
  if (std::find(types.begin(), types.end(), spec.type) == types.end()) {
    std::string expected;
    for (const ElementType type : types)
      expected += fmt::format("{}{}", expected.empty() ? "" : " or ", words::element_type.of(type));
    throw InputError(place("type"), words::element_type.of(spec.type), expected);
  }
  if (spec.rows == 0 || spec.columns == 0) {
    throw InputError(place("shape"), fmt::format("{} rows of {}", spec.rows, spec.columns), "at least one of each");
  }
  if (spec.columns > size_limit || stride_of(spec) > size_limit || spec.rows > size_limit / stride_of(spec)) {
    throw InputError(place("shape"), fmt::format("{} rows of {}, {} apart", spec.rows, spec.columns, stride_of(spec)),
                     fmt::format("at most {} numbers", size_limit));
  }
  if (stride_of(spec) < shortest_stride(spec)) {
    throw InputError(place("row stride"), fmt::format("{}", spec.row_stride), fmt::format("at least {}", shortest_stride(spec)));
  }
  if (const EncodingFacts& facts = facts_of(spec.encoding);
      spec.type == ElementType::raw && spec.row_stride % facts.alignment != 0) {
    throw InputError(place("row stride"), fmt::format("{} bytes", spec.row_stride),
                     fmt::format("a multiple of {} for {} samples", facts.alignment, facts.word));
  }
  if (spec.sub_blocks == 0 || spec.rows % spec.sub_blocks != 0) {
    throw InputError(place("sub-blocks"), fmt::format("{} in {} rows", spec.sub_blocks, spec.rows), "a divisor of the rows");
  }
}

void require_rows_of_a_launch(std::size_t rows, std::string_view stage) {
  if (rows > launch_limit) {
    throw InputError(fmt::format("{} stage, rows", stage), fmt::format("{}", rows), fmt::format("at most {}", launch_limit));
  }
}

}  // namespace echoform
