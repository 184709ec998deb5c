#include "formats/mfmc_samples.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/errors.hpp"

namespace echoform::formats {
namespace {

constexpr std::size_t trial_piece = std::size_t{1} << 23;  // bytes that the trial unpacks at a time

}  // namespace

MfmcSamples::MfmcSamples(const Hdf5Item& data, bool as_counts)
    : data_(data),
      blocks_(data),
      type_(as_counts ? H5T_NATIVE_INT16 : H5T_NATIVE_FLOAT),
      a_scans_(data.shape().at(1)),
      samples_(data.shape().at(2)),
      row_bytes_(samples_ * (as_counts ? sizeof(std::int16_t) : sizeof(float))),
      chunk_rows_(a_scans_) {
  const std::vector<hsize_t>& chunk = blocks_.chunk();
  if (!chunk.empty()) chunk_rows_ = std::min<std::size_t>(chunk[1], a_scans_);
  // Whether chunks cut no A-scan, and each belongs to one frame.
  const bool whole = chunk.empty() || (chunk[0] == 1 && chunk[2] == samples_);
  const Hdf5Session session;
  const Hdf5Handle type(H5Dget_type(data.handle().id()));
  if (type && whole && !blocks_.packed()) file_row_bytes_ = samples_ * H5Tget_size(type.id());
}

void MfmcSamples::read(std::size_t frame, std::size_t first, std::size_t count, std::span<std::byte> to) {
  const std::array<hsize_t, 3> start{frame, first, 0};
  const std::array<hsize_t, 3> shape{1, count, samples_};
  blocks_.read(type_, start, shape, to);
}

std::optional<std::uint64_t> MfmcSamples::offset_of(std::size_t frame, std::size_t chunk_row) {
  if (found_frame_ == frame && found_row_ == chunk_row) return found_;
  const Hdf5Session session;
  haddr_t address = HADDR_UNDEF;
  if (!blocks_.chunk().empty()) {
    const std::array<hsize_t, 3> place{frame, chunk_row, 0};
    unsigned skipped = 0;
    hsize_t size = 0;
    if (H5Dget_chunk_info_by_coord(data_.handle().id(), place.data(), &skipped, &address, &size) < 0) address = HADDR_UNDEF;
  } else if (address = H5Dget_offset(data_.handle().id()); address != HADDR_UNDEF) {
    address += frame * a_scans_ * file_row_bytes_;
  }
  found_frame_ = frame;
  found_row_ = chunk_row;
  found_ = address == HADDR_UNDEF ? std::nullopt : std::optional<std::uint64_t>(address);
  return found_;
}

void MfmcSamples::expect(std::size_t frame, std::size_t first, std::size_t count, const ReadAhead& file) {
  if (file_row_bytes_ == 0) return;
  for (const std::size_t end = first + count; first < end;) {
    const std::size_t chunk_row = first / chunk_rows_ * chunk_rows_;
    const std::size_t here = std::min(end, chunk_row + chunk_rows_) - first;
    if (const auto offset = offset_of(frame, chunk_row)) {
      file.expect(*offset + (first - chunk_row) * file_row_bytes_, here * file_row_bytes_);
    }
    first += here;
  }
}

void MfmcSamples::try_frame(std::size_t frame) {
  // Data without filters lie as bytes at an address, and one A-scan of a chunk suffices to find them. All other data is unpacked.
  const bool packed = blocks_.packed();
  const std::size_t unpacked = std::max<std::size_t>(trial_piece / row_bytes_ / chunk_rows_, 1) * chunk_rows_;
  const std::size_t step = packed ? unpacked : chunk_rows_;
  const std::size_t count = packed ? std::min(step, a_scans_) : 1;
  std::vector<std::byte> piece(count * row_bytes_);
  const auto attempt = [&](std::size_t first) {
    const std::size_t here = std::min(count, a_scans_ - first);
    try {
      read(frame, first, here, std::span(piece).first(here * row_bytes_));
    } catch (const InputError&) {  // damage is reported when the data is asked for
    }
  };
  for (std::size_t first = 0; first < a_scans_; first += step) attempt(first);
  if (!packed) attempt(a_scans_ - 1);
}

}  // namespace echoform::formats
