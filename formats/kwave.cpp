// Reads optoacoustic recordings that k-Wave simulates: the HDF5 files that its C++ and CUDA programs write with
// --copy_sensor_mask. The grid's numbers (Nx, Ny, Nz, Nt, dt, dx, dy, dz, c_ref) and the sensors' places are items of the file's
// root. So is the pressure p, [1, time, sensor] in C order: Parameters::saveScalarsToOutputFile of
// https://github.com/klepo/k-Wave-Fluid-CUDA.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/directions.hpp"
#include "base/errors.hpp"
#include "formats/hdf5_blocks.hpp"
#include "formats/hdf5_file.hpp"
#include "formats/recording_formats.hpp"

namespace echoform::formats {
namespace {

constexpr const char* kwave_pressure = "p";
constexpr const char* kwave_mask = "sensor_mask_index";
// Maximum number of points along each axis: indices stay whole in double precision.
constexpr std::size_t longest_kwave_side = 65536;
constexpr std::size_t most_steps = std::size_t{1} << 30;
constexpr double farthest_of_grid = 1e3;                     // metres
constexpr double most_velocity = 1e6;                        // m/s
constexpr std::size_t strip_samples = std::size_t{1} << 22;  // samples read at once, as they lie in the file
constexpr std::size_t trial_strips = 16;
// A sensor that is closer to the middle of all sensors has no direction to it.
constexpr double least_distance = 1e-9;

/// The simulated grid. Its axes x, y, z are those of k-Wave.
struct KWaveGrid {
  std::array<std::size_t, 3> points{};
  std::array<double, 3> steps{};  // metres

  /// Coordinate of a point along an axis: k-Wave's own has its 0 at point N / 2, rounded down.
  [[nodiscard]] double place(std::size_t axis, std::size_t point) const {
    return (static_cast<double>(point) - static_cast<double>(points[axis] / 2)) * steps[axis];
  }
  [[nodiscard]] double middle(std::size_t axis) const { return 0.5 * (place(axis, 0) + place(axis, points[axis] - 1)); }
};

/// k-Wave's first axis is depth: its x is z here, its y is x, and its z is y. A simulation in a plane does not have k-Wave's z.
Direction turned(const std::array<double, 3>& of_kwave) {
  return {of_kwave[1], of_kwave[2], of_kwave[0]};
}

class KWaveRecording final : public Recording {
 public:
  KWaveRecording(const InputFile& input, const RecordingOptions& options)
      : Recording(input.path(), "k-Wave HDF5"), root_(input.name() + ": ") {
    const Hdf5Session session;
    if (options.sequence != 0)
      throw InputError(input.name(), fmt::format("a request for sequence {}", options.sequence), "0, the only one");
    file_ = open_hdf5(input);
    require_output();
    data_ = item(kwave_pressure);
    const KWaveGrid grid = read_grid();
    read_shape(options);
    read_sensors(grid, options.detectors);
    read_times();
    read_velocity(grid);
    acquisition_.encoding = SampleEncoding::float32;
    acquisition_.events = {{PassiveEvent{}, {}}};
    AcquisitionLimits limits = options.limits;
    limits.elements = options.detectors;
    blocks_.emplace(*data_);
    validate(acquisition_, limits, input.name());
  }

  [[nodiscard]] std::size_t frames() const noexcept override { return 1; }

  void read_frame(std::size_t frame, std::span<float> samples) override {
    check_request(frame, samples.size());
    const std::size_t sensors = acquisition_.elements();
    const std::size_t at_once = strip_steps();
    std::vector<float> strip(at_once * sensors);
    for (std::size_t first = 0; first < acquisition_.samples; first += at_once) {
      const std::size_t count = std::min(at_once, acquisition_.samples - first);
      read_strip(first, count, strip);
      for (std::size_t sensor = 0; sensor < sensors; ++sensor) {
        for (std::size_t n = 0; n < count; ++n) samples[sensor * acquisition_.samples + first + n] = strip[n * sensors + sensor];
      }
    }
    for (std::size_t k = 0; k < samples.size(); ++k) {
      if (std::isfinite(samples[k])) continue;
      throw InputError(fmt::format("{}, A-scan {}", data_->where(), k / acquisition_.samples),
                       fmt::format("{} as sample {}", samples[k], k % acquisition_.samples), "finite numbers");
    }
  }
  [[nodiscard]] std::size_t reading_bytes() const override {
    return blocks_->reading_bytes() + acquisition_.frame_bytes() + strip_steps() * acquisition_.elements() * sizeof(float);
  }

  /// Reads samples from all parts of the file; errors appear when they are read.
  void try_reading() {
    const std::size_t at_once = strip_steps();
    const std::size_t strips = (acquisition_.samples + at_once - 1) / at_once;
    std::vector<float> strip(at_once * acquisition_.elements());
    for (std::size_t k = 0; k < strips; k += strips / trial_strips + 1) {
      try {
        read_strip(k * at_once, std::min(at_once, acquisition_.samples - k * at_once), strip);
      } catch (const InputError&) {  // damage is reported when the data is asked for
      }
    }
  }

 private:
  void require_output() const {
    const auto type = Hdf5Item::find(file_, "file_type", root_);
    if (type && type->text() != "output")
      throw InputError(type->where(), fmt::format("\"{}\"", type->text()), "\"output\": what a simulation recorded");
  }

  [[nodiscard]] Hdf5Item item(const char* name) const {
    auto found = Hdf5Item::find(file_, name, root_);
    if (!found) throw InputError(path_.string(), fmt::format("no {}", name), "what k-Wave's programs write");
    return std::move(*found);
  }
  [[nodiscard]] double number(const char* name) const {
    const Hdf5Item stated = item(name);
    if (stated.points() != 1) throw InputError(stated.where(), fmt::format("shape {}", shape_text(stated.shape())), "one value");
    return stated.numbers().front();
  }
  [[nodiscard]] std::size_t count(const char* name, std::size_t most) const {
    const double value = number(name);
    if (!(value >= 1.0 && value <= static_cast<double>(most)) || value != std::floor(value))
      throw InputError(root_ + "/" + name, fmt::format("{:g}", value), fmt::format("a whole number from 1 to {}", most));
    return static_cast<std::size_t>(value);
  }
  [[nodiscard]] double positive(const char* name) const {
    const double value = number(name);
    if (!(value > 0.0)) throw InputError(root_ + "/" + name, fmt::format("{:g}", value), "more than 0");
    return value;
  }

  [[nodiscard]] KWaveGrid read_grid() const {
    constexpr std::array counts{"Nx", "Ny", "Nz"};
    constexpr std::array steps{"dx", "dy", "dz"};
    KWaveGrid grid;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      grid.points[axis] = count(counts[axis], longest_kwave_side);
      // A simulation in a plane states no dz.
      grid.steps[axis] = grid.points[axis] == 1 && !Hdf5Item::exists(file_, steps[axis]) ? 0.0 : positive(steps[axis]);
      if (const double side = static_cast<double>(grid.points[axis]) * grid.steps[axis]; side > farthest_of_grid) {
        throw InputError(root_ + "/" + steps[axis], fmt::format("a grid of {:.3g} m", side),
                         fmt::format("metres, up to {:g}", farthest_of_grid));
      }
    }
    return grid;
  }

  void read_shape(const RecordingOptions& options) {
    if (data_->is_attribute() || data_->type_class() != Hdf5Class::number)
      throw InputError(data_->where(), "something else than numbers", "pressures");
    const std::vector<std::size_t>& shape = data_->shape();
    if (shape.size() != 3 || shape[0] != 1 || shape[1] == 0 || shape[2] == 0) {
      throw InputError(data_->where(), fmt::format("shape {}", shape_text(shape)), "1 x times x sensors");
    }
    if (shape[2] > options.detectors) {
      throw InputError(data_->where(), fmt::format("{} sensors", shape[2]), fmt::format("at most {}", options.detectors));
    }
    acquisition_.samples = shape[1];
  }

  /// Reads the sensors' places from the indices of the mask, and sets the direction that each sensor faces.
  void read_sensors(const KWaveGrid& grid, std::size_t most) {
    if (Hdf5Item::exists(file_, "sensor_mask_type") && number("sensor_mask_type") != 0.0) {
      throw InputError(root_ + "/sensor_mask_type", "a mask of cuboids",
                       "0, a mask of grid points (k-Wave writes cuboids as groups of their own)");
    }
    const auto mask = Hdf5Item::find(file_, kwave_mask, root_);
    if (!mask) {
      throw InputError(path_.string(), fmt::format("no {}", kwave_mask),
                       "where the sensors are: run k-Wave's program with --copy_sensor_mask");
    }
    const std::size_t sensors = data_->shape()[2];
    if (mask->points() != sensors || sensors > most) {
      throw InputError(mask->where(), fmt::format("{} sensors", mask->points()),
                       fmt::format("{}, as the last axis of {}", sensors, kwave_pressure));
    }
    const std::size_t all = grid.points[0] * grid.points[1] * grid.points[2];
    std::vector<std::array<std::size_t, 3>> points;  // indices in the grid
    points.reserve(sensors);
    // Indices count from 1, x fastest.
    for (const std::size_t index : mask->indices(1, all)) {
      points.push_back(
          {index % grid.points[0], index / grid.points[0] % grid.points[1], index / (grid.points[0] * grid.points[1])});
    }
    const std::optional<Direction> common = common_normal(grid, points);
    std::array<double, 3> middle{};
    for (const auto& point : points) {
      for (std::size_t axis = 0; axis < 3; ++axis) middle[axis] += grid.place(axis, point[axis]) / static_cast<double>(sensors);
    }
    for (const auto& point : points) {
      std::array<double, 3> centre{};
      std::array<double, 3> inward{};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        centre[axis] = grid.place(axis, point[axis]);
        inward[axis] = middle[axis] - centre[axis];
      }
      Element element;
      const Direction place = turned(centre);
      element.centre = {Metres(place.x), Metres(place.y), Metres(place.z)};
      const Direction towards = turned(inward);
      element.normal = common ? *common : length(towards) > least_distance ? unit(towards) : Direction{};
      acquisition_.probe.elements.push_back(element);
    }
    notes_.emplace_back(common ? "sensors of a line or plane face the middle of the grid" : "sensors face the middle of all");
  }

  /// The normal of sensors that stand on a line or in a plane along the grid's axes, away from the grid's middle. It is across
  /// that line or plane, towards the middle. An axis along which the middle is level with the sensors states nothing about where
  /// they face, as for a ring in its own plane or a line in a third dimension.
  static std::optional<Direction> common_normal(const KWaveGrid& grid, const std::vector<std::array<std::size_t, 3>>& points) {
    std::array<double, 3> normal{};
    bool beside = false;
    bool extended = false;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (grid.points[axis] == 1) continue;
      const bool shared = std::ranges::all_of(points, [&](const auto& point) { return point[axis] == points.front()[axis]; });
      if (!shared) {
        extended = true;
        continue;
      }
      const double way = grid.middle(axis) - grid.place(axis, points.front()[axis]);
      if (std::abs(way) <= grid.steps[axis]) continue;
      normal[axis] = way;
      beside = true;
    }
    if (!beside || !extended) return std::nullopt;
    return unit(turned(normal));
  }

  void read_times() {
    const double step = positive("dt");
    acquisition_.sample_rate = Hertz(1.0 / step);
    const std::size_t steps = count("Nt", most_steps);
    if (acquisition_.samples > steps) {
      throw InputError(data_->where(), fmt::format("{} times", acquisition_.samples), fmt::format("at most Nt = {}", steps));
    }
    // Recording ends with the simulation. It begins with the first step unless -s states a later one.
    acquisition_.start_time = Seconds(static_cast<double>(steps - acquisition_.samples) * step);
  }

  void read_velocity(const KWaveGrid& grid) {
    const bool stated = Hdf5Item::exists(file_, "c0");
    if (!stated && !Hdf5Item::exists(file_, "c_ref")) return;
    const Hdf5Item velocities = item(stated ? "c0" : "c_ref");
    if (velocities.points() > std::max<std::size_t>(1, grid.points[0] * grid.points[1] * grid.points[2])) {
      throw InputError(velocities.where(), fmt::format("shape {}", shape_text(velocities.shape())),
                       "one value, or one for each grid point");
    }
    const std::vector<double> values = velocities.numbers();
    if (values.empty() || !(std::ranges::min(values) > 0.0) || std::ranges::max(values) > most_velocity)
      throw InputError(velocities.where(), "no velocity", fmt::format("more than 0 m/s, at most {:g}", most_velocity));
    material_.longitudinal_velocity =
        MetresPerSecond(std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()));
    if (values.size() > 1) {
      notes_.push_back(fmt::format("a map of velocities from {:g} to {:g} m/s: its mean is taken", std::ranges::min(values),
                                   std::ranges::max(values)));
    }
    if (!stated) notes_.emplace_back("the velocity is c_ref, the greatest of the medium");
  }

  /// Number of time steps in a strip.
  [[nodiscard]] std::size_t strip_steps() const {
    return std::clamp<std::size_t>(strip_samples / acquisition_.elements(), 1, acquisition_.samples);
  }

  void read_strip(std::size_t first, std::size_t steps, std::span<float> to) {
    const std::array<hsize_t, 3> start{0, first, 0};
    const std::array<hsize_t, 3> block{1, steps, acquisition_.elements()};
    blocks_->read(H5T_NATIVE_FLOAT, start, block, std::as_writable_bytes(to.first(steps * acquisition_.elements())));
  }

  std::string root_;  // for messages
  Hdf5Handle file_;
  std::optional<Hdf5Item> data_;
  std::optional<Hdf5Blocks> blocks_;
};

}  // namespace

constinit const RecordingFormat kwave_format{
    .name = "k-Wave",
    .meaning = "simulated optoacoustic time series",
    .extensions = {".hdf5", ".h5"},
    .packages = "libhdf5-dev",
    .page = "command-line.md#optoacoustic-recordings",
    .fuzzers = {"kwave_contents"},
    .open = open_by<KWaveRecording>,
    .always_hdf5 = "a k-Wave file (HDF5)",
    .mark = Hdf5Mark{"Nx with dt", 3,
                     [](const Hdf5Handle& file) {
                       return H5Lexists(file.id(), "Nx", H5P_DEFAULT) > 0 && H5Lexists(file.id(), "dt", H5P_DEFAULT) > 0;
                     }},
    .try_reading = try_by<KWaveRecording>,
};

}  // namespace echoform::formats
