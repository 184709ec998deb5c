#include "formats/hdf5_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/errors.hpp"

namespace echoform::formats {
namespace {

// Bytes of packed data that are unpacked on trial. If the data is longer, the frames read are spread evenly.
constexpr std::size_t unpacked_on_trial = std::size_t{1} << 28;
constexpr std::size_t frames_on_trial = 64;

}  // namespace

Hdf5Rows::Hdf5Rows(const Hdf5Item& data, FrameAxes axes, std::size_t samples, bool as_counts)
    : data_(data),
      blocks_(data),
      axes_(axes),
      samples_(samples),
      type_(as_counts ? H5T_NATIVE_INT16 : H5T_NATIVE_FLOAT),
      number_bytes_(as_counts ? sizeof(std::int16_t) : sizeof(float)) {
  const std::vector<std::size_t>& shape = data.shape();
  const std::size_t of_frame = axes == FrameAxes::stacked ? 1 : 2;
  if (shape.size() < of_frame || samples == 0)
    throw InputError(data.where(), fmt::format("shape {}", shape_text(shape)), "frames x A-scans x samples");
  rows_ = axes == FrameAxes::stacked ? shape.back() / samples : shape[shape.size() - 2];
  for (std::size_t axis = 0; axis + of_frame < shape.size(); ++axis) {
    if (shape[axis] == 0 || frames_ > most_frames / shape[axis]) {
      throw InputError(data.where(), fmt::format("shape {}", shape_text(shape)), fmt::format("1 to {} frames", most_frames));
    }
    frames_ *= shape[axis];
  }
}

void Hdf5Rows::read(std::size_t frame, std::size_t first, std::size_t count, std::span<std::byte> to) {
  const std::vector<std::size_t>& shape = data_.shape();
  std::vector<hsize_t> start(shape.size(), 0);
  std::vector<hsize_t> block(shape.size(), 1);
  if (axes_ == FrameAxes::stacked) {
    start.back() = first * samples_;
    block.back() = count * samples_;
  } else {
    start[shape.size() - 2] = first;
    block[shape.size() - 2] = count;
    block.back() = samples_;
  }
  std::size_t rest = frame;
  for (std::size_t axis = shape.size() - (axes_ == FrameAxes::stacked ? 1 : 2); axis-- > 0;) {
    start[axis] = rest % shape[axis];
    rest /= shape[axis];
  }
  blocks_.read(type_, start, block, to);
}

void Hdf5Rows::try_reading() {
  const std::size_t row_bytes = samples_ * number_bytes_;
  const std::size_t count = packed() ? rows_ : 1;
  std::vector<std::byte> piece(count * row_bytes);
  const auto attempt = [&](std::size_t frame, std::size_t first) {
    try {
      read(frame, first, count, piece);
    } catch (const InputError&) {  // damage is reported when the data is asked for
    }
  };
  const std::size_t most = packed() ? std::max<std::size_t>(unpacked_on_trial / piece.size(), 2) : frames_on_trial;
  for (std::size_t frame = 0; frame < frames_; frame += frames_ / most + 1) {
    attempt(frame, 0);
    // Data without filters lie as bytes at addresses, one for each chunk, so single rows suffice to find them.
    for (std::size_t first = 0; !packed() && first < rows_; first += rows_ / frames_on_trial + 1) attempt(frame, first);
    if (!packed()) attempt(frame, rows_ - 1);
  }
}

bool holds_counts(const Hdf5Item& data) {
  const Hdf5Handle type(H5Dget_type(data.handle().id()));
  if (!type || H5Tget_class(type.id()) != H5T_INTEGER) return false;
  const std::size_t bytes = H5Tget_size(type.id());
  return bytes == 1 || (bytes == 2 && H5Tget_sign(type.id()) != H5T_SGN_NONE);
}

std::optional<Hdf5Item> find_at_path(const Hdf5Handle& file, std::string_view path, const std::string& where) {
  constexpr std::size_t most_steps = 64;
  Hdf5Handle group(H5Gopen2(file.id(), "/", H5P_DEFAULT));
  std::string reached;
  for (std::size_t step = 0; group && step < most_steps; ++step) {
    path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
    const std::string name(path.substr(0, path.find('/')));
    path.remove_prefix(name.size());
    if (name.empty()) return std::nullopt;
    if (path.empty()) return Hdf5Item::find(group, name, where + reached);
    group = open_own_group(group, name);
    reached += "/" + name;
  }
  return std::nullopt;
}

}  // namespace echoform::formats
