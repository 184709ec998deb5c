#include "formats/mfmc_encoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/errors.hpp"
#include "formats/hdf5_blocks.hpp"

namespace echoform::formats {
namespace {

/// Number of rows read at once. What a damaged file claims to hold is read step by step.
constexpr std::size_t piece_rows = 65'536;

}  // namespace

std::vector<EncoderCount> read_encoder_counts(const Hdf5Handle& sequence, const std::string& where, std::size_t frames) {
  const auto item = Hdf5Item::find(sequence, encoder_count_dataset, where);
  if (!item) return {};
  const auto& shape = item->shape();
  if (item->is_attribute() || item->type_class() != Hdf5Class::number || item->is_floating() || shape.size() != 2 ||
      shape[1] == 0) {
    throw InputError(item->where(),
                     item->type_class() == Hdf5Class::number && !item->is_floating()
                         ? fmt::format("shape {}", shape_text(shape))
                         : std::string("something else than integers"),
                     "a dataset of integers, frames x encoders");
  }
  std::vector<EncoderCount> counts;
  const std::size_t rows = std::min(frames, shape[0]);
  Hdf5Blocks blocks(*item);
  std::vector<std::int64_t> piece(std::min(rows, piece_rows));
  for (std::size_t row = 0; row < rows; row += piece_rows) {
    const std::array<hsize_t, 2> start{row, 0};
    const std::array<hsize_t, 2> count{std::min(piece_rows, rows - row), 1};
    blocks.read(H5T_NATIVE_INT64, start, count, std::as_writable_bytes(std::span(piece).first(count[0])));
    counts.insert(counts.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(count[0]));
  }
  return counts;
}

}  // namespace echoform::formats
