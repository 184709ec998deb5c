// Keys of the simulated source: [simulator] and [detectors].
#include "simulators/simulator_keys.hpp"

#include "acquisition/words.hpp"
#include "config/key_types.hpp"
#include "simulators/simulator_section.hpp"

namespace echoform {
namespace {

using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table

constexpr auto spreading_words = make_words(std::pair{Spreading::cylindrical, std::string_view("cylindrical")},
                                            std::pair{Spreading::spherical, std::string_view("spherical")},
                                            std::pair{Spreading::none, std::string_view("none")});

constexpr auto transmit_words = make_words(
    std::pair{TransmitKind::elements, std::string_view("elements")}, std::pair{TransmitKind::plane, std::string_view("plane")},
    std::pair{TransmitKind::diverging, std::string_view("diverging")},
    std::pair{TransmitKind::focused, std::string_view("focused")}, std::pair{TransmitKind::beams, std::string_view("beams")},
    std::pair{TransmitKind::hadamard, std::string_view("hadamard")}, std::pair{TransmitKind::laws, std::string_view("laws")});
constexpr auto wave_medium_words =
    make_words(std::pair{WaveMedium::couplant, std::string_view("couplant")},
               std::pair{WaveMedium::longitudinal, std::string_view("L")}, std::pair{WaveMedium::shear, std::string_view("T")});

/// The name of a file. It is resolved once, when the key is read; a relative name counts from the configuration's folder.
template <class Get>
Key numbers_file(const Entry& entry, Get get) {
  Key key = text(entry, "", any_text, get);
  key.names_file = true;
  key.read = [get, expected = key.expected()](Configuration& into, const toml::node& node, std::string_view where) {
    const std::string name = read_text(node, where, expected);
    get(into) = name.empty() ? name : named_file(into, name).string();
  };
  return key;
}

Point first_three(std::span<const double> v) {
  return {Metres(v[0]), Metres(v[1]), Metres(v[2])};
}

void add_source_keys(std::vector<Key>& k) {
  k.push_back(integer(
      {"simulator", "elements", "", "Elements of the linear array, or of each row of a matrix array."}, within(1, 1024),
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.elements; }));
  k.push_back(number(
      {"simulator", "pitch", "m", "Distance of neighbouring element centres."}, within(1e-6, 0.1),
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.pitch; }));
  k.push_back(number(
      {"simulator", "element_width", "m", "Size of the elements along x, up to the pitch; 0 is a point."}, within(0.0, 0.1),
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.element_width; }));
  k.push_back(number(
      {"simulator", "radius", "m",
       "Of the arc of a curvilinear array, whose elements lie `pitch` apart along it, its middle foremost at z = 0; 0 is flat."},
      within(0.0, 10.0), [](auto& c) -> auto& { return section<SimulatorSection>(c).source.radius; }));
  k.push_back(integer(
      {"simulator", "rows", "", "Rows of elements, one behind the other along y: more than one make a matrix array."},
      within(1, 1024), [](auto& c) -> auto& { return section<SimulatorSection>(c).source.rows; }));
  k.push_back(number(
      {"simulator", "row_pitch", "m", "Distance of neighbouring rows.", "pitch"}, within(1e-6, 0.1),
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.row_pitch; }));
  k.push_back(number(
      {"simulator", "element_length", "m", "Size of the elements along y, in a matrix up to the pitch of rows; 0 is a point."},
      within(0.0, 0.1), [](auto& c) -> auto& { return section<SimulatorSection>(c).source.element_length; }));
  k.push_back(number(
      {"simulator", "centre_frequency", "Hz", "Of the pulse."}, within(1e3, 1e9),
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.centre_frequency; }));
  k.push_back(number(
      {"simulator", "fractional_bandwidth", "", "-6 dB bandwidth of the pulse over its centre frequency."}, within(0.02, 2.0),
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.fractional_bandwidth; }));
  k.push_back(integer(
      {"simulator", "samples", "", "Per A-scan."}, within(2, 1 << 20),
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.samples; }));
  k.push_back(number(
      {"simulator", "sample_rate", "Hz", "Samples per second; more than twice the centre frequency."}, within(1.0, 1e12),
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.sample_rate; }));
  k.push_back(number(
      {"simulator", "start_time", "s", "Of the first sample, after the pulse's emission."}, within(-0.999, 0.999),
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.start_time; }));
  k.push_back(number(
      {"simulator", "time_offset", "s", "Delay of the samples that the source states and that imaging takes off again."},
      within(-0.999, 0.999), [](auto& c) -> auto& { return section<SimulatorSection>(c).source.time_offset; }));
  k.push_back(word(
      {"simulator", "matrix", "", "Which pairs a frame holds."}, words::matrix_kind,
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.matrix; }));
  k.push_back(word(
      {"simulator", "transmit", "",
       "What fires in an event: one element after the other, plane waves, waves that diverge from virtual sources, focused "
       "beams, the beams of scan lines (each with an origin, angles and a focus), "
       "the rows of a Hadamard matrix over the elements, or what the files of delays and weights say (laws)."},
      transmit_words, [](auto& c) -> auto& { return section<SimulatorSection>(c).source.transmit.kind; }));
  k.push_back(integer(
      {"simulator", "events", "", "Plane waves, virtual sources or foci of a frame, equally spaced from first to last.", "16"},
      within(1, 4096), [](auto& c) -> auto& { return section<SimulatorSection>(c).source.transmit.events; }));
  k.push_back(number_pair(
      {"simulator", "angles", "degrees",
       "Of the first and the last wave: from the array's normal towards +x. Foci and virtual sources without angles are spread "
       "along the array.",
       "plane waves -20 to 20, in a couplant -10 to 10"},
      within(-89.0, 89.0), [](auto& c) -> auto& { return section<SimulatorSection>(c).source.transmit.angles; }));
  k.push_back(number(
      {"simulator", "focus", "m",
       "Distance of foci in front of the array, or of virtual sources behind it. Of beams along each: inf for plane waves, below "
       "0 "
       "for virtual sources.",
       "the array's length, behind it half of that"},
      or_infinite(within(-10.0, 10.0)), [](auto& c) -> auto& { return section<SimulatorSection>(c).source.transmit.focus; }));
  k.push_back(word(
      {"simulator", "wave_medium", "",
       "Where angles, foci and virtual sources are true, by whose velocity delays are made: the couplant, or the part for mode L "
       "or "
       "T, with a couplant below a flat surface parallel to the array.",
       "couplant where there is one, else L"},
      wave_medium_words, [](auto& c) -> auto& { return section<SimulatorSection>(c).source.transmit.medium; }));
  k.push_back(integer(
      {"simulator", "aperture", "",
       "Neighbouring elements that fire for each focus or virtual source, where it lies along the array.", "all elements"},
      within(1, 1024), [](auto& c) -> auto& { return section<SimulatorSection>(c).source.transmit.aperture; }));
  k.push_back(number_pair(
      {"simulator", "origins", "m",
       "Of beams with an aperture: where along the array, from its middle, the first and the last begin, each at the nearest "
       "middle "
       "of so many neighbours.",
       "where whole apertures fit; with angles the middle"},
      within(-10.0, 10.0), [](auto& c) -> auto& { return section<SimulatorSection>(c).source.transmit.beams.origins; }));
  k.push_back(number_pair(
      {"simulator", "angles_across", "degrees", "Of beams of a matrix array: the first and the last angle towards +y.", "0"},
      within(-89.0, 89.0), [](auto& c) -> auto& { return section<SimulatorSection>(c).source.transmit.beams.angles_across; }));
  k.push_back(integer(
      {"simulator", "events_across", "", "Of beams of a matrix array: how many angles across, each with all of `events`.", "1"},
      within(1, 4096), [](auto& c) -> auto& { return section<SimulatorSection>(c).source.transmit.beams.across; }));
  k.push_back(number_rows<ScanBeam>(
      {"simulator", "beams", "",
       "Beams one by one, in place of ranges: origin in m along the array, angle and angle across in degrees, focus in m.",
       "none"},
      "[origin, angle, focus] or [origin, angle, angle across, focus]", {3, 4}, 4096,
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.transmit.beams.list; },
      [](ScanBeam& beam, std::span<const double> v) {
        beam.origin = Metres(v[0]);
        beam.angle = v[1];
        beam.angle_across = v.size() > 3 ? v[2] : 0.0;
        beam.focus = Metres(v.back());
      },
      or_infinite(Range{})));
  k.push_back(numbers_file(
      {"simulator", "delays", "",
       "Of laws: a CSV file with a line an event and in it the delay of each element in s; relative to the configuration's "
       "folder."},
      [](auto& c) -> auto& { return section<SimulatorSection>(c).delays; }));
  k.push_back(numbers_file(
      {"simulator", "weights", "",
       "Of laws: a CSV file with a line an event and in it the weight of each element, where 0 is silent; without delays, "
       "weights of "
       "1, -1 and 0 are rows of a code."},
      [](auto& c) -> auto& { return section<SimulatorSection>(c).weights; }));
  k.push_back(integer_list(
      {"simulator", "fire", "",
       "Elements that transmit, from 0: one after the other in this order, or all in every event. Empty: all elements."},
      within(0, 1023), 1024, [](auto& c) -> auto& { return section<SimulatorSection>(c).source.transmit.fire; }));
  k.push_back(integer(
      {"simulator", "repeats", "", "How often each wave or beam is fired, for what moves between them."}, within(1, 1024),
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.transmit.repeats; }));
  k.push_back(boolean(
      {"simulator", "repeats_in_turn", "",
       "Whether all waves of a frame are fired before the first is fired again, or each as often as `repeats` says in a row."},
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.transmit.repeats_in_turn; }));
  k.push_back(integer_list(
      {"simulator", "receive", "", "Elements that record every event, from 0. Empty: all elements."}, within(0, 1023), 1024,
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.transmit.receive; }));
  k.push_back(integer(
      {"simulator", "receive_aperture", "", "Neighbouring elements that record an event, about the middle of those that fire.",
       "all elements"},
      within(1, 1024), [](auto& c) -> auto& { return section<SimulatorSection>(c).source.transmit.receive_aperture; }));
  k.push_back(word(
      {"simulator", "encoding", "", "How samples are sent."}, words::sample_encoding,
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.encoding; }));
  k.push_back(boolean(
      {"simulator", "quantised", "", "Whether a 12-bit converter digitises the samples; integer encodings need it."},
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.quantised; }));
  k.push_back(number(
      {"simulator", "longitudinal_velocity", "m/s", "Speed of longitudinal waves in the simulated part.",
       "[material], else 6320"},
      within(100.0, 20000.0), [](auto& c) -> auto& { return section<SimulatorSection>(c).longitudinal_velocity; }));
  k.push_back(number(
      {"simulator", "shear_velocity", "m/s", "Speed of shear waves in the simulated part.", "[material], else 3130"},
      within(100.0, 20000.0), [](auto& c) -> auto& { return section<SimulatorSection>(c).shear_velocity; }));
  k.push_back(number(
      {"simulator", "density", "kg/m^3", "Of the part: how much goes through its surface."}, within(1.0, 1e5),
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.scene.density; }));
  k.push_back(number(
      {"simulator", "couplant_density", "kg/m^3", "Of the couplant."}, within(1.0, 1e5),
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.scene.couplant_density; }));
  k.push_back(text_list(
      {"simulator", "modes", "", "Waves in the part: \"L\", \"T\". A scatterer turns each into each.",
       "L; with [couplant] or [backwall] L and T"},
      1, 2, [](auto& c) -> auto& { return section<SimulatorSection>(c).modes; }));
  k.push_back(integer(
      {"simulator", "skips", "",
       "How often ways to scatterers are reflected at most on one side: 0 straight, 1 also by way of [backwall], 2 also "
       "from there by way of the front surface from below.",
       "what [imaging] views need, at least 1"},
      within(0, 2), [](auto& c) -> auto& { return section<SimulatorSection>(c).skips; }));
  k.push_back(boolean(
      {"simulator", "wall_echoes", "", "Whether the front surface below a couplant and [backwall] echo themselves."},
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.scene.wall_echoes; }));
  k.push_back(word(
      {"simulator", "spreading", "", "How echoes weaken with distance."}, spreading_words,
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.spreading; }));
  k.push_back(boolean(
      {"simulator", "directivity", "", "Whether the elements' width makes them directional."},
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.directivity; }));
  k.push_back(integer_list(
      {"simulator", "dead_elements", "", "Elements that give zeros, from 0."}, within(0, 1023), 1024,
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.dead_elements; }));
  k.push_back(number(
      {"simulator", "full_scale", "",
       "Amplitude at which the converter saturates, for each element that fires at once; smaller is more gain."},
      within(1e-12, 1e6), [](auto& c) -> auto& { return section<SimulatorSection>(c).source.full_scale; }));
  k.push_back(number(
      {"simulator", "noise_rms", "",
       "Amplitude of the noise of each A-scan; a scatterer of reflectivity 1 at 10 mm below an element echoes with 1."},
      within(0.0, 1e6), [](auto& c) -> auto& { return section<SimulatorSection>(c).source.noise_rms; }));
  k.push_back(integer(
      {"simulator", "seed", "", "Of the noise and of the place of one of the demo part's scatterers."}, within(0, 9.0e15),
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.seed; }));
  k.push_back(integer(
      {"simulator", "cycle_frames", "",
       "Frames that are synthesised ahead and sent in turn: one period of the motion. No more than fit into 512 MiB."},
      within(1, 4096), [](auto& c) -> auto& { return section<SimulatorSection>(c).source.cycle_frames; }));
  k.push_back(number_rows<PointScatterer>(
      {"simulator", "points", "m", "Point scatterers.", "the demo's part"}, "[x, z, reflectivity] or [x, y, z, reflectivity]",
      {3, 4}, 1000, [](auto& c) -> auto& { return section<SimulatorSection>(c).points; },
      [](PointScatterer& point, std::span<const double> v) {
        point.centre = {Metres(v[0]), Metres(v.size() > 3 ? v[1] : 0.0), Metres(v[v.size() - 2])};
        point.reflectivity = v.back();
      }));
  k.push_back(number_rows<SideDrilledHole>(
      {"simulator", "holes", "m", "Side-drilled holes.", "the demo's part"}, "[x, z, radius, reflectivity]", {4, 4}, 1000,
      [](auto& c) -> auto& { return section<SimulatorSection>(c).holes; },
      [](SideDrilledHole& hole, std::span<const double> v) {
        hole.centre = {Metres(v[0]), Metres(0.0), Metres(v[1])};
        hole.radius = Metres(v[2]);
        hole.reflectivity = v[3];
      }));
  k.push_back(number_rows<Body>(
      {"simulator", "spheres", "m", "Balls.", "the demo's part"}, "[x, y, z, radius, reflectivity]", {5, 5}, 1000,
      [](auto& c) -> auto& { return section<SimulatorSection>(c).spheres; },
      [](Body& body, std::span<const double> v) {
        body.kind = BodyKind::sphere;
        body.centre = first_three(v);
        body.radius = Metres(v[3]);
        body.reflectivity = v[4];
      }));
  k.push_back(number_rows<Body>(
      {"simulator", "cylinders", "m, degrees",
       "Cylinders, by their sides; turn and dip are those of the axis, which lies along y.", "the demo's part"},
      "[x, y, z, radius, length, turn, dip, reflectivity]", {8, 8}, 1000,
      [](auto& c) -> auto& { return section<SimulatorSection>(c).cylinders; },
      [](Body& body, std::span<const double> v) {
        body.kind = BodyKind::cylinder;
        body.centre = first_three(v);
        body.radius = Metres(v[3]);
        body.length = Metres(v[4]);
        body.turn = v[5];
        body.dip = v[6];
        body.reflectivity = v[7];
      }));
  k.push_back(number_rows<Body>(
      {"simulator", "discs", "m, degrees",
       "Round flat reflectors, as the end of a flat-bottomed hole: level ones, going down along x by dip where they are not "
       "turned about z.",
       "the demo's part"},
      "[x, y, z, radius, turn, dip, reflectivity]", {7, 7}, 1000,
      [](auto& c) -> auto& { return section<SimulatorSection>(c).discs; },
      [](Body& body, std::span<const double> v) {
        body.kind = BodyKind::disc;
        body.centre = first_three(v);
        body.radius = Metres(v[3]);
        body.turn = v[4];
        body.dip = v[5];
        body.reflectivity = v[6];
      }));
  k.push_back(number_rows<Body>(
      {"simulator", "plates", "m, degrees",
       "Rectangular flat reflectors, as cracks: length along y, height along x where they are not turned about z; dip = 90 is "
       "upright.",
       "the demo's part"},
      "[x, y, z, length, height, turn, dip, reflectivity]", {8, 8}, 1000,
      [](auto& c) -> auto& { return section<SimulatorSection>(c).plates; },
      [](Body& body, std::span<const double> v) {
        body.kind = BodyKind::plate;
        body.centre = first_three(v);
        body.length = Metres(v[3]);
        body.height = Metres(v[4]);
        body.turn = v[5];
        body.dip = v[6];
        body.reflectivity = v[7];
      }));
  k.push_back(number(
      {"simulator", "backwall", "m",
       "Depth of a backwall that echoes straight rays; with a couplant or shear waves see [backwall].", "the demo's part"},
      within(1e-6, 10.0), [](auto& c) -> auto& { return section<SimulatorSection>(c).backwall; }));
}

}  // namespace

KeyGroup simulator_keys() {
  KeyGroup group;
  group.sections = {
      {"detectors", "What hears the sound that light makes, of the simulated source (docs/simulator.md)."},
      {"simulator",
       "The simulated source, of `echoform simulate` and `echoform demo`. It takes [couplant], [surface], [backwall], [material] "
       "and "
       "[probe] stand_off, angle and x from the same file (docs/simulator.md)."},
  };
  add_detector_keys(group.keys);
  add_source_keys(group.keys);
  add_tissue_keys(group.keys);
  add_sound_keys(group.keys);
  add_encoder_keys(group.keys);
  return group;
}

}  // namespace echoform
