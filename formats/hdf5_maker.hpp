// Makes the parts of an HDF5 file: groups, attributes, datasets, references.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/hdf5_driver.hpp"
#include "formats/hdf5_file.hpp"

namespace echoform::formats {

/// Why the file that is open as this descriptor cannot become that many bytes longer: the disk is full, or its size limited;
/// empty if it can, or if that is unknown. It is checked before HDF5 writes, so that the file is consistent when the disk is
/// full.
[[nodiscard]] std::optional<std::string> why_no_room(int file, std::uint64_t bytes);
/// Space for what a file holds besides samples, and for its growth meanwhile.
inline constexpr std::uint64_t room_for_the_rest = std::uint64_t{1} << 20;

/// A file that HDF5 writes, on a descriptor. A failure to write is reported here and not to HDF5, which can crash on closing
/// what did not fit; nothing more is written after it (hdf5_driver.hpp). The object is used within one Hdf5Session.
class Hdf5NewFile {
 public:
  /// How a file is made, of class H5P_FILE_ACCESS; none: as HDF5 does.
  struct Options {
    const Hdf5Handle* access_list = nullptr;
    unsigned flags = H5F_ACC_TRUNC;  ///< of H5Fcreate where these are in it, else of H5Fopen
  };

  Hdf5NewFile() = default;
  /// Creates a file on the open `descriptor`, which outlives this object, or opens the one that is there, as the flags of
  /// `options` state. `name` is for messages. Throws RuntimeFault, as all functions of this class do.
  Hdf5NewFile(int descriptor, std::string name, const Options& options);
  Hdf5NewFile(int descriptor, std::string name) : Hdf5NewFile(descriptor, std::move(name), Options{}) {}

  [[nodiscard]] const Hdf5Handle& handle() const noexcept { return file_; }
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(file_); }
  /// Brings everything to the file.
  void flush() const;
  /// The same, and closes it, and what is open of a file that was created. May be called again.
  void close();
  /// Throws where something could not be written until now.
  void require_written() const;
  /// errno of what could not be written first; 0 where all was.
  [[nodiscard]] int write_error() const noexcept { return access_ != nullptr ? access_->write_error : 0; }
  /// Nothing more is written, as if the program were killed now.
  void abandon() noexcept;

 private:
  std::string name_;
  std::shared_ptr<Hdf5Access> access_;
  Hdf5Handle file_;
};

/// Every function throws RuntimeFault, naming the file, the part and the system's reason, if HDF5 refuses. Within one
/// Hdf5Session, and with errno 0 before.
class Hdf5Maker {
 public:
  /// `name` is of the file, for messages.
  explicit Hdf5Maker(std::string name) : name_(std::move(name)) {}

  // `what` is the part, for messages.
  [[nodiscard]] Hdf5Handle made(hid_t id, std::string_view what = {}) const;
  void done(herr_t status, std::string_view what = {}) const;
  [[noreturn]] void fail(std::string_view what = {}) const;
  /// Throws where `file`, a descriptor, cannot become `bytes` longer, and what it holds besides.
  void require_room(int file, std::uint64_t bytes) const;

  /// One chunk more: the dataset grows from `before` to `after`, and the chunk at `place` is written to the disk. Where HDF5
  /// refuses, the dataset is as long as before, and it throws.
  void add_chunk(const Hdf5Handle& dataset, std::span<const hsize_t> before, std::span<const hsize_t> after,
                 std::span<const hsize_t> place, std::span<const std::byte> chunk) const;

  [[nodiscard]] Hdf5Handle group(const Hdf5Handle& parent, const std::string& name) const;

  // Attributes: a text, a list of texts, a list of numbers.
  void text(const Hdf5Handle& object, const char* name, std::string_view value) const;
  void texts(const Hdf5Handle& object, const char* name, const std::vector<std::string>& values) const;
  void numbers(const Hdf5Handle& object, const char* name, const std::vector<double>& values) const;
  /// One reference, to a group.
  void refer(const Hdf5Handle& object, const char* name, hobj_ref_t to) const;

  template <class Value>
  void dataset(const Hdf5Handle& group, const char* name, hid_t file_type, hid_t memory_type, const std::vector<hsize_t>& shape,
               const std::vector<Value>& values) const {
    write(group, name, file_type, memory_type, shape, values.data());
  }
  /// No entries yet; grows along axis 0, by chunks of `rows` entries. `shape` is that of one entry, `fill` what those hold whose
  /// chunk was never written. Axis 1 is declared without limit too, which makes HDF5 keep the chunks in a B-tree of 2 KiB nodes.
  void growing(const Hdf5Handle& group, const char* name, hid_t type, std::vector<hsize_t> shape, hsize_t rows = 1,
               std::optional<std::int64_t> fill = {}) const;

  [[nodiscard]] hobj_ref_t reference(const Hdf5Handle& group) const;

 private:
  void write(const Hdf5Handle& group, const char* name, hid_t file_type, hid_t memory_type, const std::vector<hsize_t>& shape,
             const void* values) const;

  std::string name_;
};

}  // namespace echoform::formats
