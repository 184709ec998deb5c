#include "formats/mfmc_encoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/errors.hpp"

namespace echoform::formats {
namespace {

/// Read at once: what a damaged file claims to hold is taken step by step.
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
  const Hdf5Handle space(H5Dget_space(item->handle().id()));
  std::vector<std::int64_t> piece(std::min(rows, piece_rows));
  for (std::size_t row = 0; row < rows; row += piece_rows) {
    const std::array<hsize_t, 2> start{row, 0};
    const std::array<hsize_t, 2> count{std::min(piece_rows, rows - row), 1};
    const Hdf5Handle memory(H5Screate_simple(2, count.data(), nullptr));
    if (!space || !memory || H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) < 0 ||
        H5Dread(item->handle().id(), H5T_NATIVE_INT64, memory.id(), space.id(), H5P_DEFAULT, piece.data()) < 0) {
      throw InputError(item->where(), "damaged data", "counts that HDF5 can read");
    }
    counts.insert(counts.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(count[0]));
  }
  return counts;
}

}  // namespace echoform::formats
