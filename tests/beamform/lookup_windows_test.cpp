// Images of white noise over sweeps of the pixels' spacing, of where they lie and of the record's ends, against plain lookups.
// The CPU picks the samples of a patch of pixels out of windows of 16, 32 or 64 in registers, a GPU those of a tile out of 64, 96
// or 192 in shared memory: which of them is long enough is reckoned from the delays of the patch or tile.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "base/errors.hpp"
#include "rays/surface_kind.hpp"
#include "stages/beamform/adaptive_beamform.hpp"
#include "stages/beamform/beamform.hpp"
#include "tests/beamform/cuda_rows.hpp"
#include "tests/beamform/signals.hpp"
#include "tests/beamform/way.hpp"
#include "tests/support/white_noise.hpp"

namespace echoform::lookup_windows {
namespace {

using Complex = std::complex<double>;
using Image = std::vector<std::complex<float>>;
using Sums = std::vector<test::PlainSum<Complex>>;

constexpr double of_l = 6320.0;
constexpr double of_t = 3130.0;
constexpr double of_water = 1480.0;
constexpr double rate = 40e6;
constexpr std::size_t elements = 5;
constexpr double stand_off = 7e-3;

/// Where the grid lies: under the elements, beside them, where waves run along x, or about them.
enum class Place : std::uint8_t { under, beside, about };

/// `spacing` samples a pixel, there and back of a longitudinal wave that runs along z or x; pixels `wide` times as far from each
/// other along x.
Grid grid_at(Place place, double spacing, double wide, std::size_t nx, std::size_t nz) {
  const double step = spacing * of_l / (2.0 * rate);
  const double x = place == Place::beside ? 4e-3 : -0.47 * wide * step * static_cast<double>(nx - 1);
  const double z = place == Place::under ? 2.03e-3 : place == Place::beside ? 0.31e-3 : 0.0;
  const auto axis = [](double first, double between, std::size_t count) {
    return Axis{Metres(first), Metres(first + between * static_cast<double>(count - 1)), count};
  };
  return {axis(x, wide * step, nx), axis(z, step, nz), {}};
}

/// Sources of the transmit side that are plane waves, where there are any.
constexpr double wave_delay = 1.3e-6;
const std::vector<double> wave_degrees{-41.0, -7.0, 0.0, 23.0};

struct Case {
  MatrixKind matrix = MatrixKind::full;
  const char* view = "LL";
  Interpolation interpolation = Interpolation::linear;
  bool weighted = false;  ///< by a Hann window over the elements
  bool waves = false;     ///< plane waves that all elements receive
  bool immersed = false;  ///< elements in water above a flat surface
  bool sparse = false;    ///< few elements fire, that all receive
  [[nodiscard]] std::string name() const {
    return fmt::format("{}{} {}{}{}", immersed ? "immersed " : "",
                       waves                        ? "waves"
                       : sparse                     ? "sparse"
                       : matrix == MatrixKind::full ? "full"
                       : matrix == MatrixKind::half ? "half"
                                                    : "half summed",
                       view, interpolation == Interpolation::nearest ? ", nearest" : "", weighted ? ", weighted" : "");
  }
};

/// Whose firings the A-scans are: of waves some elements' as well as any.
std::vector<std::uint32_t> senders_of(const Case& c) {
  if (c.sparse) return {4, 1};
  std::vector<std::uint32_t> senders;
  for (std::uint32_t k = 0; k < (c.waves ? wave_degrees.size() : elements); ++k) senders.push_back(k);
  return senders;
}

/// Of one law and grid: seconds by source and pixel, from the geometry.
struct Times {
  std::vector<double> transmit;
  std::vector<double> receive;
  double first = 1e9;  ///< least and greatest sum of two
  double last = -1e9;
};

ImagingPlan plan_of(const Case& c, const Grid& grid, std::size_t samples) {
  ImagingPlan plan = make_plan(elements, samples, grid, c.view);
  plan.interpolation = c.interpolation;
  if (c.weighted) plan.apodization.window = ApodizationWindow::hann;
  if (c.immersed) {
    for (Element& element : plan.acquisition.probe.elements) element.centre.z = Metres(-stand_off);
    Scene scene;
    scene.couplant = MetresPerSecond(of_water);
    scene.surface = make_surface({"[surface]", "plane", {{"z", 0.0}}, {}});
    plan.laws = {make_delay_law("immersion", {plan.acquisition, plan.material, c.view, scene})};
  }
  if (c.sparse) plan.acquisition.events = element_events(senders_of(c));
  if (!c.waves) return plan;
  for (const double degrees : wave_degrees) {
    const double sine = std::sin(degrees * std::numbers::pi / 180.0);
    plan.acquisition.events.push_back({PlaneWaveEvent{sine / of_l, 0.0, Seconds(wave_delay)}, {}});
  }
  plan.laws = {make_delay_law("contact", {plan.acquisition, plan.material, c.view})};
  return plan;
}

/// Least time from (x, -stand_off) through the surface z = 0 to (px, pz): where its derivative by the place of crossing, which
/// grows, is 0.
double time_through(double x, double px, double pz, double velocity) {
  double low = std::min(x, px);
  double high = std::max(x, px);
  for (int n = 0; n < 60; ++n) {
    const double at = 0.5 * (low + high);
    const double slope = (at - x) / (std::hypot(at - x, stand_off) * of_water) - (px - at) / (std::hypot(px - at, pz) * velocity);
    (slope < 0.0 ? low : high) = at;
  }
  return std::hypot(low - x, stand_off) / of_water + std::hypot(px - low, pz) / velocity;
}

Times times_of(const Case& c, const ImagingPlan& plan) {
  const std::vector<Point> points = plan.grid.points();
  const auto speed = [](char mode) { return mode == 'L' ? of_l : of_t; };
  const auto from_elements = [&](double velocity, const std::vector<std::uint32_t>& which) {
    std::vector<double> times;
    for (const std::uint32_t number : which) {
      const Element& element = plan.acquisition.probe.elements[number];
      for (const Point& p : points) {
        if (c.immersed) {
          times.push_back(time_through(element.centre.x.value, p.x.value, p.z.value, velocity));
          continue;
        }
        times.push_back(
            std::hypot((p.x - element.centre.x).value, (p.y - element.centre.y).value, (p.z - element.centre.z).value) /
            velocity);
      }
    }
    return times;
  };
  Times times;
  times.receive = from_elements(speed(c.view[1]), senders_of({}));
  if (c.waves) {
    for (const double degrees : wave_degrees) {
      const double slowness = std::sin(degrees * std::numbers::pi / 180.0) / of_l;
      const double along_z = std::sqrt(1.0 / (speed(c.view[0]) * speed(c.view[0])) - slowness * slowness);
      for (const Point& p : points) times.transmit.push_back(wave_delay + slowness * p.x.value + along_z * p.z.value);
    }
  } else {
    times.transmit = from_elements(speed(c.view[0]), senders_of(c));
  }
  const auto [first_out, last_out] = std::ranges::minmax(times.transmit);
  const auto [first_back, last_back] = std::ranges::minmax(times.receive);
  times.first = first_out + first_back;
  times.last = last_out + last_back;
  return times;
}

/// What rounding does to lookups of pixels `spacing` samples apart, `out` and `back` samples from the elements; of tiles of 32 x
/// 16 pixels, `wide` times as far from each other along x.
test::LookupError error_of(const Way& way, double spacing, double wide, double out, double back) {
  // Delays of a patch and sums of two of them are in single precision, up to about 8 samples of a pixel each.
  if (way.backend == BackendKind::cpu) return {0x1p-22 * (16.0 + 20.0 * spacing * std::max(1.0, wide)), 0x1p-22};
  if (!way.half) {
    // 15 bits of fraction, cut off, of each of two delays, that are computed by roots right to a last place or two; where a pixel
    // is much closer to the element than the middle of its tile, d0 away, squares cancel down to 2^-24 d0^2.
    double place = 2e-4;
    for (const double d : {out, back}) {
      const double d0 = d + 1.01 * spacing * std::hypot(16.0 * wide, 8.0);
      place += std::min(0x1p-12 * d0, 0x1p-24 * d0 * d0 / std::max(d, 1e-9));
    }
    return {place, 0x1p-22};
  }
  // Ten bits of fraction, rounded. Samples, slopes, the values between them, six levels of sums and two weights: each by 2^-11.
  return {0x1p-11 + 4e-4, 12.0 * 0x1p-11};
}

Input input_of(const Signals& signals, const Case& c) {
  return c.waves || c.sparse ? input_of_firings(signals, senders_of(c)) : Input(signals, c.matrix);
}

BeamformOptions options_for(const Case& c, const ImagingPlan& plan, const Input& input) {
  return c.waves ? beamform_options(plan, plan_pairs(plan), 0) : options_of(plan, input.pairs);
}

double weight_of(const Case& c, std::size_t element) {
  if (!c.weighted) return 1.0;
  return std::pow(std::sin(std::numbers::pi * (static_cast<double>(element) + 0.5) / static_cast<double>(elements)), 2);
}

template <class ErrorOf>
Sums plain_sums(const Case& c, const ImagingPlan& plan, const Times& times, const Signals& signals, const ErrorOf& error_at) {
  const std::size_t pixels = plan.grid.pixels();
  const std::vector<std::uint32_t> senders = senders_of(c);
  Sums sums(pixels);
  for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
    for (std::size_t tx = 0; tx < senders.size(); ++tx) {
      for (std::size_t rx = 0; rx < elements; ++rx) {
        const double out = times.transmit[tx * pixels + pixel];
        const double back = times.receive[rx * pixels + pixel];
        const double u = (out + back - plan.acquisition.start_time.value) * rate;
        const test::LookupError error = error_at(out * rate, back * rate);
        const double weight = (c.waves ? 1.0 : weight_of(c, senders[tx])) * weight_of(c, rx);
        const auto sample = [&](std::size_t n) { return Complex(signals.at(senders[tx], rx, n)); };
        if (c.interpolation == Interpolation::linear) {
          sums[pixel].add_linear(sample, signals.samples, u, weight, error);
        } else {
          sums[pixel].add_nearest(sample, signals.samples, u, weight, error);
        }
      }
    }
  }
  return sums;
}

std::optional<Image> image_of(const BeamformOptions& options, const Input& input, const Way& way) {
  if (way.backend == BackendKind::cuda) {
    try {
      return beamform_cuda(options, input.spec, input.data, way);
    } catch (const InputError&) {
      if (way.kind) return std::nullopt;  // of a kind that does not hold these tiles
      throw;
    }
  }
  const auto backend = make_cpu_backend(1);
  const auto queue = backend->make_queue();
  const auto stage = make_beamform_cpu(options, *backend, way.level);
  static_cast<void>(stage->prepare(input.spec));
  Image image(options.grid.pixels());
  stage->process({input.data.data()}, {image.data()}, *queue);
  queue->finish();
  return image;
}

test::Comparison<Complex> compared(const Image& image, double scale, const Sums& sums) {
  test::Comparison<Complex> comparison;
  for (std::size_t k = 0; k < sums.size(); ++k) comparison.add(Complex(image[k]) / scale, sums[k]);
  return comparison;
}

class LookupWindows : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override { ECHOFORM_REQUIRE_WAY(GetParam()); }
  [[nodiscard]] static bool on_cuda() { return GetParam().backend == BackendKind::cuda; }

  /// The ways to cut the image: the one that is chosen, and on CUDA every other one.
  [[nodiscard]] static std::vector<Way> cuts(bool all) {
    std::vector<Way> ways{GetParam()};
    if (!on_cuda() || !all) return ways;
    for (std::size_t kind = 0; kind < beamform::tile_kind_count; ++kind) {
      ways.push_back(GetParam());
      ways.back().kind = static_cast<beamform::TileKind>(kind);
    }
    return ways;
  }

  static void expect_plain_lookups(const Case& c, const Grid& grid, double spacing, double start, std::size_t samples,
                                   bool all_cuts, test::SweepReport& report) {
    ImagingPlan plan = plan_of(c, grid, samples);
    plan.acquisition.start_time = Seconds(start);
    const Signals signals = Signals::white(elements, samples, 11, c.matrix != MatrixKind::full);
    const Input input = input_of(signals, c);
    const BeamformOptions options = options_for(c, plan, input);
    const double wide = grid.x.count > 1 && grid.z.count > 1 ? grid.x.spacing() / grid.z.spacing() : 1.0;
    const Sums sums = plain_sums(c, plan, times_of(c, plan), signals, [&](double out, double back) {
      test::LookupError error = error_of(GetParam(), spacing, wide, out, back);
      // Rays are found to a picosecond each way.
      if (c.immersed) error.place += 2e-12 * rate;
      return error;
    });
    const auto scale = static_cast<double>(options.scale);
    for (const Way& way : cuts(all_cuts)) {
      const std::optional<Image> image = image_of(options, input, way);
      if (!image) continue;
      const test::Comparison<Complex> comparison = compared(*image, scale, sums);
      EXPECT_EQ(comparison.wrong(), 0U) << c.name() << ", " << spacing << " samples a pixel, " << samples << " samples from "
                                        << 1e6 * start << " us on, kind " << (way.kind ? static_cast<int>(*way.kind) : -1) << ": "
                                        << comparison.text();
      report.add(comparison.relative_error());
    }
  }

  /// A record that holds all lookups.
  static void expect_all_inside(const Case& c, const Grid& grid, double spacing, bool all_cuts, test::SweepReport& report) {
    const Times times = times_of(c, plan_of(c, grid, 2));
    const double start = times.first - 2.4 / rate;
    expect_plain_lookups(c, grid, spacing, start, static_cast<std::size_t>((times.last - start) * rate) + 4, all_cuts, report);
  }
};

const std::vector<Case> cases{{MatrixKind::full, "LL"},
                              {MatrixKind::half, "LT"},
                              {MatrixKind::half_summed, "TT"},
                              {MatrixKind::full, "TL", Interpolation::nearest},
                              {MatrixKind::half_summed, "LL", Interpolation::nearest},
                              {MatrixKind::half, "LL", Interpolation::linear, true},
                              {MatrixKind::full, "LT", Interpolation::nearest, true},
                              {MatrixKind::full, "LL", Interpolation::linear, false, true},
                              {MatrixKind::full, "TL", Interpolation::nearest, false, true},
                              {MatrixKind::full, "LT", Interpolation::linear, false, false, false, true}};

/// From 0.05 samples a pixel to where windows of 64 samples hold no patch any more; on a GPU, whose tiles are larger, to where
/// those of 192 do not.
std::vector<double> swept_spacings(const Way& way) {
  if (way.backend == BackendKind::cpu) return test::spacings_of({{0.05, 8.0, 0.1}, {8.05, 26.0, 0.3}});
  return test::spacings_of({{0.05, 2.0, 0.15}, {2.05, 8.0, 0.35}, {8.4, 14.0, 1.4}});
}

TEST_P(LookupWindows, HoldSamplesAtEverySpacing) {
  test::SweepReport report;
  // Whole and partial patches of 4 x 4 and 4 x 2 pixels, and tiles of 32 x 16 and 16 x 16.
  const std::size_t nx = on_cuda() ? 45 : 22;
  const std::size_t nz = on_cuda() ? 37 : 19;
  std::size_t turn = 0;
  for (const double spacing : swept_spacings(GetParam())) {
    for (const Case& c : cases) {
      // In turn under the elements, beside and about them, so that every case meets each at spacings beside each other.
      const auto place = static_cast<Place>(turn++ % 3);
      expect_all_inside(c, grid_at(place, spacing, 1.0, nx, nz), spacing, turn % 4 == 0, report);
    }
    ++turn;
  }
}

TEST_P(LookupWindows, HoldSamplesOfPixelsOfAnyShape) {
  test::SweepReport report;
  for (const double spacing : {0.3, 0.8, 1.7, 2.6, 3.3, 4.4, 5.9, 7.7}) {
    for (const double wide : {0.25, 2.0, 5.0}) {
      for (const Place place : {Place::under, Place::beside, Place::about}) {
        for (const Case& c : {cases[0], cases[1], cases[4], cases[7], cases[9]}) {
          expect_all_inside(c, grid_at(place, spacing, wide, 13, 9), spacing, false, report);
        }
      }
    }
  }
}

/// Delays of rays, which a GPU finds tile by tile.
TEST_P(LookupWindows, HoldSamplesOfRays) {
  test::SweepReport report;
  for (const double spacing : test::spacings_of({{0.1, 4.0, 0.39}, {4.5, 14.0, 1.9}})) {
    for (const Case& c : {Case{.matrix = MatrixKind::full, .view = "LT", .immersed = true},
                          Case{.matrix = MatrixKind::half_summed, .view = "LL", .immersed = true}}) {
      for (const Place place : {Place::under, Place::beside}) {
        expect_all_inside(c, grid_at(place, spacing, 1.0, 19, 17), spacing, false, report);
      }
    }
  }
}

/// One row, one column, one pixel, a patch or tile and one more.
TEST_P(LookupWindows, ServeImagesOfOddSizes) {
  test::SweepReport report;
  for (const auto& [nx, nz] : {std::pair<std::size_t, std::size_t>{1, 1}, {1, 40}, {70, 1}, {4, 4}, {5, 3}, {17, 33}, {33, 17}}) {
    for (const double spacing : {0.4, 2.3, 4.1, 7.3}) {
      for (const Case& c : {cases[0], cases[1], cases[4], cases[8]}) {
        expect_all_inside(c, grid_at(Place::under, spacing, 1.0, nx, nz), spacing, true, report);
      }
    }
  }
}

TEST_P(LookupWindows, EndWithTheRecord) {
  test::SweepReport report;
  for (const double spacing : {0.2, 0.9, 2.1, 3.1, 4.3, 7.0, 11.0}) {
    for (const Place place : {Place::under, Place::beside}) {
      const Grid grid = grid_at(place, spacing, 1.0, 19, 17);
      for (const Case& c : {cases[0], cases[1], cases[2], cases[3], cases[4], cases[5], cases[7], cases[8], cases[9]}) {
        const Times times = times_of(c, plan_of(c, grid, 2));
        const double whole = (times.last - times.first) * rate;
        // Records that begin and end among the lookups, shorter and longer than windows, some from before the emission on.
        for (const std::size_t samples : {2, 17, 33, 64, 131}) {
          for (const double part : {0.2, 0.6}) {
            const double start = times.first + (part * whole - 0.5 * static_cast<double>(samples) + 0.3) / rate;
            expect_plain_lookups(c, grid, spacing, start, samples, false, report);
          }
        }
        expect_plain_lookups(c, grid, spacing, times.first - 30.4 / rate, 64, false, report);
        expect_plain_lookups(c, grid, spacing, times.last - 8.6 / rate, 90, false, report);
        expect_plain_lookups(c, grid, spacing, times.last + 3.2 / rate, 90, false, report);
        expect_plain_lookups(c, grid, spacing, -7.3 / rate, static_cast<std::size_t>(0.5 * times.last * rate) + 40, false,
                             report);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, LookupWindows, testing::ValuesIn(all_ways()), [](const auto& way) { return way.param.name(); });

/// Images with adaptive weights look their samples up one by one, whichever pixels lie beside each other.
class AdaptiveLookups : public testing::TestWithParam<BackendKind> {
 protected:
  void SetUp() override {
    if (GetParam() == BackendKind::cuda) ECHOFORM_REQUIRE_GPU();
  }

  /// With weights that leave the plain sum: a coherence factor of one receiver is 1, and so is a phase coherence factor that
  /// minds no phase.
  static void expect_plain_lookups(Case c, double spacing, bool one_receiver, double part, test::SweepReport& report) {
    c.weighted = false;
    const Grid grid = grid_at(Place::under, spacing, 1.0, 5, 67);
    const Times times = times_of(c, plan_of(c, grid, 2));
    const double start = part > 0.0 ? times.first + part * (times.last - times.first) : times.first - 2.4 / rate;
    const auto samples = static_cast<std::size_t>((times.last - start) * rate * (part > 0.0 ? 0.6 : 1.0)) + 4;
    ImagingPlan plan = plan_of(c, grid, samples);
    plan.acquisition.start_time = Seconds(start);
    Signals signals = Signals::white(elements, samples, 13, c.matrix != MatrixKind::full);
    if (one_receiver) {
      for (std::size_t element = 0; element < elements; ++element) plan.acquisition.probe.elements[element].dead = element != 3;
      for (std::size_t tx = 0; tx < elements; ++tx) {
        for (std::size_t rx = 0; rx < elements; ++rx) {
          for (std::size_t n = 0; n < samples && rx != 3; ++n) signals.at(tx, rx, n) = 0.0F;
        }
      }
    }
    const Input input = input_of(signals, c);
    AdaptiveBeamformOptions options;
    options.sum = options_for(c, plan, input);
    options.adaptive.kind = one_receiver ? "coherence_factor" : "phase_coherence_factor";
    options.adaptive.sensitivity = 0.0;
    // Offsets of a column are in single precision, up to its length of 67 pixels; the factor is right to some last places.
    const test::LookupError error{0x1p-22 * (8.0 + 2.1 * 67.0 * spacing), 0x1p-20};
    const Sums sums = plain_sums(c, plan, times, signals, [&](double, double) { return error; });
    Image image(grid.pixels());
    if (GetParam() == BackendKind::cuda) {
      image = adaptive_beamform_cuda(options, input.spec, input.data);
    } else {
      const auto backend = make_cpu_backend(1);
      const auto queue = backend->make_queue();
      const auto stage = make_adaptive_beamform_cpu(options, *backend);
      static_cast<void>(stage->prepare(input.spec));
      stage->process({input.data.data()}, {image.data()}, *queue);
      queue->finish();
    }
    const test::Comparison<Complex> comparison = compared(image, static_cast<double>(options.sum.scale), sums);
    EXPECT_EQ(comparison.wrong(), 0U) << c.name() << ", " << spacing << " samples a pixel, one receiver " << one_receiver
                                      << ", from " << part << " on: " << comparison.text();
    report.add(comparison.relative_error());
  }
};
INSTANTIATE_TEST_SUITE_P(All, AdaptiveLookups, testing::Values(BackendKind::cpu, BackendKind::cuda),
                         [](const auto& of) { return of.param == BackendKind::cuda ? "cuda" : "cpu"; });

TEST_P(AdaptiveLookups, ArePlainOnesAtEverySpacing) {
  test::SweepReport report;
  for (const double spacing : test::spacings_of({{0.05, 8.0, 0.53}, {9.0, 21.0, 4.0}})) {
    for (const Case& c : {cases[0], cases[1], cases[7]}) {
      expect_plain_lookups(c, spacing, false, 0.0, report);
      // On CUDA this one is imaged on the linear path alone, as all others (adaptive_beamform_cuda()).
      for (const double part : {0.0, 0.3}) {
        if (c.matrix == MatrixKind::full) expect_plain_lookups(c, spacing, true, part, report);
      }
    }
  }
}

}  // namespace
}  // namespace echoform::lookup_windows
