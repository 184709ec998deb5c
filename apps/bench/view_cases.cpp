#include "apps/bench/view_cases.hpp"

#include <fmt/format.h>

#include "acquisition/positions.hpp"
#include "config/configuration.hpp"
#include "methods/filter_settings.hpp"
#include "methods/tfm/build_plan.hpp"
#include "methods/tfm/section.hpp"
#include "settings/reader.hpp"

namespace echoform::bench {
namespace {

Acquisition array(std::size_t elements, std::size_t samples, double pitch, double frequency, double sample_rate, double start) {
  Acquisition acquisition;
  acquisition.probe = make_linear_probe(elements, Metres(pitch), Metres(0.9 * pitch), Hertz(frequency), Hertz(0.5 * frequency));
  acquisition.samples = samples;
  acquisition.sample_rate = Hertz(sample_rate);
  acquisition.start_time = Seconds(start);
  return acquisition;
}

/// The same case measured from `count` positions, with all elements firing in turn at each position.
ViewCase from_positions(ViewCase test, std::size_t count) {
  test.name = fmt::format("{}, {} positions", test.name, count);
  test.published_cpu = test.published_cuda = 0.0;
  test.positions = count;
  Acquisition& acquisition = test.acquisition;
  acquisition.positions = line_of_poses(count, Metres(1e-3), {1.0, 0.0, 0.0});
  for (std::uint32_t position = 0; position < count; ++position) {
    acquisition.positions[position].origin.x -= Metres(0.5e-3 * static_cast<double>(count - 1));
    for (std::uint32_t element = 0; element < acquisition.elements(); ++element) {
      acquisition.events.push_back({ElementEvent{element}, {}, position});
    }
  }
  return test;
}

}  // namespace

std::vector<ViewCase> view_cases() {
  constexpr auto square = R"(
[material]
longitudinal_velocity = 5900.0
shear_velocity = 3230.0
[couplant]
velocity = 1480.0
[probe]
stand_off = 0.02
[grid]
x = [-0.02, 0.02]
z = [0.0005, 0.0405]
pixels = [200, 200]
[imaging]
delay_law = "immersion"
)";
  ViewCase planar{.name = "planar, 128 x 1031, 200 x 200, LL",
                  .configuration = std::string(square) + "[surface]\nkind = \"plane\"\n",
                  .acquisition = array(128, 1031, 0.3e-3, 2e6, 25e6, 26e-6),
                  .published_cpu = 0.446,
                  .published_cuda = 0.192};
  ViewCase cylindrical{.name = "cylindrical, 128 x 2007, 200 x 200, LL",
                       .configuration = std::string(square) + "[surface]\nkind = \"cylinder\"\nradius = 0.1\n",
                       .acquisition = array(128, 2007, 0.3e-3, 2e6, 50e6, 26e-6),
                       .published_cpu = 0.473,
                       .published_cuda = 0.197};
  ViewCase four{.name = "four views, 64 x 2000, 256 x 256, LL+LT+TL+TT",
                .configuration = R"(
[material]
longitudinal_velocity = 6320.0
shear_velocity = 3130.0
[couplant]
velocity = 1480.0
[probe]
stand_off = 0.02
[surface]
kind = "plane"
[grid]
x = [-0.012, 0.012]
z = [0.002, 0.030]
pixels = [256, 256]
[imaging]
delay_law = "immersion"
views = ["LL", "LT", "TL", "TT"]
)",
                .acquisition = array(64, 2000, 0.6e-3, 5e6, 50e6, 26e-6)};
  return {planar, cylindrical, four};
}

std::vector<ViewCase> position_cases() {
  const std::vector<ViewCase> cases = view_cases();
  return {cases[0], from_positions(cases[0], 25), cases[1], from_positions(cases[1], 25)};
}

std::shared_ptr<const ImagingPlan> plan_of(const ViewCase& test, double accuracy) {
  Configuration configuration = parse_configuration(test.configuration, "bench views");
  tfm(configuration).accuracy = accuracy;
  section<FilterSection>(configuration).kind = FilterWish::none;
  return build_plan(configuration, test.acquisition);
}

}  // namespace echoform::bench
