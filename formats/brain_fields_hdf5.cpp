// exp_data of MATLAB files of version 7.3: HDF5 behind a header of 512 bytes. A structure is a group, and each field is a dataset
// of it. The axes are reversed, so that the numbers of a column lie one after the other. MATLAB_class states the MATLAB class.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/errors.hpp"
#include "formats/brain_fields.hpp"
#include "formats/hdf5_blocks.hpp"
#include "formats/hdf5_file.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform::formats {
namespace {

/// Unpacked chunks of a column of samples are kept up to this size. Larger ones are unpacked anew for every A-scan.
constexpr std::size_t most_kept_bytes = std::size_t{1} << 28;

/// The MATLAB class of an object; empty if the file does not state it, as in files of other programs.
std::string class_of(const Hdf5Handle& object, const std::string& where) {
  if (H5Aexists(object.id(), "MATLAB_class") <= 0) return {};
  return Hdf5Item::require(object, "MATLAB_class", where).text();
}

bool is_marked(const Hdf5Handle& object, const char* mark) {
  return H5Aexists(object.id(), mark) > 0;
}

class Hdf5Fields final : public BrainFields {
 public:
  Hdf5Fields(std::string file, std::string path, const Hdf5Handle& parent, const std::string& name)
      : BrainFields(std::move(file), std::move(path)), group_(open_own_group(parent, name)) {
    const std::string stated = group_ ? class_of(group_, place()) : std::string();
    if (!group_ || is_marked(group_, "MATLAB_sparse") || (!stated.empty() && stated != "struct"))
      throw InputError(place(), "something else", "one structure");
  }

  [[nodiscard]] bool has(const std::string& name) const override {
    const Hdf5Session session;
    return H5Lexists(group_.id(), name.c_str(), H5P_DEFAULT) > 0;
  }
  [[nodiscard]] std::unique_ptr<const BrainFields> structure(const std::string& name) const override {
    const Hdf5Session session;
    require(name);
    return std::make_unique<const Hdf5Fields>(file_, full(name), group_, name);
  }
  [[nodiscard]] std::vector<double> numbers(const std::string& name) const override {
    const Hdf5Session session;
    const Hdf5Item item = array(name);
    if (item.points() == 0) throw InputError(where(name), "no data", "numbers");
    return item.numbers();
  }
  [[nodiscard]] std::array<std::size_t, 2> shape(const std::string& name) const override {
    const Hdf5Session session;
    const Hdf5Item item = array(name);
    if (item.shape().size() != 2) throw InputError(where(name), fmt::format("{} dimensions", item.shape().size()), "2");
    if (item.points() == 0) throw InputError(where(name), "no data", "numbers");
    return {item.shape()[1], item.shape()[0]};
  }

  /// An array of real numbers.
  [[nodiscard]] Hdf5Item array(const std::string& name) const {
    require(name);
    std::optional<Hdf5Item> item;
    // A group stands for a structure or a table of sparse numbers.
    if (!open_own_group(group_, name)) item = Hdf5Item::find(group_, name, file_ + ": /exp_data");
    if (!item) throw InputError(where(name), "something else than numbers", "a full numeric array");
    const std::string stated = class_of(item->handle(), where(name));
    const bool numeric =
        stated.empty() || stated == "double" || stated == "single" || stated.starts_with("int") || stated.starts_with("uint");
    const Hdf5Handle type(H5Dget_type(item->handle().id()));
    if (numeric && type && H5Tget_class(type.id()) == H5T_COMPOUND)
      throw InputError(where(name), "complex numbers", "real numbers");
    if (!numeric || item->type_class() != Hdf5Class::number)
      throw InputError(where(name), "something else than numbers", "a full numeric array");
    // Here the dataset holds the sizes of an array without numbers.
    if (is_marked(item->handle(), "MATLAB_empty")) throw InputError(where(name), "no data", "numbers");
    return std::move(*item);
  }

  [[nodiscard]] const Hdf5Handle& group() const { return group_; }

 private:
  void require(const std::string& name) const {
    if (!has(name)) throw InputError(place(), fmt::format("no field \"{}\"", name), fmt::format("the field {}", full(name)));
  }

  Hdf5Handle group_;
};

class Hdf5Samples final : public BrainSamples {
 public:
  explicit Hdf5Samples(const Hdf5Fields& data)
      : where_(data.where("time_data")), item_(data.array("time_data")), blocks_(item_, kept_bytes(item_)) {}

  void read(std::uint64_t first, std::span<float> values) override {
    // Whole columns are read: nobody asks for numbers that end in the middle of one.
    const std::size_t samples = item_.shape().back();
    const std::array<hsize_t, 2> from{first / samples, 0};
    const std::array<hsize_t, 2> count{values.size() / samples, samples};
    if (first % samples != 0 || values.size() % samples != 0) throw std::logic_error("Hdf5Samples: a part of an A-scan");
    try {
      blocks_.read(H5T_NATIVE_FLOAT, from, count, std::as_writable_bytes(values));
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}, A-scan {}: {}", where_, from[0] + 1, error.what()));
    }
  }
  [[nodiscard]] std::size_t most_bytes(std::size_t count) const override {
    // HDF5 converts a MiB at a time.
    return blocks_.reading_bytes() + count * sizeof(double) + (std::size_t{1} << 20);
  }

 private:
  /// The size of the chunks that hold one A-scan; the same chunks hold parts of the next A-scans.
  static std::size_t kept_bytes(const Hdf5Item& item) {
    const Hdf5Handle creation(H5Dget_create_plist(item.handle().id()));
    std::array<hsize_t, 2> chunk{};
    const Hdf5Handle type(H5Dget_type(item.handle().id()));
    if (!creation || !type || H5Pget_layout(creation.id()) != H5D_CHUNKED || H5Pget_chunk(creation.id(), 2, chunk.data()) != 2 ||
        chunk[1] == 0)
      return 0;
    const double across = std::ceil(static_cast<double>(item.shape().back()) / static_cast<double>(chunk[1]));
    const double bytes =
        across * static_cast<double>(chunk[0]) * static_cast<double>(chunk[1]) * static_cast<double>(H5Tget_size(type.id()));
    return bytes <= static_cast<double>(most_kept_bytes) ? static_cast<std::size_t>(bytes) : 0;
  }

  std::string where_;
  Hdf5Item item_;
  Hdf5Blocks blocks_;
};

/// Closes the file after the objects that it holds.
class Hdf5Data final : public BrainFields {
 public:
  explicit Hdf5Data(const InputFile& input) : BrainFields(input.name(), "exp_data"), file_handle_(open_hdf5(input)) {
    if (H5Lexists(file_handle_.id(), "exp_data", H5P_DEFAULT) <= 0)
      throw InputError(file_, "no variable \"exp_data\"", "a structure exp_data");
    fields_.emplace(file_, path_, file_handle_, "exp_data");
  }

  [[nodiscard]] bool has(const std::string& name) const override { return fields_->has(name); }
  [[nodiscard]] std::unique_ptr<const BrainFields> structure(const std::string& name) const override {
    return fields_->structure(name);
  }
  [[nodiscard]] std::vector<double> numbers(const std::string& name) const override { return fields_->numbers(name); }
  [[nodiscard]] std::array<std::size_t, 2> shape(const std::string& name) const override { return fields_->shape(name); }
  [[nodiscard]] const Hdf5Fields& fields() const { return *fields_; }

 private:
  Hdf5Handle file_handle_;
  std::optional<Hdf5Fields> fields_;
};

}  // namespace

BrainFile open_brain_hdf5(const InputFile& file) {
  const Hdf5Session session;
  auto data = std::make_unique<const Hdf5Data>(file);
  static_cast<void>(data->shape("time_data"));
  auto samples = std::make_unique<Hdf5Samples>(data->fields());
  return {std::move(data), std::move(samples)};
}

}  // namespace echoform::formats
