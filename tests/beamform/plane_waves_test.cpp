// Plane waves, and waves of revolution, in contact without tables: images of every way against a direct sum in double precision,
// and the CUDA kernel's way through the pairs, windows and delays of a plan, followed on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "acquisition/pair_rows.hpp"
#include "acquisition/positions.hpp"
#include "stages/beamform/beamform.hpp"
#include "stages/beamform/tile_groups.hpp"
#include "stages/beamform/tile_math.hpp"
#include "stages/beamform/tile_plan.hpp"
#include "tests/beamform/cuda_rows.hpp"
#include "tests/beamform/direct_sum.hpp"
#include "tests/beamform/signals.hpp"
#include "tests/beamform/way.hpp"

namespace echoform::plane_waves {
namespace {

using Complex = std::complex<double>;
using Image = std::vector<std::complex<float>>;

constexpr double of_l = 6320.0;
constexpr double of_t = 3130.0;
constexpr std::size_t samples = 480;

/// Waves that an array of `receivers` elements fires and records.
struct Waves {
  const char* name;
  std::size_t receivers;
  std::vector<double> degrees{};  ///< angles of L waves
  bool slower = false;            ///< one more that propagates in T alone
  std::vector<float> weights{};
  std::vector<std::uint32_t> chosen{};
  std::size_t rows = 1;          ///< of elements, each of `receivers`
  std::vector<Point> sources{};  ///< virtual ones, in place of plane waves
  double turn = 0.0;             ///< of the probe in its plane, degrees
};

std::vector<double> fan(std::size_t waves) {
  std::vector<double> degrees;
  for (std::size_t k = 0; k < waves; ++k) {
    degrees.push_back(-24.0 + 48.0 * static_cast<double>(k) / static_cast<double>(waves - 1));
  }
  return degrees;
}

ImagingPlan plan_of(const Waves& waves, const Grid& grid, const std::string& view, double slowness_y = 0.0) {
  ImagingPlan plan = make_plan(waves.receivers, samples, grid);
  if (waves.rows > 1) {
    plan.acquisition.probe = make_matrix_probe(
        {waves.receivers, waves.rows, Metres(0.6e-3), Metres(0.8e-3), Metres(0.5e-3), Metres(0.5e-3)}, Hertz(5e6), Hertz(3e6));
  }
  if (waves.turn != 0.0) {
    const double angle = waves.turn * std::numbers::pi / 180.0;
    plan.acquisition.probe =
        placed(plan.acquisition.probe,
               {.origin = {}, .x = {std::cos(angle), std::sin(angle), 0.0}, .y = {-std::sin(angle), std::cos(angle), 0.0}});
  }
  for (const Point& source : waves.sources) {
    const MetresPerSecond velocity(view.front() == 'L' ? of_l : of_t);
    plan.acquisition.events.push_back({PointWaveEvent{source, velocity, Seconds(1.3e-6)}, {}});
  }
  for (const double angle : waves.degrees) {
    const double sine = std::sin(angle * std::numbers::pi / 180.0);
    plan.acquisition.events.push_back({PlaneWaveEvent{sine / of_l, slowness_y, Seconds(1.3e-6)}, {}});
  }
  if (waves.slower) plan.acquisition.events.push_back({PlaneWaveEvent{1.3 / of_l, slowness_y, Seconds(2e-6)}, {}});
  plan.laws = {make_delay_law("contact", {plan.acquisition, plan.material, view})};
  plan.event_weights = waves.weights;
  plan.events = waves.chosen;
  return plan;
}

BeamformOptions options_of_waves(const ImagingPlan& plan) {
  return beamform_options(plan, plan_pairs(plan), 0);
}

/// Rows of the imaged events and all receivers, of signals of as many elements as there are of either.
Input input_of(const Signals& signals, const ImagingPlan& plan, const BeamformOptions& options) {
  Input input(Signals(1, signals.samples, 0, false), MatrixKind::full);
  input.pairs = options.pairs;
  input.spec.rows = options.pairs.rows;
  input.data.assign(input.spec.rows * 2 * input.spec.row_stride, 0.0F);
  for (std::size_t k = 0; k < options.pairs.events; ++k) {
    const std::size_t event = plan.events.empty() ? k : plan.events[k];
    for (std::size_t j = 0; j < options.pairs.receivers; ++j) {
      const std::size_t row = k * options.pairs.receivers + j;
      for (std::size_t n = 0; n < signals.samples; ++n) {
        input.data[2 * row * input.spec.row_stride + n] = signals.at(event, j, n).real();
        input.data[(2 * row + 1) * input.spec.row_stride + n] = signals.at(event, j, n).imag();
      }
    }
  }
  return input;
}

/// By the waves' geometry written out. The plan and the signals outlive it.
direct::Problem problem_of(const ImagingPlan& plan, const Signals& signals) {
  const auto& events = plan.acquisition.events;
  const std::vector<Point> points = plan.grid.points();
  const double of_transmit = plan.laws[0].view.front() == 'L' ? of_l : of_t;
  const double of_receive = plan.laws[0].view.back() == 'L' ? of_l : of_t;
  std::vector<double> weights(signals.elements, 0.0);
  for (std::size_t k = 0; k < (plan.events.empty() ? events.size() : plan.events.size()); ++k) {
    weights[plan.events.empty() ? k : plan.events[k]] =
        plan.event_weights.empty() ? 1.0 : static_cast<double>(plan.event_weights[k]);
  }
  direct::Problem problem;
  problem.elements = signals.elements;
  problem.samples = signals.samples;
  problem.pixels = points.size();
  problem.sample_rate = plan.acquisition.sample_rate.value;
  problem.start_time = plan.acquisition.start_time.value;
  problem.linear = plan.interpolation == Interpolation::linear;
  problem.sample = [&events, &plan, &signals](std::size_t tx, std::size_t rx, std::size_t n) {
    return tx < events.size() && rx < plan.acquisition.elements() ? Complex(signals.at(tx, rx, n)) : Complex();
  };
  const Direction along = plan.acquisition.probe.x_axis;
  const bool one_row = std::ranges::all_of(plan.acquisition.probe.elements, [&](const Element& element) {
    return std::abs(element.centre.y.value * along.x - element.centre.x.value * along.y) < 1e-9;
  });
  problem.transmit_time = [&events, points, of_transmit, one_row, along](std::size_t event, std::size_t pixel) {
    if (event >= events.size()) return 0.0;
    const Point& p = points[pixel];
    const double x = p.x.value * along.x + p.y.value * along.y;
    const double y = p.y.value * along.x - p.x.value * along.y;
    const double out = std::hypot(y, p.z.value);
    if (const auto* const source = std::get_if<PointWaveEvent>(&events[event].form)) {
      const double vx = source->point.x.value, vy = source->point.y.value, vz = source->point.z.value;
      const double away = one_row ? std::hypot(x - vx, out + std::hypot(vy, vz)) : std::hypot(x - vx, y - vy, p.z.value - vz);
      return source->delay->value + (away - std::hypot(vx, vy, vz)) / of_transmit;
    }
    const auto& wave = std::get<PlaneWaveEvent>(events[event].form);
    // A row of elements sends nothing of a slowness across it, and what it sends is alike all around it.
    const double slowness_y = one_row ? 0.0 : wave.slowness_y;
    const double rest = 1.0 / (of_transmit * of_transmit) - wave.slowness_x * wave.slowness_x - slowness_y * slowness_y;
    if (!(rest > 0.0)) return std::numeric_limits<double>::quiet_NaN();
    return wave.delay->value + wave.slowness_x * x + slowness_y * y + std::sqrt(rest) * (one_row ? out : p.z.value);
  };
  problem.receive_time = [&plan, points, of_receive](std::size_t element, std::size_t pixel) {
    if (element >= plan.acquisition.elements()) return 0.0;
    const Point& centre = plan.acquisition.probe.elements[element].centre;
    const Point& p = points[pixel];
    return std::hypot((p.x - centre.x).value, (p.y - centre.y).value, (p.z - centre.z).value) / of_receive;
  };
  problem.transmit_weight = [weights](std::size_t event, std::size_t) { return weights[event]; };
  return problem;
}

/// The mean over the imaged pairs.
std::vector<Complex> direct_image(const ImagingPlan& plan, const Signals& signals) {
  std::vector<Complex> image = direct::image(problem_of(plan, signals));
  const std::size_t imaged = plan.events.empty() ? plan.acquisition.events.size() : plan.events.size();
  const auto all = static_cast<double>(signals.elements);
  for (Complex& value : image) value *= all * all / static_cast<double>(imaged * plan.acquisition.elements());
  return image;
}

/// Of the lookups, weighed as energy: the part that lies within 2^-10 of a sample from an end of the A-scan, which delays that
/// are rounded to as much may lose or gain.
double part_at_the_ends(const ImagingPlan& plan, const Signals& signals) {
  const direct::Problem problem = problem_of(plan, signals);
  const double last = static_cast<double>(samples) - 1.0;
  double all = 0.0;
  double doubtful = 0.0;
  for (std::size_t event = 0; event < plan.acquisition.events.size(); ++event) {
    for (std::size_t element = 0; element < plan.acquisition.elements(); ++element) {
      for (std::size_t pixel = 0; pixel < problem.pixels; ++pixel) {
        const double delay = problem.transmit_time(event, pixel) + problem.receive_time(element, pixel);
        const double u = (delay - problem.start_time) * problem.sample_rate;
        const double energy = std::pow(problem.transmit_weight(event, pixel), 2);
        if (u >= 0.0 && u < last) all += energy;
        if (std::abs(u) < 0x1p-10 || std::abs(u - last) < 0x1p-10) doubtful += energy;
      }
    }
  }
  return doubtful / all;
}

// ---- the kernel's way, on the host

class KernelWay {
 public:
  KernelWay(const BeamformOptions& options, const Input& input, bool half, std::uint32_t splits)
      : options_(options),
        input_(input),
        half_(half),
        splits_(splits),
        team_(1),
        tiles_(beamform::make_tile_plan({.options = options, .half = half}, team_)),
        shape_(shape_of(tiles_.kind)),
        seen_(options.pairs.rows) {}

  [[nodiscard]] const beamform::TilePlan& tiles() const { return tiles_; }

  Image image() {
    Image image(options_.grid.pixels());
    for (std::size_t tile = 0; tile < tiles_.tiles(); ++tile) {
      std::fill(seen_.begin(), seen_.end(), 0);
      sums_.assign(std::size_t{shape_.x} * shape_.z, {});
      const auto sources = beamform::source_counts(options_);
      const std::uint32_t all = group_count(sources, shape_.pairs, tiles_.order);
      const std::uint32_t transmit_groups = (sources.transmit + shape_.pairs - 1) / shape_.pairs;
      for (std::uint32_t split = 0; split < splits_; ++split) {
        beamform::Group group = beamform::plane_group_at(all * split / splits_, transmit_groups);
        for (std::uint32_t index = all * split / splits_; index < all * (split + 1) / splits_; ++index) {
          add_group(tile, group);
          group = beamform::next_plane_group(group, transmit_groups);
        }
      }
      for (const int times : seen_) EXPECT_LE(times, 1);
      write(tile, image);
    }
    return image;
  }
  /// Of a tile, whether a pair was looked up: each once, or never where no pixel of the tile is reached.
  [[nodiscard]] std::size_t pairs_of_last_tile() const {
    return static_cast<std::size_t>(std::count(seen_.begin(), seen_.end(), 1));
  }

 private:
  void add_group(std::size_t tile, beamform::Group group) {
    for (std::uint32_t i = group.i * shape_.pairs; i < std::min<std::size_t>((group.i + 1) * shape_.pairs, options_.pairs.events);
         ++i) {
      for (std::uint32_t j = group.j * shape_.pairs;
           j < std::min<std::size_t>((group.j + 1) * shape_.pairs, options_.pairs.receivers); ++j) {
        add_pair(tile, i, j);
      }
    }
  }

  void add_pair(std::size_t tile, std::uint32_t i, std::uint32_t j) {
    const std::size_t a = tile * options_.pairs.events + i;
    const std::size_t b = tile * options_.pairs.receivers + j;
    const beamform::SourceWindow transmit = tiles_.transmit.windows[a];
    const beamform::SourceWindow receive = tiles_.receive.windows[b];
    if ((transmit.reach | receive.reach) < 0) return;
    const std::int32_t length = transmit.reach + receive.reach + 2;
    EXPECT_LE(length, static_cast<std::int32_t>(shape_.window));
    ++seen_[i * options_.pairs.receivers + j];
    for (std::uint32_t place = 0; place < sums_.size(); ++place) {
      const auto [x, z] = pixel_of(tile, place);
      // Pixels beyond the image repeat its last ones.
      const auto cx = std::min<std::size_t>(x, options_.grid.x.count - 1);
      const auto cz = std::min<std::size_t>(z, options_.grid.z.count - 1);
      const std::uint32_t out = tiles_.turned ? turned_delay_at(a, tiles_.transmit.places[tile * sums_.size() + place])
                                              : delay_at(tiles_.transmit, a, true, cx, cz);
      const std::uint32_t delay = out + delay_at(tiles_.receive, b, false, cx, cz);
      const std::uint32_t index = delay >> (32 - shape_.index_bits);
      EXPECT_LT(static_cast<std::int32_t>(index) + 1, length) << "a neighbour that is not in the window";
      double fraction = std::ldexp(static_cast<double>(delay << shape_.index_bits), -32);
      if (half_) fraction = std::floor(fraction * 1024.0) / 1024.0;
      const std::int32_t n = transmit.base + receive.base + static_cast<std::int32_t>(index);
      const bool nearest = options_.interpolation == Interpolation::nearest;
      if (n < 0 || n >= static_cast<std::int32_t>(options_.gate.count) - (nearest ? 0 : 1)) {
        EXPECT_TRUE(half_ || tiles_.checked[tile] != 0) << "the float path does not look where it is not told to";
        continue;
      }
      const Complex here = sample(i, j, n);
      const Complex value = nearest ? here : here + fraction * (sample(i, j, n + 1) - here);
      sums_[place] += static_cast<double>(tiles_.transmit.forms[a].c) * value;
    }
  }

  [[nodiscard]] std::uint32_t delay_at(const beamform::TileSideTables& side, std::size_t entry, bool plane, std::size_t x,
                                       std::size_t z) const {
    switch (shape_.index_bits) {
      case 6:
        return delay_of_bits<6>(side, entry, plane, x, z);
      case 7:
        return delay_of_bits<7>(side, entry, plane, x, z);
      default:
        return delay_of_bits<8>(side, entry, plane, x, z);
    }
  }
  template <int bits>
  [[nodiscard]] std::uint32_t turned_delay_of_bits(std::size_t entry, beamform::TurnedPlace place) const {
    const beamform::SourceForm form = tiles_.transmit.forms[entry];
    const float phase = half_ ? 0.0F : tiles_.transmit.phases[entry];
    if (half_)
      return tiles_.points ? beamform::turned_delay_of<bits, true>(form, phase, place)
                           : beamform::plane_delay_of<bits, true>(form, phase, place.along, place.out);
    return tiles_.points ? beamform::turned_delay_of<bits, false>(form, phase, place)
                         : beamform::plane_delay_of<bits, false>(form, phase, place.along, place.out);
  }
  [[nodiscard]] std::uint32_t turned_delay_at(std::size_t entry, beamform::TurnedPlace place) const {
    switch (shape_.index_bits) {
      case 6:
        return turned_delay_of_bits<6>(entry, place);
      case 7:
        return turned_delay_of_bits<7>(entry, place);
      default:
        return turned_delay_of_bits<8>(entry, place);
    }
  }
  template <int bits>
  [[nodiscard]] std::uint32_t delay_of_bits(const beamform::TileSideTables& side, std::size_t entry, bool plane, std::size_t x,
                                            std::size_t z) const {
    const float px = tiles_.receive.x[x];
    const float pz = tiles_.receive.z[z];
    const beamform::SourceForm form = side.forms[entry];
    const float phase = half_ ? 0.0F : side.phases[entry];
    if (half_)
      return plane ? beamform::plane_delay_of<bits, true>(form, phase, px, pz)
                   : beamform::delay_of<bits, true>(form, phase, px, pz);
    return plane ? beamform::plane_delay_of<bits, false>(form, phase, px, pz)
                 : beamform::delay_of<bits, false>(form, phase, px, pz);
  }

  [[nodiscard]] Complex sample(std::uint32_t i, std::uint32_t j, std::int32_t n) const {
    const std::size_t row = i * options_.pairs.receivers + j;
    const float* re = input_.data.data() + 2 * row * input_.spec.row_stride + n;
    return {static_cast<double>(re[0]), static_cast<double>(re[input_.spec.row_stride])};
  }

  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> pixel_of(std::size_t tile, std::uint32_t place) const {
    const std::uint32_t across = shape_.x / 8;
    const auto in_plane = static_cast<std::uint32_t>(tile % (tiles_.tiles_x * tiles_.tiles_z));
    return {in_plane % tiles_.tiles_x * shape_.x + place / 32 % across * 8 + place % 8,
            in_plane / tiles_.tiles_x * shape_.z + place / 32 / across * 4 + place % 32 / 8};
  }

  void write(std::size_t tile, Image& image) const {
    const std::size_t y = tile / (tiles_.tiles_x * tiles_.tiles_z);
    const Grid& grid = options_.grid;
    for (std::uint32_t place = 0; place < sums_.size(); ++place) {
      const auto [x, z] = pixel_of(tile, place);
      if (x >= grid.x.count || z >= grid.z.count) continue;
      const double scale = static_cast<double>(options_.scale) * static_cast<double>(tiles_.scale);
      image[(z * grid.y.count + y) * grid.x.count + x] = std::complex<float>(scale * sums_[place]);
    }
  }

  const BeamformOptions& options_;
  const Input& input_;
  bool half_;
  std::uint32_t splits_;
  ThreadTeam team_;
  beamform::TilePlan tiles_;
  beamform::TileShape shape_;
  std::vector<int> seen_;
  std::vector<Complex> sums_;
};

std::vector<Waves> all_waves() {
  return {
      {"fewerThanReceivers", 21, fan(5)},
      {"oneInSlowerViewsAlone", 10, fan(9), true},
      {"moreThanReceivers", 6, fan(19)},
      {"asManyAsReceivers", 9, fan(9)},
      {"oneWave", 12, {7.0}},
      {"weighed", 11, fan(10), false, {0.0F, 0.25F, 1.0F, 3.5F, -2.0F, 1e-3F, 0.7F, 0.0F, 5.0F, 1.0F}},
      {"chosen", 10, fan(12), false, {0.5F, 1.5F, -1.0F}, {11, 2, 5}},
  };
}

// Ragged at its ends for every shape of tiles.
const Grid grid{{Metres(-5.1e-3), Metres(6.3e-3), 45}, {Metres(1.03e-3), Metres(12.9e-3), 37}, {}};

class PlaneWaves : public testing::TestWithParam<Waves> {};

std::size_t signals_of(const ImagingPlan& plan) {
  return std::max(plan.acquisition.events.size(), plan.acquisition.elements());
}

TEST_P(PlaneWaves, AreTheSumOfTheirPairsByTheKernelsWayOnTheHost) {
  // Single precision: 17 or 15 bits of fraction, as of beamform_test. Half path here: a fraction of ten bits alone, 3e-4 of a
  // sample (rms) at up to 1.3 radians a sample.
  for (const char* view : {"LL", "TL", "LT"}) {
    for (const bool half : {false, true}) {
      const ImagingPlan plan = plan_of(GetParam(), grid, view);
      const BeamformOptions options = options_of_waves(plan);
      const Signals signals(signals_of(plan), samples, 31, false);
      const Input input = input_of(signals, plan, options);
      const std::vector<Complex> expected = direct_image(plan, signals);
      for (const std::uint32_t splits : {1U, 2U}) {
        KernelWay way(options, input, half, splits);
        EXPECT_TRUE(way.tiles().plane);
        EXPECT_LT(direct::relative_error(way.image(), expected), half ? 5e-4 : 3e-5) << view << (half ? ", half" : ", float");
        std::size_t events = 0;
        for (std::size_t event = 0; event < options.pairs.events; ++event) {
          if (options.aperture.event_weights[event] != 0.0F && !options.law.transmit->reaches_nothing(event)) ++events;
        }
        EXPECT_EQ(way.pairs_of_last_tile(), events * options.pairs.receivers);
      }
    }
  }
}

TEST_P(PlaneWaves, NeedNoTablesOnEitherSide) {
  ThreadTeam team(1);
  for (const char* view : {"LL", "TL", "LT"}) {
    const ImagingPlan plan = plan_of(GetParam(), grid, view);
    const BeamformOptions options = options_of_waves(plan);
    for (const bool half : {false, true}) {
      const beamform::TilePlan tiles = beamform::make_tile_plan({options, half}, team);
      EXPECT_TRUE(tiles.plane && tiles.analytic);
      for (const beamform::TileSideTables* side : {&tiles.transmit, &tiles.receive}) {
        EXPECT_TRUE(side->delays.empty() && side->weights.empty());
        EXPECT_EQ(side->forms.size(), side->windows.size());
      }
      // 24 bytes a tile and source, 28 on the float path: less than half a number a pixel.
      EXPECT_LT(beamform::tile_table_bytes(options, half),
                2 * options.grid.pixels() * (options.pairs.events + options.pairs.receivers));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, PlaneWaves, testing::ValuesIn(all_waves()),
                         [](const auto& waves) { return std::string(waves.param.name); });

class PlaneWaveImages : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override { ECHOFORM_REQUIRE_WAY(GetParam()); }

  static Image image_of(const ImagingPlan& plan, const Signals& signals, const Way& way) {
    const BeamformOptions options = options_of_waves(plan);
    const Input input = input_of(signals, plan, options);
    if (way.backend == BackendKind::cuda) return beamform_cuda(options, input.spec, input.data, way);
    const auto backend = make_cpu_backend(2);
    const auto queue = backend->make_queue();
    const auto stage = make_beamform_cpu(options, *backend, way.level);
    static_cast<void>(stage->prepare(input.spec));
    Image image(plan.grid.pixels());
    stage->process({input.data.data()}, {image.data()}, *queue);
    queue->finish();
    return image;
  }

  /// As of beamform_test. Weights of waves are rounded to half precision on the half path: 3e-4 more for each.
  [[nodiscard]] static double precision_of(const Waves& waves, const Way& way) {
    if (way.backend == BackendKind::cpu) return 1e-5;
    return way.half ? waves.weights.empty() ? 1e-3 : 1.3e-3 : 3e-5;
  }
};

TEST_P(PlaneWaveImages, EqualTheDirectSum) {
  for (const Waves& waves : all_waves()) {
    for (const char* view : {"LL", "TL", "LT"}) {
      for (const auto interpolation : {Interpolation::linear, Interpolation::nearest}) {
        ImagingPlan plan = plan_of(waves, grid, view);
        plan.interpolation = interpolation;
        const Signals signals(signals_of(plan), samples, 32, false);
        // Of the lookups 2e-4 may take the neighbour of the nearest sample, as of beamform_test.
        const bool nearest = interpolation == Interpolation::nearest;
        const double allowed = nearest ? std::sqrt(2.0 * 2e-4) : precision_of(waves, GetParam());
        EXPECT_LT(direct::relative_error(image_of(plan, signals, GetParam()), direct_image(plan, signals)), allowed)
            << waves.name << ", " << view << (nearest ? ", nearest" : "");
      }
    }
  }
}

/// The CPU has tiles of one kind only.
class PlaneWaveTiles : public PlaneWaveImages {};

TEST_P(PlaneWaveTiles, OfEveryKindGiveTheSameImage) {
  // Fine enough for the narrowest windows, with shear waves too.
  const Grid fine{{Metres(-0.9e-3), Metres(1.1e-3), 70}, {Metres(2.03e-3), Metres(3.9e-3), 66}, {}};
  for (const Waves& waves : all_waves()) {
    const ImagingPlan plan = plan_of(waves, fine, "TL");
    const Signals signals(signals_of(plan), samples, 33, false);
    const std::vector<Complex> expected = direct_image(plan, signals);
    const bool separate = plan_pairs(plan).rows.events != plan.acquisition.elements();
    for (std::size_t kind = 0; kind < beamform::tile_kind_count; ++kind) {
      Way way = GetParam();
      way.kind = static_cast<beamform::TileKind>(kind);
      EXPECT_LT(direct::relative_error(image_of(plan, signals, way), expected), precision_of(waves, way))
          << waves.name << ", kind " << kind << (separate ? ", other counts" : "");
    }
  }
}

TEST_P(PlaneWaveImages, HonourTheEndsOfTheAScan) {
  // Most of this grid lies before the first or after the last sample.
  const Grid long_grid{{Metres(-7.1e-3), Metres(8.3e-3), 33}, {Metres(1.03e-3), Metres(60.9e-3), 120}, {}};
  for (const Waves& waves : all_waves()) {
    ImagingPlan plan = plan_of(waves, long_grid, "LL");
    plan.acquisition.start_time = Seconds(6.013e-6);
    const Signals signals(signals_of(plan), samples, 34, false);
    // Samples are noise; what is lost of it adds to the rounding of the rest.
    const double lost = GetParam().half ? part_at_the_ends(plan, signals) : 0.0;
    EXPECT_LT(direct::relative_error(image_of(plan, signals, GetParam()), direct_image(plan, signals)),
              precision_of(waves, GetParam()) + 2.0 * std::sqrt(lost))
        << waves.name;
  }
}

// Ragged at its ends too; on both sides of the plane, and beginning at the elements.
const Grid volume{{Metres(-3e-3), Metres(3.1e-3), 37}, {Metres(0.0), Metres(6.3e-3), 35}, {Metres(-2.2e-3), Metres(4.2e-3), 4}};

/// Waves of revolution: of those above, and from virtual sources.
std::vector<Waves> turned_waves() {
  std::vector<Waves> all = all_waves();
  const auto at = [](double x, double y, double z) { return Point{Metres(1e-3 * x), Metres(1e-3 * y), Metres(1e-3 * z)}; };
  // One of them beside the plane, one among the elements.
  all.push_back(
      {.name = "virtualSources", .receivers = 9, .sources = {at(-2, 0, -6), at(1, 3, -4), at(0.4, 0, 0), at(4, 0, -9)}});
  all.push_back({.name = "weighedVirtualSources",
                 .receivers = 5,
                 .weights = {0.0F, -1.5F, 0.25F, 2.0F},
                 .sources = {at(-2, 0, -6), at(1, 0, -4), at(2, 0, -1), at(4, 0, -9)}});
  all.push_back({.name = "ofATurnedProbe", .receivers = 12, .degrees = fan(5), .turn = 35.0});
  all.push_back(
      {.name = "virtualSourcesOfATurnedProbe", .receivers = 12, .sources = {at(-2, 0, -6), at(3, 0, -2)}, .turn = -80.0});
  return all;
}

class TurnedWaves : public testing::TestWithParam<Waves> {};

TEST_P(TurnedWaves, AreTheSumOfTheirPairsByTheKernelsWayOnTheHost) {
  for (const char* view : {"LL", "TL"}) {
    for (const bool half : {false, true}) {
      const ImagingPlan plan = plan_of(GetParam(), volume, view);
      const BeamformOptions options = options_of_waves(plan);
      const Signals signals(signals_of(plan), samples, 41, false);
      const Input input = input_of(signals, plan, options);
      KernelWay way(options, input, half, 2);
      ASSERT_TRUE(way.tiles().plane && way.tiles().turned);
      EXPECT_EQ(way.tiles().points, !GetParam().sources.empty());
      // As of plane waves.
      EXPECT_LT(direct::relative_error(way.image(), direct_image(plan, signals)), half ? 5e-4 : 3e-5) << view;
      for (const beamform::TileSideTables* side : {&way.tiles().transmit, &way.tiles().receive}) {
        EXPECT_TRUE(side->delays.empty() && side->weights.empty()) << "a place a voxel is all that is kept";
      }
    }
  }
}

TEST_P(TurnedWaves, InThePlaneOfTheirProbeAreWhatTheyWere) {
  if (GetParam().turn != 0.0) return;
  ThreadTeam team(1);
  const ImagingPlan plan = plan_of(GetParam(), grid, "LL");
  const BeamformOptions options = options_of_waves(plan);
  const beamform::TilePlan tiles = beamform::make_tile_plan({options, true}, team);
  EXPECT_FALSE(tiles.turned);
  EXPECT_EQ(tiles.plane, GetParam().sources.empty());
  EXPECT_EQ(tiles.analytic, GetParam().sources.empty() || GetParam().weights.empty());
}

INSTANTIATE_TEST_SUITE_P(All, TurnedWaves, testing::ValuesIn(turned_waves()),
                         [](const auto& waves) { return std::string(waves.param.name); });

TEST_P(PlaneWaveImages, OfVolumesAreAlikeAllAroundARow) {
  for (const Waves& waves : turned_waves()) {
    for (const auto interpolation : {Interpolation::linear, Interpolation::nearest}) {
      ImagingPlan plan = plan_of(waves, volume, "TL", 0.1 / of_l);
      plan.interpolation = interpolation;
      const Signals signals(signals_of(plan), samples, 42, false);
      const bool nearest = interpolation == Interpolation::nearest;
      const double allowed = nearest ? std::sqrt(2.0 * 2e-4) : precision_of(waves, GetParam());
      EXPECT_LT(direct::relative_error(image_of(plan, signals, GetParam()), direct_image(plan, signals)), allowed)
          << waves.name << (nearest ? ", nearest" : "");
    }
  }
}

TEST_P(PlaneWaveTiles, OfEveryKindGiveTheSameVolume) {
  const Grid fine{
      {Metres(-0.9e-3), Metres(1.1e-3), 70}, {Metres(2.03e-3), Metres(3.9e-3), 66}, {Metres(1e-3), Metres(2.5e-3), 2}};
  for (const Waves& waves : turned_waves()) {
    const ImagingPlan plan = plan_of(waves, fine, "TL");
    const Signals signals(signals_of(plan), samples, 43, false);
    const std::vector<Complex> expected = direct_image(plan, signals);
    for (std::size_t kind = 0; kind < beamform::tile_kind_count; ++kind) {
      Way way = GetParam();
      way.kind = static_cast<beamform::TileKind>(kind);
      EXPECT_LT(direct::relative_error(image_of(plan, signals, way), expected), precision_of(waves, way))
          << waves.name << ", kind " << kind;
    }
  }
}

TEST_P(PlaneWaveImages, OfVolumesTiltAcrossThePlaneToo) {
  const Grid ahead{{Metres(-3e-3), Metres(3.1e-3), 17}, {Metres(2e-3), Metres(6.3e-3), 15}, {Metres(-1e-3), Metres(1.2e-3), 3}};
  for (Waves waves : all_waves()) {
    // Two rows, which send what is stated across them.
    waves.rows = 2;
    const ImagingPlan plan = plan_of(waves, ahead, "LT", 0.1 / of_l);
    const Signals signals(signals_of(plan), samples, 35, false);
    EXPECT_LT(direct::relative_error(image_of(plan, signals, GetParam()), direct_image(plan, signals)),
              precision_of(waves, GetParam()))
        << waves.name;
  }
}

TEST_P(PlaneWaveImages, HaveTheWeightsOfTheirReceivers) {
  // These come from tables.
  for (const Waves& waves : all_waves()) {
    ImagingPlan plan = plan_of(waves, grid, "LL");
    plan.apodization.window = ApodizationWindow::hann;
    const Signals signals(signals_of(plan), samples, 36, false);
    ImagingPlan plain = plan_of(waves, grid, "LL");
    Signals weighed = signals;
    for (std::size_t event = 0; event < signals.elements; ++event) {
      for (std::size_t element = 0; element < waves.receivers; ++element) {
        const double place = (static_cast<double>(element) + 0.5) / static_cast<double>(waves.receivers);
        const double weight = std::pow(std::sin(std::numbers::pi * place), 2);
        for (std::size_t n = 0; n < samples; ++n) weighed.at(event, element, n) *= static_cast<float>(weight);
      }
    }
    EXPECT_LT(direct::relative_error(image_of(plan, signals, GetParam()), direct_image(plain, weighed)),
              precision_of(waves, GetParam()))
        << waves.name;
  }
}

std::vector<Way> ways_of_cuda() {
  std::vector<Way> ways = all_ways();
  std::erase_if(ways, [](const Way& way) { return way.backend == BackendKind::cpu; });
  return ways;
}

INSTANTIATE_TEST_SUITE_P(Cuda, PlaneWaveTiles, testing::ValuesIn(ways_of_cuda()),
                         [](const auto& way) { return way.param.name(); });
INSTANTIATE_TEST_SUITE_P(Levels, PlaneWaveImages, testing::ValuesIn(all_ways()),
                         [](const auto& way) { return way.param.name(); });

}  // namespace
}  // namespace echoform::plane_waves
