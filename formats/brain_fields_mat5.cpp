// exp_data of MATLAB files of version 5 and 7.
#include <fmt/format.h>
#include <matio.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/errors.hpp"
#include "formats/brain_fields.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform::formats {
namespace {

struct MatFileCloser {
  void operator()(mat_t* file) const { Mat_Close(file); }
};
struct VariableFree {
  void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};
using MatFile = std::unique_ptr<mat_t, MatFileCloser>;
using Variable = std::unique_ptr<matvar_t, VariableFree>;

void be_silent(int, char*) {}

template <class Value, class T>
void convert(const matvar_t& variable, std::size_t first, std::span<Value> values) {
  const auto* data = static_cast<const T*>(variable.data) + first;
  std::transform(data, data + values.size(), values.begin(), [](T value) { return static_cast<Value>(value); });
}

/// Fields that matio reads.
class Mat5Fields final : public BrainFields {
 public:
  Mat5Fields(std::string file, std::string path, matvar_t* structure)
      : BrainFields(std::move(file), std::move(path)), structure_(structure) {
    if (structure_ == nullptr || structure_->class_type != MAT_C_STRUCT || structure_->rank != 2 || structure_->dims[0] != 1 ||
        structure_->dims[1] != 1 || structure_->data == nullptr) {
      throw InputError(place(), "something else", "one structure");
    }
  }

  /// Reads all fields but one, whatever they hold.
  void load_all_but(mat_t* file, std::string_view name) {
    const auto count = static_cast<std::size_t>(Mat_VarGetNumberOfFields(structure_));
    char* const* const names = Mat_VarGetStructFieldnames(structure_);
    for (std::size_t k = 0; k < count; ++k) {
      matvar_t* const held = Mat_VarGetStructFieldByIndex(structure_, k, 0);
      if (held == nullptr || name == names[k]) continue;
      if (Mat_VarReadDataAll(file, held) != 0)
        throw InputError(place(), fmt::format("a field \"{}\" that matio cannot read", printable(names[k])),
                         "fields that it can");
    }
  }

  [[nodiscard]] bool has(const std::string& name) const override { return field(name) != nullptr; }
  [[nodiscard]] std::unique_ptr<const BrainFields> structure(const std::string& name) const override {
    return std::make_unique<const Mat5Fields>(file_, full(name), require(name));
  }

  [[nodiscard]] std::vector<double> numbers(const std::string& name) const override {
    std::vector<double> values(count(name));
    numbers(name, 0, std::span(values));
    return values;
  }

  /// Reads values.size() of the field's numbers from `first` on; the caller makes sure that the field has them.
  template <class Value>
  void numbers(const std::string& name, std::size_t first, std::span<Value> values) const {
    const matvar_t& variable = *require(name);
    switch (variable.class_type) {
      case MAT_C_DOUBLE:
        return convert<Value, double>(variable, first, values);
      case MAT_C_SINGLE:
        return convert<Value, float>(variable, first, values);
      case MAT_C_INT8:
        return convert<Value, std::int8_t>(variable, first, values);
      case MAT_C_UINT8:
        return convert<Value, std::uint8_t>(variable, first, values);
      case MAT_C_INT16:
        return convert<Value, std::int16_t>(variable, first, values);
      case MAT_C_UINT16:
        return convert<Value, std::uint16_t>(variable, first, values);
      case MAT_C_INT32:
        return convert<Value, std::int32_t>(variable, first, values);
      case MAT_C_UINT32:
        return convert<Value, std::uint32_t>(variable, first, values);
      case MAT_C_INT64:
        return convert<Value, std::int64_t>(variable, first, values);
      case MAT_C_UINT64:
        return convert<Value, std::uint64_t>(variable, first, values);
      default:
        throw InputError(where(name), "something else than numbers", "a full numeric array");
    }
  }

  /// Number of real numbers in the field, at least one.
  [[nodiscard]] std::size_t count(const std::string& name) const {
    const std::size_t count = stated_count(name);
    if (require(name)->data == nullptr) throw InputError(where(name), "no data", "numbers");
    return count;
  }
  /// The same number for a field whose values need not have been read.
  [[nodiscard]] std::size_t stated_count(const std::string& name) const {
    const matvar_t* variable = require(name);
    const std::string at = where(name);
    std::size_t count = 1;
    for (int axis = 0; axis < variable->rank; ++axis) count *= variable->dims[axis];
    if (variable->isComplex != 0) throw InputError(at, "complex numbers", "real numbers");
    if (count == 0) throw InputError(at, "no data", "numbers");
    return count;
  }

  [[nodiscard]] std::array<std::size_t, 2> shape(const std::string& name) const override {
    const matvar_t* variable = require(name);
    if (variable->class_type < MAT_C_DOUBLE || variable->class_type > MAT_C_UINT64) {
      throw InputError(where(name), "something else than numbers", "a full numeric array");
    }
    if (variable->rank != 2) throw InputError(where(name), fmt::format("{} dimensions", variable->rank), "2");
    return {variable->dims[0], variable->dims[1]};
  }

 private:
  [[nodiscard]] matvar_t* field(const std::string& name) const {
    return Mat_VarGetStructFieldByName(structure_, name.c_str(), 0);
  }
  [[nodiscard]] matvar_t* require(const std::string& name) const {
    matvar_t* found = field(name);
    if (found == nullptr)
      throw InputError(place(), fmt::format("no field \"{}\"", name), fmt::format("the field {}", full(name)));
    return found;
  }

  matvar_t* structure_;
};

/// exp_data and the objects that matio holds for it.
class Mat5Data final : public BrainFields {
 public:
  explicit Mat5Data(const InputFile& input) : BrainFields(input.name(), "exp_data") {
    static std::once_flag silenced;
    std::call_once(silenced, [] { Mat_LogInitFunc("echoform", be_silent); });
    mat_ = MatFile(Mat_Open(input.same_file().c_str(), MAT_ACC_RDONLY));
    if (!mat_) throw InputError(file_, "a file that matio cannot open", "a .mat file of version 5 or 7");
    variable_ = Variable(Mat_VarReadInfo(mat_.get(), "exp_data"));
    if (!variable_) throw InputError(file_, "a variable exp_data that matio cannot read", "a structure exp_data");
    fields_.emplace(file_, "exp_data", variable_.get());
    // The samples may exceed the memory.
    fields_->load_all_but(mat_.get(), "time_data");
  }

  [[nodiscard]] bool has(const std::string& name) const override { return fields_->has(name); }
  [[nodiscard]] std::unique_ptr<const BrainFields> structure(const std::string& name) const override {
    return fields_->structure(name);
  }
  [[nodiscard]] std::vector<double> numbers(const std::string& name) const override { return fields_->numbers(name); }
  [[nodiscard]] std::array<std::size_t, 2> shape(const std::string& name) const override { return fields_->shape(name); }
  [[nodiscard]] std::size_t stated_count(const std::string& name) const { return fields_->stated_count(name); }

 private:
  MatFile mat_;
  Variable variable_;
  std::optional<Mat5Fields> fields_;
};

class Mat5Samples final : public BrainSamples {
 public:
  Mat5Samples(const InputFile& file, Mat5Place place) : numbers_(file, std::move(place)) {}
  void read(std::uint64_t first, std::span<float> values) override { numbers_.read(first, values); }
  [[nodiscard]] std::size_t most_bytes(std::size_t count) const override { return Mat5Numbers::most_bytes(count); }

 private:
  Mat5Numbers numbers_;
};

}  // namespace

BrainFile open_brain_mat5(const InputFile& file, std::optional<Mat5Place> time_data) {
  auto data = std::make_unique<const Mat5Data>(file);
  static_cast<void>(data->shape("time_data"));
  if (const std::size_t count = data->stated_count("time_data"); !time_data || time_data->count != count)
    throw InputError(data->where("time_data"), "no data", "numbers");
  return {std::move(data), std::make_unique<Mat5Samples>(file, std::move(*time_data))};
}

}  // namespace echoform::formats
