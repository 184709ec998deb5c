// Every wrong configuration is refused in one line that names the place, what was found and what is expected.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "base/errors.hpp"
#include "simulators/frame_cycle.hpp"

namespace echoform {
namespace {

using testing::ThrowsMessage;

struct BadConfiguration {
  std::string name;
  std::function<void(SimulatorConfiguration&)> spoil;
  std::string message;
};

void PrintTo(const BadConfiguration& bad, std::ostream* out) {
  *out << bad.name;
}

class Refused : public testing::TestWithParam<BadConfiguration> {};

TEST_P(Refused, InOneLine) {
  SimulatorConfiguration configuration;
  GetParam().spoil(configuration);
  EXPECT_THAT([&] { validate(configuration, "[simulator]"); }, ThrowsMessage<InputError>(GetParam().message));
  EXPECT_THAT([&] { FmcSimulator simulator(configuration); }, ThrowsMessage<InputError>(GetParam().message));
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Motion rising(double by) {
  return {MotionKind::oscillating, {Metres(0.0), Metres(0.0), Metres(by)}, 1, 0.0};
}

INSTANTIATE_TEST_SUITE_P(
    Transmissions, Refused,
    testing::Values(
        BadConfiguration{"fire_twice",
                         [](auto& c) {
                           c.transmit.fire = {0, 1, 0};
                         },
                         "[simulator] fire: found 0 again; expected elements 0 to 31, each once"},
        BadConfiguration{"receive", [](auto& c) { c.transmit.receive = {32}; },
                         "[simulator] receive: found 32; expected elements 0 to 31, each once"},
        BadConfiguration{"beams_of_focused",
                         [](auto& c) {
                           c.transmit.kind = TransmitKind::focused;
                           c.transmit.beams.list = {{}};
                         },
                         "[simulator] beams: found one with transmit \"focused\"; expected transmit \"beams\""},
        BadConfiguration{"list_and_range",
                         [](auto& c) {
                           c.transmit.kind = TransmitKind::beams;
                           c.transmit.angles = {-1.0, 1.0};
                           c.transmit.beams.list = {{Metres(0.0), 0.0, 0.0, Metres(0.02)}};
                         },
                         "[simulator] beams: found a list and a range; expected one of both"},
        BadConfiguration{"list_and_count",
                         [](auto& c) {
                           c.transmit.kind = TransmitKind::beams;
                           c.transmit.events = 4;
                           c.transmit.beams.list = {{Metres(0.0), 0.0, 0.0, Metres(0.02)}};
                         },
                         "[simulator] events: found a count and a list of beams; expected one of both"},
        BadConfiguration{"origin_without_aperture",
                         [](auto& c) {
                           c.transmit.kind = TransmitKind::beams;
                           c.transmit.beams.origins = {Metres(-1e-3), Metres(1e-3)};
                         },
                         "[simulator] beam 0: found an origin at -1 mm; expected 0, or an aperture of some of the elements"},
        BadConfiguration{"origin_at_the_end",
                         [](auto& c) {
                           c.transmit.kind = TransmitKind::beams;
                           c.transmit.aperture = 16;
                           c.transmit.events = 2;
                           c.transmit.beams.origins = {Metres(0.0), Metres(8e-3)};
                         },
                         "[simulator] beam 1: found an origin at 8 mm; expected -4.8 to 4.8 mm, where 16 neighbours fit"},
        BadConfiguration{
            "no_focus",
            [](auto& c) {
              c.transmit.kind = TransmitKind::beams;
              c.transmit.focus = Metres(0.0);
            },
            "[simulator] beam 0: found a focus at 0 m; expected up to 10 m, or inf for a plane wave; below 0 a virtual "
            "source"},
        BadConfiguration{
            "across_one_row",
            [](auto& c) {
              c.transmit.kind = TransmitKind::beams;
              c.transmit.beams.across = 3;
            },
            "[simulator] angles_across: found angles across a single row; expected a matrix array ([simulator] rows)"},
        BadConfiguration{"too_often",
                         [](auto& c) {
                           c.transmit.kind = TransmitKind::beams;
                           c.transmit.events = 64;
                           c.transmit.repeats = 65;
                         },
                         "[simulator] repeats: found 65 of 64 waves; expected at least 1, and at most 4096 events a frame"},
        BadConfiguration{"round_arc", [](auto& c) { c.radius = Metres(5e-3); },
                         "[simulator] radius: found elements up to 107 degrees from the middle of the arc; expected up to 80 "
                         "degrees"},
        BadConfiguration{"arc_of_rows",
                         [](auto& c) {
                           c.radius = Metres(50e-3);
                           c.rows = 2;
                         },
                         "[simulator] radius: found an arc of 2 rows; expected one row of elements"},
        BadConfiguration{"cysts_alone", [](auto& c) { c.tissue.cysts = {{}}; },
                         "[simulator] scatterers: found 0 with cysts, vessels or disks; expected how many, for these are made of "
                         "them"},
        BadConfiguration{"speckle_in_the_probe",
                         [](auto& c) {
                           c.tissue.speckle.scatterers = 10;
                           c.tissue.speckle.z = {Metres(-1e-3), Metres(1e-3)};
                         },
                         "[simulator] speckle_z: found -0.001 m; expected inside the part, z > 0"},
        BadConfiguration{"tissue_in_water",
                         [](auto& c) {
                           c.phantom = {};
                           c.tissue.speckle.scatterers = 10;
                           c.scene.couplant = MetresPerSecond(1480.0);
                           c.placement.stand_off = Metres(10e-3);
                         },
                         "[simulator] scatterers: found tissue with a couplant, a backwall or shear waves; expected tissue in "
                         "contact, longitudinal waves alone"},
        BadConfiguration{"hadamard",
                         [](auto& c) {
                           c.elements = 24;
                           c.transmit.kind = TransmitKind::hadamard;
                         },
                         "[simulator] transmit: found \"hadamard\" of 24 elements; expected a power of two of them ([simulator] "
                         "elements, or as many in fire)"},
        BadConfiguration{"angles_of_elements",
                         [](auto& c) {
                           c.transmit.angles = {-1.0, 1.0};
                         },
                         "[simulator] angles: found one with transmit \"elements\"; expected transmit \"plane\", \"diverging\", "
                         "\"focused\" or \"beams\""},
        BadConfiguration{"focus_of_plane_waves",
                         [](auto& c) {
                           c.transmit.kind = TransmitKind::plane;
                           c.transmit.focus = Metres(0.01);
                         },
                         "[simulator] focus: found one with transmit \"plane\"; expected transmit \"diverging\", \"focused\" "
                         "or \"beams\""},
        BadConfiguration{"steep",
                         [](auto& c) {
                           c.transmit.kind = TransmitKind::plane;
                           c.transmit.angles = {-90.0, 1.0};
                         },
                         "[simulator] angles: found -90 degrees; expected -89 to 89 degrees"},
        BadConfiguration{"aperture",
                         [](auto& c) {
                           c.transmit.kind = TransmitKind::focused;
                           c.transmit.aperture = 33;
                         },
                         "[simulator] aperture: found 33; expected 1 to 32"},
        BadConfiguration{"aperture_and_fire",
                         [](auto& c) {
                           c.transmit.kind = TransmitKind::focused;
                           c.transmit.aperture = 4;
                           c.transmit.fire = {1, 2};
                         },
                         "[simulator] aperture: found one and fire; expected one of both"},
        BadConfiguration{"both_receptions",
                         [](auto& c) {
                           c.transmit.receive = {1};
                           c.transmit.receive_aperture = 4;
                         },
                         "[simulator] receive_aperture: found one and receive; expected one of both"},
        BadConfiguration{
            "no_couplant",
            [](auto& c) {
              c.transmit.kind = TransmitKind::plane;
              c.transmit.medium = WaveMedium::couplant;
            },
            "[simulator] wave_medium: found \"couplant\" without one; expected \"L\" or \"T\", or [couplant] velocity"},
        BadConfiguration{"half",
                         [](auto& c) {
                           c.transmit.kind = TransmitKind::plane;
                           c.matrix = MatrixKind::half;
                         },
                         "[simulator] events: found events and a half matrix; expected one of both"},
        BadConfiguration{"stated_events",
                         [](auto& c) {
                           c.events = {{LawEvent{{40}}, {}}};
                         },
                         "[simulator] event 0: found element 40; expected elements 0 to 31"},
        BadConfiguration{
            "long_pulses",
            [](auto& c) {
              c.transmit.kind = TransmitKind::plane;
              c.sample_rate = Hertz(1e12);
            },
            "[simulator] sample_rate: found pulses of 1.5e+06 samples; expected at most 65536 where several elements "
            "fire at once"}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Configurations, Refused,
    testing::Values(
        BadConfiguration{"no_elements", [](auto& c) { c.elements = 0; }, "[simulator] elements: found 0; expected 1 to 1024"},
        BadConfiguration{"too_many_elements", [](auto& c) { c.elements = 1'000'000'000; },
                         "[simulator] elements: found 1000000000; expected 1 to 1024"},
        BadConfiguration{"pitch", [](auto& c) { c.pitch = Metres(0.0); }, "[simulator] pitch: found 0; expected 1e-6 to 0.1 m"},
        BadConfiguration{"width", [](auto& c) { c.element_width = Metres(7e-4); },
                         "[simulator] element_width: found 0.0007; expected 0 to the pitch, 0.0006 m"},
        BadConfiguration{"frequency", [](auto& c) { c.centre_frequency = Hertz(nan); },
                         "[simulator] centre_frequency: found nan; expected 1e3 to 1e9 Hz"},
        BadConfiguration{"bandwidth", [](auto& c) { c.fractional_bandwidth = 2.5; },
                         "[simulator] fractional_bandwidth: found 2.5; expected 0.02 to 2"},
        BadConfiguration{"velocity", [](auto& c) { c.material.longitudinal_velocity = MetresPerSecond(0.0); },
                         "[simulator] longitudinal_velocity: found 0; expected 100 to 20000 m/s"},
        BadConfiguration{"samples", [](auto& c) { c.samples = 1; }, "[simulator] samples: found 1; expected 2 to 1048576"},
        BadConfiguration{"frame",
                         [](auto& c) {
                           c.elements = 1024;
                           c.samples = 1024;
                         },
                         "[simulator] frame: found 1048576 A-scans of 2048 bytes; expected at most 1073741824 bytes a frame"},
        BadConfiguration{"rate", [](auto& c) { c.sample_rate = Hertz(-1.0); },
                         "[simulator] sample rate: found -1 Hz; expected 1 to 1e+12 Hz"},
        BadConfiguration{"nyquist", [](auto& c) { c.sample_rate = Hertz(10e6); },
                         "[simulator] sample_rate: found 10000000 Hz; expected more than twice the centre frequency, 5000000 Hz"},
        BadConfiguration{"full_scale", [](auto& c) { c.full_scale = 0.0; },
                         "[simulator] full_scale: found 0; expected a positive number, 1e-12 to 1e12"},
        BadConfiguration{"noise", [](auto& c) { c.noise_rms = -1.0; }, "[simulator] noise_rms: found -1; expected 0 to 1e12"},
        BadConfiguration{"encoder", [](auto& c) { c.encoder.step = -5; },
                         "[simulator] encoder_step: found -5; expected 0 to 1000000000000"},
        BadConfiguration{"cycle", [](auto& c) { c.cycle_frames = 0; },
                         "[simulator] cycle_frames: found 0; expected 1 to 1000000"},
        BadConfiguration{"dead",
                         [](auto& c) {
                           c.dead_elements = {3, 32};
                         },
                         "[simulator] dead_elements: found 32; expected 0 to 31"},
        BadConfiguration{"converter", [](auto& c) { c.quantised = false; },
                         "[simulator] quantised: found false with an integer encoding; expected true, or encoding float32"},
        BadConfiguration{
            "scatterer", [](auto& c) { c.phantom.points[0].centre.x = Metres(nan); },
            "[simulator] scatterer \"shallow\": found a number that is not finite; expected a finite centre and motion"},
        BadConfiguration{"reflectivity", [](auto& c) { c.phantom.points[0].reflectivity = 1e9; },
                         "[simulator] scatterer \"shallow\": found reflectivity 1000000000; expected -1e+06 to 1e+06"},
        BadConfiguration{
            "surfacing", [](auto& c) { c.phantom.points[0].motion = rising(10e-3); },
            "[simulator] scatterer \"shallow\": found a top at z = 0.000 mm; expected a reflector inside the part, z > 0, "
            "throughout its motion"},
        BadConfiguration{"turns", [](auto& c) { c.phantom.points[0].motion.turns = 0; },
                         "[simulator] scatterer \"shallow\": found 0 turns a cycle; expected 1 to 1000"},
        BadConfiguration{"radius", [](auto& c) { c.phantom.holes[0].radius = Metres(0.0); },
                         "[simulator] hole \"hole of 1.5 mm\": found radius 0 m; expected a positive radius"},
        BadConfiguration{
            "hole_out", [](auto& c) { c.phantom.holes[0].radius = Metres(15e-3); },
            "[simulator] hole \"hole of 1.5 mm\": found a top at z = -1.000 mm; expected a reflector inside the part, z > 0, "
            "throughout its motion"},
        BadConfiguration{"depth", [](auto& c) { c.phantom.backwalls[0].depth = Metres(-1.0); },
                         "[simulator] backwall \"backwall\": found depth -1 m; expected a positive depth"},
        BadConfiguration{"wall_ends",
                         [](auto& c) { c.phantom.backwalls[0].x_first = c.phantom.backwalls[0].x_last = Metres(0.0); },
                         "[simulator] backwall \"backwall\": found x from 0 to 0 m; expected x_first < x_last"}),
    [](const auto& test) { return test.param.name; });

TEST(FrameCycleRefuses, MemoryForLessThanOneFrame) {
  EXPECT_THAT(
      [] { FrameCycle cycle(SimulatorConfiguration{}, {.threads = 1, .memory_limit = 1000}); },
      ThrowsMessage<InputError>("[simulator] memory_limit: found 1000 bytes; expected at least one frame, 2097152 bytes"));
}

TEST(FmcSimulatorRefuses, RoomOfTheWrongSize) {
  const FmcSimulator simulator(SimulatorConfiguration{});
  std::vector<std::byte> room(10);
  EXPECT_THAT([&] { simulator.synthesise(0, room); },
              ThrowsMessage<InputError>("simulated frame: found room for 10 bytes; expected 2097152 bytes"));
}

}  // namespace
}  // namespace echoform
