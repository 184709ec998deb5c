#include "formats/mfmc_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/errors.hpp"

namespace echoform::formats {
namespace {

constexpr std::size_t trial_piece = std::size_t{1} << 23;  // bytes that are unpacked at a time on trial

/// How A-scans of a frame lie in the file.
struct Chunks {
  std::size_t rows = 0;   ///< of a chunk; 0: there are none
  std::size_t bytes = 0;  ///< of a chunk, with its other frames
  bool filtered = false;  ///< unpacked for every access anew
  bool whole = true;      ///< A-scans are not cut, and a chunk is of one frame
};

Chunks chunks_of(hid_t dataset, std::size_t samples) {
  const Hdf5Session session;
  const Hdf5Handle creation(H5Dget_create_plist(dataset));
  if (!creation || H5Pget_layout(creation.id()) != H5D_CHUNKED) return {};
  std::array<hsize_t, 3> chunk{};
  const Hdf5Handle type(H5Dget_type(dataset));
  if (!type || H5Pget_chunk(creation.id(), 3, chunk.data()) != 3) return {};
  return {std::max<std::size_t>(chunk[1], 1), chunk[0] * chunk[1] * chunk[2] * H5Tget_size(type.id()),
          H5Pget_nfilters(creation.id()) > 0, chunk[0] == 1 && chunk[2] == samples};
}

}  // namespace

MfmcSamples::MfmcSamples(const Hdf5Item& data, bool as_counts)
    : data_(data),
      type_(as_counts ? H5T_NATIVE_INT16 : H5T_NATIVE_FLOAT),
      a_scans_(data.shape().at(1)),
      samples_(data.shape().at(2)),
      row_bytes_(samples_ * (as_counts ? sizeof(std::int16_t) : sizeof(float))) {
  const Chunks chunks = chunks_of(data.handle().id(), samples_);
  chunk_rows_ = std::min(chunks.rows > 0 ? chunks.rows : a_scans_, a_scans_);
  if (chunks.filtered) {
    packed_rows_ = chunk_rows_;
    chunk_bytes_ = chunks.bytes;
  }
  const Hdf5Session session;
  const Hdf5Handle type(H5Dget_type(data.handle().id()));
  chunked_ = chunks.rows > 0;
  if (type && chunks.whole && !chunks.filtered) file_row_bytes_ = samples_ * H5Tget_size(type.id());
}

void MfmcSamples::read(std::size_t frame, std::size_t first, std::size_t count, std::span<std::byte> to) {
  if (packed_rows_ == 0) return read_data(frame, first, count, to.data());
  for (const std::size_t end = first + count; first < end;) {
    const std::size_t window = first / packed_rows_ * packed_rows_;
    const std::size_t window_end = std::min(window + packed_rows_, a_scans_);
    const std::size_t here = std::min(end, window_end) - first;
    if (first == window && here == window_end - window) {
      read_data(frame, first, here, to.data());
    } else {
      if (window_frame_ != frame || window_first_ != window) {
        window_.resize(packed_rows_ * row_bytes_);
        window_frame_ = SIZE_MAX;
        read_data(frame, window, window_end - window, window_.data());
        window_frame_ = frame;
        window_first_ = window;
      }
      std::memcpy(to.data(), window_.data() + (first - window) * row_bytes_, here * row_bytes_);
    }
    to = to.subspan(here * row_bytes_);
    first += here;
  }
}

std::optional<std::uint64_t> MfmcSamples::offset_of(std::size_t frame, std::size_t chunk_row) {
  if (found_frame_ == frame && found_row_ == chunk_row) return found_;
  const Hdf5Session session;
  haddr_t address = HADDR_UNDEF;
  if (chunked_) {
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
  // What goes through no filter is bytes at an address, which one A-scan of a chunk finds. The rest is unpacked.
  const std::size_t unpacked = std::max<std::size_t>(trial_piece / row_bytes_ / chunk_rows_, 1) * chunk_rows_;
  const std::size_t step = packed_rows_ > 0 ? unpacked : chunk_rows_;
  const std::size_t count = packed_rows_ > 0 ? std::min(step, a_scans_) : 1;
  std::vector<std::byte> piece(count * row_bytes_);
  const auto attempt = [&](std::size_t first) {
    try {
      read_data(frame, first, std::min(count, a_scans_ - first), piece.data());
    } catch (const InputError&) {  // damage is reported when the data is asked for
    }
  };
  for (std::size_t first = 0; first < a_scans_; first += step) attempt(first);
  if (packed_rows_ == 0) attempt(a_scans_ - 1);
}

void MfmcSamples::read_data(std::size_t frame, std::size_t first, std::size_t count, void* to) const {
  const Hdf5Session session;
  const std::array<hsize_t, 3> start{frame, first, 0};
  const std::array<hsize_t, 3> shape{1, count, samples_};
  const Hdf5Handle space(H5Dget_space(data_.handle().id()));
  const Hdf5Handle memory(H5Screate_simple(3, shape.data(), nullptr));
  if (!space || !memory || H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, shape.data(), nullptr) < 0 ||
      H5Dread(data_.handle().id(), type_, memory.id(), space.id(), H5P_DEFAULT, to) < 0) {
    throw InputError(fmt::format("{}, frame {}", data_.where(), frame), "damaged data", "samples that HDF5 can read");
  }
}

}  // namespace echoform::formats
