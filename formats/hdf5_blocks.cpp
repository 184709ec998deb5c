#include "formats/hdf5_blocks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/errors.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform::formats {
namespace {

constexpr std::string_view known_filters =
    "deflate, shuffle and Fletcher32 alone (`h5repack -f NONE FILE NEW` makes a copy without filters, with the filter's plug-in "
    "where HDF5 has none of its own)";
/// Chunks without filters are read whole up to this size, as HDF5 does. Of larger ones only the values requested are read.
constexpr std::size_t most_whole_bytes = std::size_t{1} << 20;
constexpr std::size_t longest_value = sizeof(double);  // bytes of a value that is read, in memory
/// Below twice this extent, the sum of a place and a chunk of less than 2^32 values does not overflow.
constexpr hsize_t max_extent = hsize_t{1} << 62;

/// Names HDF5's own filters, and common ones that are registered with The HDF Group.
std::string name_of_filter(H5Z_filter_t filter, const std::string& stated) {
  struct Name {
    H5Z_filter_t filter;
    std::string_view name;
  };
  constexpr std::array names{Name{H5Z_FILTER_SZIP, "szip"},
                             Name{H5Z_FILTER_NBIT, "nbit"},
                             Name{H5Z_FILTER_SCALEOFFSET, "scaleoffset"},
                             Name{305, "LZO"},
                             Name{307, "bzip2"},
                             Name{32000, "LZF"},
                             Name{32001, "Blosc"},
                             Name{32004, "LZ4"},
                             Name{32008, "bitshuffle"},
                             Name{32013, "ZFP"},
                             Name{32015, "Zstandard"},
                             Name{32026, "Blosc2"}};
  const auto* const known = std::ranges::find(names, filter, &Name::filter);
  if (known == names.end() && stated.empty()) return fmt::format("filter {}, whose name is not stated", filter);
  return fmt::format("filter {} ({})", filter, known != names.end() ? std::string(known->name) : printable(stated, 40));
}

/// Bytes of a value in the file. For a text of any length the file holds the length, an address and a number; HDF5 states the
/// size of the pointer in memory instead.
std::size_t stored_bytes(hid_t dataset, const Hdf5Handle& type) {
  if (H5Tis_variable_str(type.id()) <= 0) return H5Tget_size(type.id());
  const Hdf5Handle file(H5Iget_file_id(dataset));
  const Hdf5Handle creation(file ? H5Fget_create_plist(file.id()) : H5I_INVALID_HID);
  std::size_t address_bytes = 0;
  std::size_t length_bytes = 0;
  if (!creation || H5Pget_sizes(creation.id(), &address_bytes, &length_bytes) < 0) return 0;
  return sizeof(std::uint32_t) + address_bytes + sizeof(std::uint32_t);
}

std::size_t product(std::span<const hsize_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::size_t{1}, std::multiplies<>());
}

/// Sets the limit for the time of one read.
class RawLimit {
 public:
  RawLimit(Hdf5Access& access, std::size_t bytes) : access_(access) {
    access_.most_raw_bytes = bytes;
    access_.last_raw_bytes = 0;
  }
  ~RawLimit() { access_.most_raw_bytes = SIZE_MAX; }
  RawLimit(const RawLimit&) = delete;
  RawLimit& operator=(const RawLimit&) = delete;

 private:
  Hdf5Access& access_;
};

/// The fill value as the file holds it; nothing if HDF5 does not report it. H5Pget_fill_value() does not return the number of its
/// bytes: it copies as many as the dataset's type has. H5Pencode() writes the size. In its output, the name "fill_value" is
/// followed by the times of allocation and of filling (1 byte each), the size of the value (8 bytes, low one first), and the
/// value.
std::optional<std::vector<std::byte>> stated_fill_value(const Hdf5Handle& creation) {
  constexpr std::string_view name("fill_value\0", 11);
  constexpr std::size_t times_bytes = 2;
  constexpr std::size_t max_encoded_bytes = std::size_t{1} << 20;
  const auto encode = [&](void* to, std::size_t& size) {
#if H5_VERSION_GE(1, 12, 0)
    return H5Pencode2(creation.id(), to, &size, H5P_DEFAULT) >= 0;
#else
    return H5Pencode(creation.id(), to, &size) >= 0;
#endif
  };
  std::size_t size = 0;
  if (!encode(nullptr, size) || size > max_encoded_bytes) return std::nullopt;
  std::string encoded(size, '\0');
  if (!encode(encoded.data(), size) || size > encoded.size()) return std::nullopt;
  // The file names filters. If a second place looks like the property's name, it stays open which of the two is the property.
  std::size_t at = encoded.find(name);
  if (at == std::string::npos || encoded.find(name, at + 1) != std::string::npos) return std::nullopt;
  at += name.size() + times_bytes;
  std::uint64_t bytes = 0;
  if (at + sizeof(bytes) > encoded.size()) return std::nullopt;
  for (std::size_t k = sizeof(bytes); k-- > 0;) bytes = bytes << 8 | static_cast<unsigned char>(encoded[at + k]);
  at += sizeof(bytes);
  if (bytes > encoded.size() - at) return std::nullopt;
  const auto value = std::as_bytes(std::span(encoded).subspan(at, bytes));
  return std::vector<std::byte>(value.begin(), value.end());
}

/// Fills `to`, which is not empty, with copies of a value. The size of `to` is a multiple of the value's.
void repeat(std::span<const std::byte> value, std::span<std::byte> to) {
  std::ranges::copy(value, to.begin());
  for (std::size_t done = value.size(); done < to.size();) {
    const std::size_t more = std::min(done, to.size() - done);
    std::memcpy(to.data() + done, to.data(), more);
    done += more;
  }
}

}  // namespace

/// The part that a block and a chunk share.
struct Hdf5Blocks::Part {
  Places in_chunk;  // where the part begins
  Places in_block;
  Places size;

  /// Calls use(place in the chunk, place in the block, length) for every run of values that are contiguous in both. Places and
  /// lengths are numbers of values; `chunk` and `block` are the sizes of both.
  template <class Use>
  void for_runs(std::span<const hsize_t> chunk, std::span<const hsize_t> block, const Use& use) const {
    std::size_t axis = size.size() - 1;  // the last axis that a run does not go beyond
    std::size_t run = size[axis];
    while (axis > 0 && size[axis] == chunk[axis] && size[axis] == block[axis]) run *= size[--axis];
    std::vector<hsize_t> at(axis, 0);
    for (;;) {
      std::size_t from = 0;
      std::size_t to = 0;
      for (std::size_t k = 0; k < size.size(); ++k) {
        const hsize_t here = k < axis ? at[k] : 0;
        from = from * chunk[k] + in_chunk[k] + here;
        to = to * block[k] + in_block[k] + here;
      }
      use(from, to, run);
      std::size_t k = axis;
      while (k > 0 && ++at[k - 1] == size[k - 1]) at[--k] = 0;
      if (k == 0) return;
    }
  }
};

Hdf5Blocks::Hdf5Blocks(const Hdf5Item& dataset, std::size_t kept_bytes)
    : item_(dataset), dataset_(dataset.handle().id()), shape_(dataset.shape().begin(), dataset.shape().end()) {
  const Hdf5Session session;
  for (const hsize_t size : shape_) {
    if (size > max_extent) throw InputError(item_.where(), fmt::format("{} values along an axis", size), "at most 2^62");
  }
  const Hdf5Handle creation(dataset.is_attribute() ? H5I_INVALID_HID : H5Dget_create_plist(dataset_));
  type_ = Hdf5Handle(creation ? H5Dget_type(dataset_) : H5I_INVALID_HID);
  type_bytes_ = type_ ? stored_bytes(dataset_, type_) : 0;
  if (type_bytes_ == 0) throw InputError(item_.where(), "a damaged dataset", "one that HDF5 can read");
  if (H5Pget_layout(creation.id()) != H5D_CHUNKED) {
    require_storage();
    return;
  }
  access_ = access_of(dataset.handle());
  if (access_ == nullptr) throw std::logic_error("Hdf5Blocks: a file that was not opened by open_hdf5()");
  find_chunks(creation);
  find_filters(creation);
  by_chunks_ = packed_ || unpacker_->chunk_bytes() <= most_whole_bytes;
  most_kept_ = std::max<std::size_t>(1, kept_bytes / unpacker_->chunk_bytes());
}

void Hdf5Blocks::require_storage() {
  const hsize_t stored = H5Dget_storage_size(dataset_);
  // Values that were never written are not stored.
  never_written_ = stored == 0;
  if (never_written_ && item_.type_class() != Hdf5Class::text) return;
  if (item_.points() <= stored / type_bytes_) return;
  throw InputError(item_.where(), fmt::format("{} bytes stored", stored),
                   fmt::format("{} values of {} bytes", shape_text(item_.shape()), type_bytes_));
}

void Hdf5Blocks::find_chunks(const Hdf5Handle& creation) {
  chunk_.resize(shape_.size());
  if (H5Pget_chunk(creation.id(), static_cast<int>(chunk_.size()), chunk_.data()) != static_cast<int>(chunk_.size()) ||
      std::ranges::find(chunk_, hsize_t{0}) != chunk_.end())
    throw InputError(item_.where(), "damaged chunks", "chunks that HDF5 can read");
  // The number of bytes of a chunk has 32 bits.
  chunk_values_ = 1;
  for (const hsize_t size : chunk_) {
    if (size > std::numeric_limits<std::uint32_t>::max() / type_bytes_ / chunk_values_)
      throw InputError(item_.where(), fmt::format("chunks of {} values", fmt::join(chunk_, " x ")), "chunks of less than 4 GiB");
    chunk_values_ *= size;
  }
}

void Hdf5Blocks::find_filters(const Hdf5Handle& creation) {
  std::vector<ChunkFilter> filters;
  const int count = H5Pget_nfilters(creation.id());
  if (count < 0 || static_cast<std::size_t>(count) > max_chunk_filters)
    throw InputError(item_.where(), "damaged filters", "chunks that HDF5 can read");
  for (int k = 0; k < count; ++k) {
    std::array<unsigned, 8> parameters{};
    std::size_t parameter_count = parameters.size();
    std::array<char, 64> name{};
    unsigned flags = 0;
    unsigned configuration = 0;
    const H5Z_filter_t filter = H5Pget_filter2(creation.id(), static_cast<unsigned>(k), &flags, &parameter_count,
                                               parameters.data(), name.size() - 1, name.data(), &configuration);
    switch (filter) {
      case H5Z_FILTER_DEFLATE:
        filters.push_back({ChunkFilterKind::deflate});
        break;
      case H5Z_FILTER_FLETCHER32:
        filters.push_back({ChunkFilterKind::fletcher32});
        break;
      case H5Z_FILTER_SHUFFLE:
        if (parameter_count != 1 || parameters[0] == 0)
          throw InputError(item_.where(), "a byte shuffle of numbers of 0 bytes", "chunks that HDF5 can read");
        filters.push_back({ChunkFilterKind::shuffle, parameters[0]});
        break;
      default:
        throw InputError(item_.where(), filter < 0 ? "damaged filters" : name_of_filter(filter, name.data()), known_filters);
    }
  }
  packed_ = !filters.empty();
  unsigned options = 0;
  if (packed_ && H5Pget_chunk_opts(creation.id(), &options) >= 0)
    cut_packed_ = (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) == 0;
  unpacker_.emplace(std::move(filters), chunk_values_ * type_bytes_);
}

std::size_t Hdf5Blocks::reading_bytes() const noexcept {
  if (!by_chunks_) return 0;
  // The memory for kept chunks, a packed one, the output between filters, and values while they are converted.
  const std::size_t chunk = unpacker_->chunk_bytes();
  return most_kept_ * chunk + (packed_ ? chunk + unpacker_->working_bytes() : 0) +
         chunk_values_ * std::max(type_bytes_, longest_value);
}

std::string Hdf5Blocks::where(const Places& place) const {
  return place.empty() ? item_.where() : fmt::format("{}, chunk at {}", item_.where(), fmt::join(place, ", "));
}

void Hdf5Blocks::refuse(const Places& place, const std::string& found) const {
  throw InputError(where(place), found, fmt::format("chunks of {} bytes", unpacker_->chunk_bytes()));
}

void Hdf5Blocks::read_all(hid_t type, std::span<std::byte> to) {
  read(type, Places(shape_.size(), 0), shape_, to);
}

void Hdf5Blocks::read(hid_t type, std::span<const hsize_t> start, std::span<const hsize_t> count, std::span<std::byte> to) {
  const Hdf5Session session;
  const std::size_t bytes = H5Tget_size(type);
  const std::size_t rank = shape_.size();
  if (start.size() != rank || count.size() != rank) throw std::logic_error("Hdf5Blocks::read: another number of axes");
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (start[axis] > shape_[axis] || count[axis] > shape_[axis] - start[axis])
      throw std::logic_error("Hdf5Blocks::read: a block beyond the dataset");
  }
  if (to.size() != product(count) * bytes) throw std::logic_error("Hdf5Blocks::read: another number of values");
  if (to.empty()) return;
  if (chunk_.empty()) {
    if (never_written_) return repeat(fill_value_as(type, {}), to);
    return read_by_hdf5(type, start, count, Places(rank, 0), count, to);
  }

  const bool converts = H5Tequal(type_.id(), type) <= 0;
  Places place(rank);
  for (std::size_t axis = 0; axis < rank; ++axis) place[axis] = start[axis] / chunk_[axis] * chunk_[axis];
  const Places first = place;
  Part part{Places(rank), Places(rank), Places(rank)};
  Places begin(rank);
  for (;;) {
    for (std::size_t axis = 0; axis < rank; ++axis) {
      begin[axis] = std::max(start[axis], place[axis]);
      part.size[axis] = std::min(start[axis] + count[axis], place[axis] + chunk_[axis]) - begin[axis];
      part.in_chunk[axis] = begin[axis] - place[axis];
      part.in_block[axis] = begin[axis] - start[axis];
    }
    bool found = false;
    if (!by_chunks_) {
      // Missing chunks are filled here: HDF5 leaves the memory as it is, or fills it with a value that is not the file's.
      found = is_stored(place);
      if (found) read_by_hdf5(type, begin, part.size, part.in_block, count, to);
    } else if (!converts && part.size == chunk_ && std::ranges::equal(part.size, count)) {
      found = unpack(place, [&] { return to; });
    } else if (const std::vector<std::byte>* const chunk = unpacked(place); chunk != nullptr) {
      found = true;
      if (converts) {
        convert_part(type, place, part, *chunk, count, to);
      } else {
        part.for_runs(chunk_, count, [&](std::size_t from, std::size_t at, std::size_t run) {
          std::memcpy(to.data() + at * bytes, chunk->data() + from * bytes, run * bytes);
        });
      }
    }
    if (!found) {
      const std::vector<std::byte> value = fill_value_as(type, place);
      part.for_runs(chunk_, count,
                    [&](std::size_t, std::size_t at, std::size_t run) { repeat(value, to.subspan(at * bytes, run * bytes)); });
    }
    std::size_t axis = rank;
    while (axis > 0 && (place[axis - 1] += chunk_[axis - 1]) >= start[axis - 1] + count[axis - 1]) {
      place[axis - 1] = first[axis - 1];
      --axis;
    }
    if (axis == 0) return;
  }
}

void Hdf5Blocks::convert_part(hid_t type, const Places& place, const Part& part, std::span<const std::byte> chunk,
                              std::span<const hsize_t> count, std::span<std::byte> to) {
  const std::size_t bytes = H5Tget_size(type);
  const std::size_t values = product(part.size);
  values_.resize(values * std::max(type_bytes_, bytes));
  std::byte* next = values_.data();
  part.for_runs(chunk_, count, [&](std::size_t from, std::size_t, std::size_t run) {
    std::memcpy(next, chunk.data() + from * type_bytes_, run * type_bytes_);
    next += run * type_bytes_;
  });
  convert(type, values, values_, place);
  const std::byte* converted = values_.data();
  part.for_runs(chunk_, count, [&](std::size_t, std::size_t at, std::size_t run) {
    std::memcpy(to.data() + at * bytes, converted, run * bytes);
    converted += run * bytes;
  });
}

void Hdf5Blocks::convert(hid_t type, std::size_t count, std::span<std::byte> values, const Places& place) const {
  std::vector<std::byte> before(H5Tget_class(type) == H5T_COMPOUND ? values.size() : 0);
  if (H5Tconvert(type_.id(), type, count, values.data(), before.empty() ? nullptr : before.data(), H5P_DEFAULT) < 0)
    throw InputError(where(place), "values that HDF5 cannot convert", "numbers that it can");
}

void Hdf5Blocks::read_by_hdf5(hid_t type, std::span<const hsize_t> start, std::span<const hsize_t> count,
                              std::span<const hsize_t> in_block, std::span<const hsize_t> block, std::span<std::byte> to) const {
  const int rank = static_cast<int>(shape_.size());
  const Hdf5Handle space(H5Dget_space(dataset_));
  const Hdf5Handle memory(rank > 0 ? H5Screate_simple(rank, block.data(), nullptr) : H5Screate(H5S_SCALAR));
  const auto choose = [&](const Hdf5Handle& of, std::span<const hsize_t> from) {
    return H5Sselect_hyperslab(of.id(), H5S_SELECT_SET, from.data(), nullptr, count.data(), nullptr) >= 0;
  };
  const bool chosen = space && memory && (rank == 0 || (choose(space, start) && choose(memory, in_block)));
  if (!chosen || H5Dread(dataset_, type, memory.id(), space.id(), H5P_DEFAULT, to.data()) < 0)
    throw InputError(item_.where(), "damaged data", "values that HDF5 can read");
}

void Hdf5Blocks::check_all() {
  const Hdf5Session session;
  if (chunk_.empty() || item_.points() == 0) return;
  std::vector<std::byte> chunk;
  Places place(shape_.size(), 0);
  for (;;) {
    const bool found = by_chunks_ ? unpack(place,
                                           [&] {
                                             chunk.resize(unpacker_->chunk_bytes());
                                             return std::span(chunk);
                                           })
                                  : is_stored(place);
    if (!found) static_cast<void>(fill_value(place));
    std::size_t axis = place.size();
    while (axis > 0 && (place[axis - 1] += chunk_[axis - 1]) >= shape_[axis - 1]) place[--axis] = 0;
    if (axis == 0) return;
  }
}

const std::vector<std::byte>* Hdf5Blocks::unpacked(const Places& place) {
  const auto known = std::ranges::find(kept_, place, &Kept::place);
  if (known != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, known);
    return &kept_.front().bytes;
  }
  auto kept = kept_.end();
  const bool found = unpack(place, [&] {
    // Once `most_kept_` chunks are kept, the memory of the least recently used one is reused.
    if (kept_.size() < most_kept_) kept_.emplace_back();
    kept = std::prev(kept_.end());
    kept->place.clear();  // stays empty until the chunk is there
    kept->bytes.resize(unpacker_->chunk_bytes());
    return std::span(kept->bytes);
  });
  if (!found) return nullptr;
  kept->place = place;
  kept_.splice(kept_.begin(), kept_, kept);
  return &kept->bytes;
}

bool Hdf5Blocks::unpack(const Places& place, Room room) {
  if (packed_) return unpack_filtered(place, room);
  const std::span<std::byte> to = room();
  std::uint32_t skipped = 0;
  const RawLimit limit(*access_, to.size());
  if (H5Dread_chunk(dataset_, H5P_DEFAULT, place.data(), &skipped, to.data()) >= 0 && access_->last_raw_bytes == to.size())
    return true;
  if (access_->last_raw_bytes == 0 && is_missing(place)) return false;
  refuse(place, access_->last_raw_bytes == 0 ? "damaged data" : fmt::format("{} bytes", access_->last_raw_bytes));
}

bool Hdf5Blocks::unpack_filtered(const Places& place, Room room) {
  hsize_t stored = 0;
  if (H5Dget_chunk_storage_size(dataset_, place.data(), &stored) < 0 || stored == 0) {
    if (is_missing(place)) return false;
    refuse(place, "damaged data");
  }
  // A damaged file may state a large chunk in a few bytes: memory is allocated only for as much as these bytes can hold.
  if (!unpacker_->may_hold_chunk(stored)) refuse(place, fmt::format("{} packed bytes", stored));
  if (stored > most_whole_bytes) {
    if (const std::uint64_t size = file_bytes(); stored > size)
      refuse(place, fmt::format("{} packed bytes in a file of {} bytes", stored, size));
  }
  raw_.resize(stored);
  std::uint32_t skipped = 0;
  const RawLimit limit(*access_, raw_.size());
  if (H5Dread_chunk(dataset_, H5P_DEFAULT, place.data(), &skipped, raw_.data()) < 0 || access_->last_raw_bytes != raw_.size())
    refuse(place, "damaged data");
  if (!cut_packed_ && is_cut(place)) skipped = std::numeric_limits<std::uint32_t>::max();
  if (const std::string found = unpacker_->unpack(raw_, skipped, room()); !found.empty()) refuse(place, found);
  return true;
}

std::uint64_t Hdf5Blocks::file_bytes() const {
  const Hdf5Handle file(H5Iget_file_id(dataset_));
  void* descriptor = nullptr;
  struct stat status {};
  if (!file || H5Fget_vfd_handle(file.id(), H5P_DEFAULT, &descriptor) < 0 ||
      ::fstat(*static_cast<const int*>(descriptor), &status) != 0)
    return 0;
  return static_cast<std::uint64_t>(status.st_size);
}

bool Hdf5Blocks::is_stored(const Places& place) const {
  // A read that may take no bytes fails before anything is written, and reports how many it would have taken.
  const RawLimit limit(*access_, 0);
  std::uint32_t skipped = 0;
  std::byte nothing{};
  static_cast<void>(H5Dread_chunk(dataset_, H5P_DEFAULT, place.data(), &skipped, &nothing));
  if (access_->last_raw_bytes != 0) return true;
  if (!is_missing(place)) refuse(place, "damaged data");
  return false;
}

bool Hdf5Blocks::is_missing(const Places& place) const {
  unsigned skipped = 0;
  haddr_t address = 0;
  hsize_t stored = 0;
  return H5Dget_chunk_info_by_coord(dataset_, place.data(), &skipped, &address, &stored) >= 0 && address == HADDR_UNDEF;
}

bool Hdf5Blocks::is_cut(const Places& place) const {
  for (std::size_t axis = 0; axis < place.size(); ++axis) {
    if (place[axis] + chunk_[axis] > shape_[axis]) return true;
  }
  return false;
}

const std::vector<std::byte>& Hdf5Blocks::fill_value(const Places& place) {
  if (item_.type_class() == Hdf5Class::text) throw InputError(where(place), "no text, which was never written", "a text");
  if (!fill_.empty()) return fill_;
  const Hdf5Handle creation(H5Dget_create_plist(dataset_));
  H5D_fill_value_t defined = H5D_FILL_VALUE_ERROR;
  if (!creation || H5Pfill_value_defined(creation.id(), &defined) < 0)
    throw InputError(where(place), "a damaged fill value", "one that HDF5 can read");
  std::vector<std::byte> value(type_bytes_);  // an undefined value leaves open what is read: zeros here
  if (defined == H5D_FILL_VALUE_USER_DEFINED) {
    auto stated = stated_fill_value(creation);
    if (!stated || stated->size() != type_bytes_) {
      throw InputError(where(place),
                       stated ? fmt::format("no data, and a fill value of {} bytes", stated->size())
                              : std::string("no data, and a fill value whose size HDF5 does not tell"),
                       fmt::format("data, or a fill value of {} bytes", type_bytes_));
    }
    value = std::move(*stated);
  }
  fill_ = std::move(value);
  return fill_;
}

std::vector<std::byte> Hdf5Blocks::fill_value_as(hid_t type, const Places& place) {
  const std::size_t bytes = H5Tget_size(type);
  std::vector<std::byte> value = fill_value(place);
  value.resize(std::max(type_bytes_, bytes));
  if (H5Tequal(type_.id(), type) <= 0) convert(type, 1, value, place);
  value.resize(bytes);
  return value;
}

}  // namespace echoform::formats
