// HDF5 through its C interface: owned handles, and reading of attributes and datasets whatever their exact type. No file makes
// another one be opened: what lies elsewhere, by an external link, external storage or a virtual dataset, is an InputError.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "formats/input_file.hpp"

namespace echoform::formats {

/// Holds the library for one caller and keeps it from printing its own errors. Every use of HDF5 is inside one.
class Hdf5Session {
 public:
  Hdf5Session();
  ~Hdf5Session();
  Hdf5Session(const Hdf5Session&) = delete;
  Hdf5Session& operator=(const Hdf5Session&) = delete;

 private:
  std::unique_lock<std::recursive_mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* print_data_ = nullptr;
};

/// Move-only owner of any HDF5 identifier; false if it is none.
class Hdf5Handle {
 public:
  Hdf5Handle() = default;
  explicit Hdf5Handle(hid_t id) : id_(id) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept;
  ~Hdf5Handle();
  [[nodiscard]] hid_t id() const { return id_; }
  [[nodiscard]] explicit operator bool() const { return id_ >= 0; }

 private:
  hid_t id_ = -1;
};

enum class Hdf5Class : unsigned char { number, text, reference, other };

/// An attribute or dataset found by name in a group.
class Hdf5Item {
 public:
  /// Bytes of what describes data.
  static constexpr std::size_t longest_text = std::size_t{1} << 20;

  /// Nothing if the group has neither an attribute nor a link of that name. `where` is "FILE: /GROUP". Throws InputError if it is
  /// no array, or lies in another file.
  static std::optional<Hdf5Item> find(const Hdf5Handle& group, const std::string& name, const std::string& where);
  /// The dataset that a reference found in `from` leads to. Throws as find, and where it leads to none.
  static Hdf5Item referred(const Hdf5Item& from, hobj_ref_t reference);
  /// As find; throws InputError if there is none.
  static Hdf5Item require(const Hdf5Handle& group, const std::string& name, const std::string& where);

  [[nodiscard]] static bool exists(const Hdf5Handle& group, const std::string& name);

  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] bool is_attribute() const { return attribute_; }
  [[nodiscard]] Hdf5Class type_class() const { return class_; }
  /// C order; empty for a scalar.
  [[nodiscard]] const std::vector<std::size_t>& shape() const { return shape_; }
  [[nodiscard]] std::size_t points() const;
  [[nodiscard]] const Hdf5Handle& handle() const { return handle_; }
  [[nodiscard]] bool is_floating() const { return floating_; }

  /// All values. Throw InputError naming the item if it is of another class, larger than any such item may be, cannot be
  /// read, or (numbers) not finite: of `numbers_or_nan` infinite.
  [[nodiscard]] std::vector<double> numbers() const;
  [[nodiscard]] std::vector<double> numbers_or_nan() const;
  /// The one value, which may be infinite.
  [[nodiscard]] double number_or_infinity() const;
  [[nodiscard]] std::vector<hobj_ref_t> references() const;
  /// Up to 64 strings, of fixed or variable length, of at most 16 KiB each.
  [[nodiscard]] std::vector<std::string> texts() const;
  /// One string, of fixed or variable length, of at most `longest` bytes.
  [[nodiscard]] std::string text(std::size_t longest = longest_text) const;

  /// Throws InputError unless the shape is `expected`; where `expected` is {1}, a scalar passes too.
  void require_shape(const std::vector<std::size_t>& expected) const;
  /// Throws InputError unless the numbers are whole and from `first` to `last`; returns them less `first`.
  [[nodiscard]] std::vector<std::size_t> indices(std::size_t first, std::size_t last) const;
  /// The same for tables that grow with a recording: of the first `rows` along axis 0, some at a time. `use` gets the number of
  /// the piece's first row and the piece's values less `first`.
  using IndexPiece = std::function<void(std::size_t row, std::span<const std::size_t> values)>;
  void for_indices(std::size_t first, std::size_t last, std::size_t rows, const IndexPiece& use) const;

 private:
  [[nodiscard]] std::vector<double> read_numbers() const;
  [[nodiscard]] std::vector<std::string> read_texts(std::size_t longest) const;
  /// All of it, as `type` has it in memory.
  void read(hid_t type, std::span<std::byte> to) const;
  /// `values` are those from the number `at` on.
  [[nodiscard]] std::vector<std::size_t> as_indices(std::span<const double> values, std::size_t at, std::size_t first,
                                                    std::size_t last) const;

  /// What the type and space of the open handle say.
  void describe();

  Hdf5Handle handle_;
  bool attribute_ = false;
  bool floating_ = false;
  Hdf5Class class_ = Hdf5Class::other;
  std::vector<std::size_t> shape_;
  std::string where_;
};

/// "2 x 64 x 2000"; "scalar".
[[nodiscard]] std::string shape_text(const std::vector<std::size_t>& shape);

/// Opens a file for reading, also one that is being written in SWMR mode or whose writer was killed. Throws InputError if HDF5
/// cannot. HDF5 keeps no chunks: it goes by the sizes that a file states for them, and hands on the memory behind them.
[[nodiscard]] Hdf5Handle open_hdf5(const InputFile& input);
/// Whether an open file's writer has not closed it: what it holds may still grow, or end in the middle of something.
[[nodiscard]] bool is_unfinished(const Hdf5Handle& file);

/// The group that a reference found in `from` points at. Throws InputError if it points at nothing or at something else.
[[nodiscard]] Hdf5Handle open_reference(const Hdf5Item& from, hobj_ref_t reference);

/// The group of that name in another; false where there is something else, or a link. Nothing is opened that lies in another
/// file.
[[nodiscard]] Hdf5Handle open_own_group(const Hdf5Handle& parent, const std::string& name);

/// Full name of an open object, for messages. HDF5 searches the file for that of one that a reference opened.
[[nodiscard]] std::string hdf5_name(const Hdf5Handle& object);

/// read(name), which may throw InputError: `name` is the object's only where it does, and searched for then alone.
template <class Read>
auto read_with_name(const Hdf5Handle& object, const Read& read) {
  try {
    return read(std::string());
  } catch (const InputError&) {
    return read(hdf5_name(object));
  }
}

}  // namespace echoform::formats
