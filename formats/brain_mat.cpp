// BRAIN `exp_data`: the structure in which Full Matrix Capture data is commonly exchanged as MATLAB files.
//   time_data [N_T x N_A] column-major, tx, rx [N_A] from 1, time [N_T] s, array.{el_xc, el_yc, el_zc} centres,
//   array.{el_x1, el_y1, el_x2, el_y2} edge points, array.centre_freq, ph_velocity or material.vel_spherical_harmonic_coeffs.
#include <fmt/format.h>
#include <matio.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/errors.hpp"
#include "formats/mat5_check.hpp"
#include "formats/mat5_numbers.hpp"
#include "formats/pair_order.hpp"
#include "formats/readers.hpp"
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

/// Fields of a structure, each checked as it is asked for.
class Fields {
 public:
  Fields(std::string file, std::string path, matvar_t* structure)
      : file_(std::move(file)), path_(std::move(path)), structure_(structure) {
    if (structure_ == nullptr || structure_->class_type != MAT_C_STRUCT || structure_->rank != 2 || structure_->dims[0] != 1 ||
        structure_->dims[1] != 1 || structure_->data == nullptr) {
      throw InputError(place(), "something else", "one structure");
    }
  }

  /// Reads all fields, whatever they hold, but one.
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

  [[nodiscard]] bool has(const std::string& name) const { return field(name) != nullptr; }
  [[nodiscard]] Fields structure(const std::string& name) const { return {file_, full(name), require(name)}; }

  /// The field's numbers in the file's (column-major) order.
  [[nodiscard]] std::vector<double> numbers(const std::string& name) const {
    std::vector<double> values(count(name));
    numbers(name, 0, std::span(values));
    return values;
  }

  /// Some of them: values.size() from `first` on, which are there.
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
        throw InputError(fmt::format("{}: {}", file_, full(name)), "something else than numbers", "a full numeric array");
    }
  }

  /// How many real numbers the field has; at least one.
  [[nodiscard]] std::size_t count(const std::string& name) const {
    const std::size_t count = stated_count(name);
    if (require(name)->data == nullptr) throw InputError(fmt::format("{}: {}", file_, full(name)), "no data", "numbers");
    return count;
  }
  /// The same of a field that may not be read.
  [[nodiscard]] std::size_t stated_count(const std::string& name) const {
    const matvar_t* variable = require(name);
    const std::string where = fmt::format("{}: {}", file_, full(name));
    std::size_t count = 1;
    for (int axis = 0; axis < variable->rank; ++axis) count *= variable->dims[axis];
    if (variable->isComplex != 0) throw InputError(where, "complex numbers", "real numbers");
    if (count == 0) throw InputError(where, "no data", "numbers");
    return count;
  }

  /// Numbers that must all be finite; `count` of them unless 0.
  [[nodiscard]] std::vector<double> finite(const std::string& name, std::size_t count = 0) const {
    auto values = numbers(name);
    const std::string where = fmt::format("{}: {}", file_, full(name));
    if (count != 0 && values.size() != count)
      throw InputError(where, fmt::format("{} values", values.size()), fmt::format("{}", count));
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (!std::isfinite(values[k])) throw InputError(where, fmt::format("{} as value {}", values[k], k + 1), "finite numbers");
    }
    return values;
  }

  [[nodiscard]] std::array<std::size_t, 2> shape(const std::string& name) const {
    const matvar_t* variable = require(name);
    if (variable->class_type < MAT_C_DOUBLE || variable->class_type > MAT_C_UINT64) {
      throw InputError(fmt::format("{}: {}", file_, full(name)), "something else than numbers", "a full numeric array");
    }
    if (variable->rank != 2)
      throw InputError(fmt::format("{}: {}", file_, full(name)), fmt::format("{} dimensions", variable->rank), "2");
    return {variable->dims[0], variable->dims[1]};
  }

  [[nodiscard]] std::string full(const std::string& name) const { return path_ + "." + name; }

 private:
  [[nodiscard]] std::string place() const { return fmt::format("{}: {}", file_, path_); }
  [[nodiscard]] matvar_t* field(const std::string& name) const {
    return Mat_VarGetStructFieldByName(structure_, name.c_str(), 0);
  }
  [[nodiscard]] matvar_t* require(const std::string& name) const {
    matvar_t* found = field(name);
    if (found == nullptr)
      throw InputError(place(), fmt::format("no field \"{}\"", name), fmt::format("the field {}", full(name)));
    return found;
  }

  std::string file_;
  std::string path_;
  matvar_t* structure_;
};

std::vector<std::size_t> element_numbers(const Fields& data, const std::string& name, std::size_t count, std::size_t elements,
                                         const std::string& file) {
  std::vector<std::size_t> indices;
  indices.reserve(count);
  for (const double value : data.numbers(name)) {
    if (!(value >= 1.0 && value <= static_cast<double>(elements)) || value != std::floor(value)) {
      throw InputError(fmt::format("{}: {}, A-scan {}", file, data.full(name), indices.size() + 1),
                       fmt::format("element {}", value), fmt::format("a whole number from 1 to {}", elements));
    }
    indices.push_back(static_cast<std::size_t>(value) - 1);
  }
  if (indices.size() != count) {
    throw InputError(fmt::format("{}: {}", file, data.full(name)), fmt::format("{} values", indices.size()),
                     fmt::format("{}, one for each column of time_data", count));
  }
  return indices;
}

class BrainRecording final : public Recording {
 public:
  /// `time_data` is where the file has the samples, if it has some.
  BrainRecording(const std::filesystem::path& path, const RecordingOptions& options, std::optional<Mat5Place> time_data)
      : Recording(path, "BRAIN .mat") {
    const std::string file = path.string();
    if (options.sequence != 0)
      throw InputError(file, fmt::format("a request for sequence {}", options.sequence), "0, the only one");
    static std::once_flag silenced;
    std::call_once(silenced, [] { Mat_LogInitFunc("echoform", be_silent); });
    const MatFile mat(Mat_Open(file.c_str(), MAT_ACC_RDONLY));
    if (!mat) throw InputError(file, "a file that matio cannot open", "a .mat file of version 5 or 7");
    const Variable variable(Mat_VarReadInfo(mat.get(), "exp_data"));
    if (!variable) throw InputError(file, "a variable exp_data that matio cannot read", "a structure exp_data");
    Fields data(file, "exp_data", variable.get());
    // Samples may be more than memory holds.
    data.load_all_but(mat.get(), "time_data");
    const auto [samples, a_scans] = data.shape("time_data");
    acquisition_.samples = samples;
    read_probe(data.structure("array"));
    read_time(data, file);
    read_material(data);
    transmit_ = element_numbers(data, "tx", a_scans, acquisition_.elements(), file);
    receive_ = element_numbers(data, "rx", a_scans, acquisition_.elements(), file);
    order_ = order_pairs(transmit_, receive_, acquisition_.elements(), file + ": exp_data.tx, exp_data.rx");
    acquisition_.matrix = order_.matrix;
    acquisition_.events = order_.events;
    if (const auto note = order_.note(); !note.empty()) notes_.push_back(note);
    validate(acquisition_, options.limits, file);
    const std::size_t count = data.stated_count("time_data");  // real numbers
    if (!time_data || time_data->count != count)
      throw InputError(fmt::format("{}: {}", file, data.full("time_data")), "no data", "numbers");
    samples_.emplace(path, std::move(*time_data));
  }

  [[nodiscard]] std::size_t frames() const noexcept override { return 1; }

  void read_frame(std::size_t frame, std::span<float> samples) override {
    check_request(frame, samples.size());
    const RowRange all{0, order_.source.size()};
    read_a_scans({&all, 1}, samples.data());
  }

  void read_rows(std::size_t frame, std::span<const RowRange> rows, std::span<std::byte> bytes) override {
    check_rows(frame, rows, bytes.size());
    read_a_scans(rows, reinterpret_cast<float*>(bytes.data()));
  }
  [[nodiscard]] std::size_t reading_bytes() const override { return Mat5Numbers::most_bytes(acquisition_.samples); }

 private:
  void read_probe(const Fields& array) {
    const auto x = array.finite("el_xc");
    const auto optional = [&](const char* name) {
      return array.has(name) ? array.finite(name, x.size()) : std::vector<double>(x.size(), 0.0);
    };
    const auto y = optional("el_yc");
    const auto z = optional("el_zc");
    auto& elements = acquisition_.probe.elements;
    elements.resize(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      elements[i].centre = {Metres(x[i]), Metres(y[i]), Metres(z[i])};
      if (z[i] > 1e-6) {
        throw InputError(fmt::format("{}: {}, element {}", path_.string(), array.full("el_zc"), i + 1),
                         fmt::format("z = {} m", z[i]), "z <= 0, on or above the surface");
      }
    }
    // The two points lie on an element's edge, one along each of its axes: the farther one gives the half size.
    for (const bool along_x : {true, false}) {
      const std::array<const char*, 2> names = along_x ? std::array{"el_x1", "el_x2"} : std::array{"el_y1", "el_y2"};
      for (const char* name : names) {
        if (!array.has(name)) continue;
        const auto edge = array.finite(name, x.size());
        for (std::size_t i = 0; i < x.size(); ++i) {
          Metres& size = along_x ? elements[i].width : elements[i].length;
          size.value = std::max(size.value, 2.0 * std::abs(edge[i] - (along_x ? x[i] : y[i])));
        }
      }
    }
    if (array.has("centre_freq")) acquisition_.probe.centre_frequency = Hertz(array.finite("centre_freq").front());
  }

  void read_time(const Fields& data, const std::string& file) {
    const auto time = data.finite("time");
    const std::string where = fmt::format("{}: {}", file, data.full("time"));
    if (time.size() != acquisition_.samples) {
      throw InputError(where, fmt::format("{} times", time.size()),
                       fmt::format("{}, one for each row of time_data", acquisition_.samples));
    }
    if (time.size() < 2 || !(time.back() > time.front()))
      throw InputError(where, "times that do not increase", "at least two increasing times");
    const double step = (time.back() - time.front()) / static_cast<double>(time.size() - 1);
    for (std::size_t n = 0; n < time.size(); ++n) {
      // A hundredth of a sample: far above single-precision rounding of times, far below what an image can show.
      if (std::abs(time[n] - time.front() - static_cast<double>(n) * step) > 0.01 * step) {
        throw InputError(
            where, fmt::format("time {} off by {:.3g} samples", n + 1, (time[n] - time.front()) / step - static_cast<double>(n)),
            "times at a constant rate");
      }
    }
    acquisition_.start_time = Seconds(time.front());
    acquisition_.sample_rate = Hertz(static_cast<double>(time.size() - 1) / (time.back() - time.front()));
    acquisition_.encoding = SampleEncoding::float32;
  }

  void read_material(const Fields& data) {
    if (data.has("ph_velocity")) {
      material_.longitudinal_velocity = MetresPerSecond(data.finite("ph_velocity").front());
    } else if (data.has("material")) {
      const Fields material = data.structure("material");
      const std::string name = "vel_spherical_harmonic_coeffs";
      if (!material.has(name)) return;
      const auto coefficients = material.finite(name);
      material_.longitudinal_velocity = MetresPerSecond(coefficients.front());
      if (coefficients.size() > 1) notes_.emplace_back("the material is anisotropic: its mean velocity is taken");
    }
    if (material_.longitudinal_velocity.value < 0.0) {
      throw InputError(path_.string() + ": velocity", fmt::format("{} m/s", material_.longitudinal_velocity.value),
                       "a positive velocity");
    }
  }

  /// In the file's order, since going back in what is compressed costs inflating; one A-scan at a time, since as the file's
  /// numbers they may take twice as much.
  void read_a_scans(std::span<const RowRange> rows, float* to) {
    const std::size_t samples = acquisition_.samples;
    std::vector<std::pair<std::size_t, float*>> columns;
    for (const RowRange& range : rows) {
      for (std::size_t a = range.first; a < range.first + range.count; ++a, to += samples) {
        if (order_.source[a] == PairOrder::none) {
          std::fill_n(to, samples, 0.0F);
        } else {
          columns.emplace_back(order_.source[a], to);
        }
      }
    }
    std::ranges::sort(columns);
    for (const auto& [column, a_scan] : columns) {
      samples_->read(column * samples, {a_scan, samples});
      for (std::size_t n = 0; n < samples; ++n) {
        if (!std::isfinite(a_scan[n])) {
          throw InputError(fmt::format("{}: exp_data.time_data, A-scan {} (transmit {}, receive {}), sample {}", path_.string(),
                                       column + 1, transmit_[column] + 1, receive_[column] + 1, n + 1),
                           fmt::format("{}", a_scan[n]), "finite samples");
        }
      }
    }
  }

  std::vector<std::size_t> transmit_;  // elements, by column of time_data
  std::vector<std::size_t> receive_;
  PairOrder order_;
  std::optional<Mat5Numbers> samples_;
};

}  // namespace

std::unique_ptr<Recording> open_brain_mat(const std::filesystem::path& path, const RecordingOptions& options) {
  if (is_hdf5_file(path)) {
    throw InputError(path.string(), "a MATLAB file of version 7.3 (HDF5)", "version 5 or 7: in MATLAB, save with -v7");
  }
  auto time_data = check_mat5(path, "exp_data", "time_data", {.array_values = options.limits.frame_bytes / sizeof(float)});
  return std::make_unique<BrainRecording>(path, options, std::move(time_data));
}

}  // namespace echoform::formats
