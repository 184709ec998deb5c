// Keys of [detectors], and the keys of [simulator] that state where light makes sound.
#include <cmath>

#include "config/key_types.hpp"
#include "simulators/detector_array.hpp"
#include "simulators/simulator_keys.hpp"
#include "simulators/sound_section.hpp"

namespace echoform {
namespace {

using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table

constexpr auto detector_words = make_words(
    std::pair{DetectorKind::none, std::string_view("none")}, std::pair{DetectorKind::ring, std::string_view("ring")},
    std::pair{DetectorKind::arc, std::string_view("arc")}, std::pair{DetectorKind::sphere, std::string_view("sphere")},
    std::pair{DetectorKind::hemisphere, std::string_view("hemisphere")},
    std::pair{DetectorKind::plane, std::string_view("plane")}, std::pair{DetectorKind::line, std::string_view("line")});

Point place_of(std::span<const double> v) {
  return {Metres(v[0]), Metres(v[1]), Metres(v[2])};
}

/// The number of turns; 0 if the value is no number of turns. Sources with 0 turns are refused where they are checked.
unsigned turns_of(double value) {
  return value >= 1.0 && value <= 1000.0 && value == std::floor(value) ? static_cast<unsigned>(value) : 0U;
}

void fill_ball(SoundBall& ball, std::span<const double> v) {
  ball.centre = place_of(v);
  ball.radius = Metres(v[3]);
  ball.amplitude = v[4];
  if (v.size() < 6) return;
  ball.motion.kind = MotionKind::circular;
  ball.motion.extent = {Metres(v[5]), Metres(0.0), Metres(v[5])};
  if (v.size() > 6) ball.motion.turns = turns_of(v[6]);
  if (v.size() > 7) ball.motion.offset = v[7];
}

void fill_vessel(SoundVessel& vessel, std::span<const double> v) {
  vessel.first = place_of(v);
  vessel.last = place_of(v.subspan(3));
  vessel.radius = Metres(v[6]);
  vessel.amplitude = v[7];
  if (v.size() > 8) vessel.spacing = Metres(v[8]);
}

void fill_factors(std::vector<double>& row, std::span<const double> v) {
  row.assign(v.begin(), v.end());
}

Key haemoglobin_key() {
  const auto get = [](auto& c) -> auto& {
    return section<SoundSection>(c).haemoglobin;
  };
  Key key = text({"simulator", "haemoglobin", "",
                  "A CSV file with lines of wavelength in nm and the absorption of HbO2 and of Hb in 1/cm per mol/l, for "
                  "saturations; relative "
                  "to the configuration's folder.",
                  "Prahl's, 700 to 900 nm"},
                 "", any_text, get);
  key.names_file = true;
  key.read = [get, expected = key.expected()](Configuration& into, const toml::node& node, std::string_view where) {
    const std::string value = read_text(node, where, expected);
    if (value.empty()) refuse(where, node, "the name of a file, relative to the configuration's folder");
    get(into) = named_file(into, value).string();
  };
  return key;
}

}  // namespace

void add_detector_keys(std::vector<Key>& k) {
  k.push_back(word(
      {"detectors", "kind", "",
       "ring: a circle, or a part of one, in the plane of x and z; arc: the same from +z, turning about z through its azimuths "
       "within "
       "a frame; sphere and hemisphere (the half at lesser z): rings of constant angle from z; plane and line: on z = 0, facing "
       "+z. "
       "All others face their centre."},
      detector_words, [](auto& c) -> auto& { return section<DetectorArray>(c).kind; }));
  k.push_back(integer(
      {"detectors", "count", "", "Detectors of a ring, an arc or a line, of each ring of a sphere, of each row of a plane.",
       "256; of spheres and planes 16"},
      within(1, 1024), [](auto& c) -> auto& { return section<DetectorArray>(c).count; }));
  k.push_back(integer_list(
      {"detectors", "counts", "", "Of each ring of a sphere or hemisphere, where they differ.", "count in each"}, within(1, 1024),
      1024, [](auto& c) -> auto& { return section<DetectorArray>(c).counts; }));
  k.push_back(integer(
      {"detectors", "rows", "", "Rings of a sphere or hemisphere, rows of a plane along y.", "16"}, within(1, 1024),
      [](auto& c) -> auto& { return section<DetectorArray>(c).rows; }));
  k.push_back(number(
      {"detectors", "radius", "m", "Of all but plane and line.", "0.04"}, within(1e-4, 10.0),
      [](auto& c) -> auto& { return section<DetectorArray>(c).radius; }));
  k.push_back(number_pair(
      {"detectors", "angles", "degrees",
       "Of the first and the last detector, of a sphere's rings likewise: from +z, of a ring towards +x, of the others towards "
       "the "
       "azimuth's direction.",
       "a whole ring from 0; else equal parts, with detectors in their middles"},
      within(-360.0, 360.0), [](auto& c) -> auto& { return section<DetectorArray>(c).angles; }));
  k.push_back(integer(
      {"detectors", "positions", "", "Azimuths of an arc within a frame, each a position with all wavelengths.", "90"},
      within(1, 256), [](auto& c) -> auto& { return section<DetectorArray>(c).positions; }));
  k.push_back(number_pair(
      {"detectors", "azimuths", "degrees", "Of the arc's first and last position, from +x towards +y.", "all around, from 0"},
      within(-360.0, 360.0), [](auto& c) -> auto& { return section<DetectorArray>(c).azimuths; }));
  k.push_back(number(
      {"detectors", "pitch", "m", "Distance of neighbours in a line or in a row of a plane.", "0.0005"}, within(1e-6, 0.1),
      [](auto& c) -> auto& { return section<DetectorArray>(c).pitch; }));
  k.push_back(number(
      {"detectors", "row_pitch", "m", "Distance of neighbouring rows of a plane.", "pitch"}, within(1e-6, 0.1),
      [](auto& c) -> auto& { return section<DetectorArray>(c).row_pitch; }));
  k.push_back(number_triple(
      {"detectors", "centre", "m", "Of all of them."}, within(-10.0, 10.0),
      [](auto& c) -> auto& { return section<DetectorArray>(c).centre; }));
  k.push_back(number(
      {"detectors", "element_width", "m",
       "Size along a ring, along an arc or along x; of a sphere along x so far as that is across the normal. 0 is a point."},
      within(0.0, 0.2), [](auto& c) -> auto& { return section<DetectorArray>(c).element_width; }));
  k.push_back(number(
      {"detectors", "element_length", "m", "Size across that. 0 is a point."}, within(0.0, 0.2),
      [](auto& c) -> auto& { return section<DetectorArray>(c).element_length; }));
}

void add_sound_keys(std::vector<Key>& k) {
  const Range place = within(-1e3, 1e3);
  k.push_back(number_rows<SoundBall>(
      {"simulator", "balls", "",
       "Balls in which light makes sound, for methods of optoacoustics: centre and radius in m, initial pressure in units of "
       "amplitude; the radius of the circle in the plane of x and z on which the ball goes round its centre in the course of the "
       "cycle, its whole turns and the part of a turn that it is ahead.",
       "none"},
      "[x, y, z, radius, amplitude], with an orbit, turns and a part of a turn behind", {5, 8}, 1000,
      [](auto& c) -> auto& { return section<SoundSection>(c).sources.balls; }, fill_ball));
  k.push_back(number_rows<SoundVessel>(
      {"simulator", "blood_vessels", "",
       "Rows of balls in which light makes sound: both ends and the radius in m, mean initial pressure along the axis, at most "
       "how "
       "far balls are apart in m (half the radius). Ends that meet make bent ones.",
       "none"},
      "[x, y, z, x, y, z, radius, amplitude] or with the spacing", {8, 9}, 1000,
      [](auto& c) -> auto& { return section<SoundSection>(c).sources.vessels; }, fill_vessel, place));
  k.push_back(number(
      {"simulator", "blur", "m",
       "Full width at half height of a Gaussian that blurs balls and blood vessels in space; 0: sharp."},
      within(0.0, 1.0), [](auto& c) -> auto& { return section<SoundSection>(c).sources.blur; }));
  k.push_back(number_list(
      {"simulator", "wavelengths", "m",
       "Of the light that comes one after the other, an event each. Empty: once, of unknown light."},
      within(1e-8, 1.0), most_wavelengths, [](auto& c) -> auto& { return section<SoundSection>(c).sources.wavelengths; }));
  k.push_back(number_list(
      {"simulator", "pulse_energies", "J",
       "Of the light at each wavelength, or one for all. Amplitudes are those at the first, others in proportion. Empty: unknown "
       "and "
       "equal."},
      within(1e-12, 1e3), most_wavelengths, [](auto& c) -> auto& { return section<SoundSection>(c).sources.pulse_energies; }));
  k.push_back(number_rows<std::vector<double>>(
      {"simulator", "ball_spectra", "",
       "Factors of the amplitude at each wavelength: a row for each of the balls, or one for all.", "1"},
      "[factor at each wavelength]", {1, most_wavelengths}, 1000,
      [](auto& c) -> auto& { return section<SoundSection>(c).sources.ball_spectra; }, fill_factors));
  k.push_back(number_rows<std::vector<double>>(
      {"simulator", "vessel_spectra", "", "The same of blood_vessels.", "1"}, "[factor at each wavelength]",
      {1, most_wavelengths}, 1000, [](auto& c) -> auto& { return section<SoundSection>(c).sources.vessel_spectra; },
      fill_factors));
  k.push_back(number_list(
      {"simulator", "ball_saturations", "",
       "Oxygen saturation of the balls, one each or one for all: they then take up light as blood does, and amplitudes are those "
       "of "
       "fully oxygenated blood at 800 nm. Empty: no blood."},
      within(0.0, 1.0), 1000, [](auto& c) -> auto& { return section<SoundSection>(c).sources.ball_saturations; }));
  k.push_back(number_list(
      {"simulator", "vessel_saturations", "", "The same of blood_vessels."}, within(0.0, 1.0), 1000,
      [](auto& c) -> auto& { return section<SoundSection>(c).sources.vessel_saturations; }));
  k.push_back(haemoglobin_key());
}

}  // namespace echoform
