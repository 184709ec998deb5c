// BRAIN `exp_data`: the structure in which Full Matrix Capture data is commonly exchanged as MATLAB files.
//   time_data [N_T x N_A] column-major, tx, rx [N_A] from 1, time [N_T] s, array.{el_xc, el_yc, el_zc} centres,
//   array.{el_x1, el_y1, el_x2, el_y2} edge points, array.centre_freq, ph_velocity or material.vel_spherical_harmonic_coeffs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <utility>

#include "base/errors.hpp"
#include "formats/brain_fields.hpp"
#include "formats/hdf5_file.hpp"
#include "formats/mat5_check.hpp"
#include "formats/pair_order.hpp"
#include "formats/recording_formats.hpp"

namespace echoform::formats {
namespace {

/// Number of samples of an HDF5 file that are read on trial. If the file has more, the A-scans read are spread evenly.
constexpr std::size_t brain_trial_samples = std::size_t{1} << 26;

std::vector<std::size_t> element_numbers(const BrainFields& data, const std::string& name, std::size_t count,
                                         std::size_t elements, const std::string& file) {
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
    throw InputError(data.where(name), fmt::format("{} values", indices.size()),
                     fmt::format("{}, one for each column of time_data", count));
  }
  return indices;
}

class BrainRecording final : public Recording {
 public:
  BrainRecording(const InputFile& input, const RecordingOptions& options, BrainFile opened)
      : Recording(input.path(), "BRAIN .mat"), samples_(std::move(opened.samples)) {
    const std::string file = input.name();
    const BrainFields& data = *opened.data;
    const auto [samples, a_scans] = data.shape("time_data");
    acquisition_.samples = samples;
    read_probe(*data.structure("array"));
    read_time(data);
    read_material(data);
    transmit_ = element_numbers(data, "tx", a_scans, acquisition_.elements(), file);
    receive_ = element_numbers(data, "rx", a_scans, acquisition_.elements(), file);
    order_ = order_pairs(transmit_, receive_, acquisition_.elements(), file + ": exp_data.tx, exp_data.rx");
    acquisition_.matrix = order_.matrix;
    acquisition_.events = order_.events;
    if (const auto note = order_.note(); !note.empty()) notes_.push_back(note);
    validate(acquisition_, options.limits, file);
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
  [[nodiscard]] std::size_t reading_bytes() const override { return samples_->most_bytes(acquisition_.samples); }

 private:
  void read_probe(const BrainFields& array) {
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

  void read_time(const BrainFields& data) {
    const auto time = data.finite("time");
    const std::string where = data.where("time");
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

  void read_material(const BrainFields& data) {
    if (data.has("ph_velocity")) {
      material_.longitudinal_velocity = MetresPerSecond(data.finite("ph_velocity").front());
    } else if (data.has("material")) {
      const auto material = data.structure("material");
      const std::string name = "vel_spherical_harmonic_coeffs";
      if (!material->has(name)) return;
      const auto coefficients = material->finite(name);
      material_.longitudinal_velocity = MetresPerSecond(coefficients.front());
      if (coefficients.size() > 1) notes_.emplace_back("the material is anisotropic: its mean velocity is taken");
    }
    if (material_.longitudinal_velocity.value < 0.0) {
      throw InputError(path_.string() + ": velocity", fmt::format("{} m/s", material_.longitudinal_velocity.value),
                       "a positive velocity");
    }
  }

  /// Reads in the file's order, since going back in compressed data costs inflating it again. It reads one A-scan at a time,
  /// since the numbers of the file may take twice the memory.
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
  std::unique_ptr<BrainSamples> samples_;
};

void require_first_sequence(const InputFile& file, const RecordingOptions& options) {
  if (options.sequence != 0)
    throw InputError(file.name(), fmt::format("a request for sequence {}", options.sequence), "0, the only one");
}

/// Does what may crash HDF5: opens the file and reads A-scans from all parts of it.
void read_brain_on_trial(const InputFile& file, const RecordingOptions& options) {
  require_first_sequence(file, options);
  BrainRecording recording(file, options, open_brain_hdf5(file));
  const Acquisition& acquisition = recording.acquisition();
  const std::size_t step = acquisition.a_scans() * acquisition.samples / brain_trial_samples + 1;
  std::vector<float> a_scan(acquisition.samples);
  for (std::size_t row = 0; row < acquisition.a_scans(); row += step) {
    const RowRange one{row, 1};
    try {
      recording.read_rows(0, {&one, 1}, std::as_writable_bytes(std::span(a_scan)));
    } catch (const InputError&) {
      continue;  // reported when it is read: a sample that is not finite does not prevent reading the others
    }
  }
}

std::unique_ptr<Recording> open_brain_mat(const InputFile& file, const RecordingOptions& options) {
  const bool hdf5 = is_hdf5_file(file);
  auto time_data = hdf5 ? std::nullopt
                        : check_mat5(file, "exp_data", "time_data", {.array_values = options.limits.frame_bytes / sizeof(float)});
  require_first_sequence(file, options);
  return std::make_unique<BrainRecording>(file, options,
                                          hdf5 ? open_brain_hdf5(file) : open_brain_mat5(file, std::move(time_data)));
}

}  // namespace

std::vector<double> BrainFields::finite(const std::string& name, std::size_t count) const {
  auto values = numbers(name);
  if (count != 0 && values.size() != count)
    throw InputError(where(name), fmt::format("{} values", values.size()), fmt::format("{}", count));
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!std::isfinite(values[k]))
      throw InputError(where(name), fmt::format("{} as value {}", values[k], k + 1), "finite numbers");
  }
  return values;
}

constinit const RecordingFormat brain_mat_format{
    .name = "BRAIN exp_data",
    .meaning = "a structure in MATLAB files of version 5 to 7.3",
    .extensions = {".mat"},
    .packages = "libhdf5-dev libmatio-dev zlib1g-dev",
    .page = "command-line.md#record-capture-inspect-convert",
    .fuzzers = {"brain_mat"},
    .open = open_brain_mat,
    .mark = Hdf5Mark{"exp_data", 1, [](const Hdf5Handle& file) { return H5Lexists(file.id(), "exp_data", H5P_DEFAULT) > 0; }},
    .try_reading = read_brain_on_trial,
    .writer = &brain_mat_frames,
};

}  // namespace echoform::formats
