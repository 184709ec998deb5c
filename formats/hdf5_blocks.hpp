// Blocks of HDF5 datasets, whichever way they lie in a file. Packed chunks are unpacked here (chunk_filters.hpp), not by HDF5:
// whatever a file says of its chunks, each value that is handed on stood in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/function_ref.hpp"
#include "formats/chunk_filters.hpp"
#include "formats/hdf5_driver.hpp"
#include "formats/hdf5_file.hpp"

namespace echoform::formats {

class Hdf5Blocks {
 public:
  /// Unpacked chunks that are kept, the latest one besides, for what is read of them next.
  static constexpr std::size_t usual_kept_bytes = std::size_t{1} << 20;

  /// `dataset`, of a file that open_hdf5() opened, outlives this. Throws InputError for filters other than deflate, shuffle and
  /// Fletcher32, by their names, for storage that is smaller than the dataset, and for more than 2^62 values along an axis.
  explicit Hdf5Blocks(const Hdf5Item& dataset, std::size_t kept_bytes = usual_kept_bytes);

  /// Whether chunks go through filters.
  [[nodiscard]] bool packed() const noexcept { return packed_; }
  /// Sizes of a chunk along the axes; empty where there are none.
  [[nodiscard]] const std::vector<hsize_t>& chunk() const noexcept { return chunk_; }
  /// Memory that reading takes besides what is read, at most.
  [[nodiscard]] std::size_t reading_bytes() const noexcept;

  /// Values from `start` on, `count` of them along each axis, as `type` has them in memory, in C order. `to` has exactly
  /// their size. Values that were never written are the dataset's fill value, else 0. Throws InputError, naming the dataset,
  /// where they are not all in the file, and where that value is not as long as the dataset's are. One thread at a time.
  void read(hid_t type, std::span<const hsize_t> start, std::span<const hsize_t> count, std::span<std::byte> to);
  /// The same of all values.
  void read_all(hid_t type, std::span<std::byte> to);
  /// Unpacks every chunk and forgets it, so that HDF5 may unpack them itself: of types that it alone can read. Throws as read(),
  /// and for texts that were never written.
  void check_all();

 private:
  using Places = std::vector<hsize_t>;
  struct Kept {
    Places place;
    std::vector<std::byte> bytes;
  };
  struct Part;
  /// Memory for a chunk; asked for once it is known that the file may have one.
  using Room = FunctionRef<std::span<std::byte>()>;

  void find_chunks(const Hdf5Handle& creation);
  void find_filters(const Hdf5Handle& creation);
  void require_storage();
  /// The place as messages state it; an empty place is the whole dataset.
  [[nodiscard]] std::string where(const Places& place) const;
  [[noreturn]] void refuse(const Places& place, const std::string& found) const;
  /// Puts `count` values from `start` on into a block of the sizes `block`, from `in_block` on.
  void read_by_hdf5(hid_t type, std::span<const hsize_t> start, std::span<const hsize_t> count, std::span<const hsize_t> in_block,
                    std::span<const hsize_t> block, std::span<std::byte> to) const;
  void convert_part(hid_t type, const Places& place, const Part& part, std::span<const std::byte> chunk,
                    std::span<const hsize_t> count, std::span<std::byte> to);
  /// Converts values from the file's type, in place.
  void convert(hid_t type, std::size_t count, std::span<std::byte> values, const Places& place) const;
  /// The chunk at `place`, unpacked, in the file's type; null where it is missing.
  [[nodiscard]] const std::vector<std::byte>* unpacked(const Places& place);
  /// False where the chunk is missing.
  [[nodiscard]] bool unpack(const Places& place, Room room);
  [[nodiscard]] bool unpack_filtered(const Places& place, Room room);
  [[nodiscard]] std::uint64_t file_bytes() const;
  /// The value of elements that were never written, in the file's type; and as `type`.
  [[nodiscard]] const std::vector<std::byte>& fill_value(const Places& place);
  [[nodiscard]] std::vector<std::byte> fill_value_as(hid_t type, const Places& place);
  /// Whether the file has the chunk, which is not read.
  [[nodiscard]] bool is_stored(const Places& place) const;
  [[nodiscard]] bool is_missing(const Places& place) const;
  [[nodiscard]] bool is_cut(const Places& place) const;

  const Hdf5Item& item_;
  hid_t dataset_;
  std::shared_ptr<Hdf5Access> access_;
  Hdf5Handle type_;  // of the file
  std::size_t type_bytes_ = 0;
  Places shape_;
  Places chunk_;
  std::size_t chunk_values_ = 0;
  bool never_written_ = false;  // nothing of a dataset without chunks
  bool packed_ = false;
  bool by_chunks_ = false;  // read by the chunk, here
  bool cut_packed_ = true;  // also chunks that the dataset's end cuts
  std::optional<ChunkUnpacker> unpacker_;
  std::vector<std::byte> fill_;    // once it was asked for
  std::vector<std::byte> raw_;     // of a packed chunk
  std::vector<std::byte> values_;  // of a part of a chunk, while they are converted
  std::list<Kept> kept_;           // latest first
  std::size_t most_kept_ = 1;
};

}  // namespace echoform::formats
