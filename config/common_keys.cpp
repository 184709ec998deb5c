#include "config/common_keys.hpp"

#include <span>

#include "acquisition/words.hpp"
#include "config/key_types.hpp"

namespace echoform {

std::vector<Section> common_sections() {
  return {
      {"material", "Wave speeds in the inspected part. They replace what the recording or the sender states."},
      {"couplant", "What lies between the probe and the part, for `delay_law = \"immersion\"` (docs/views.md)."},
      {"surface",
       "The part's front surface, for `delay_law = \"immersion\"` and for views that skip to and fro; without it the plane z = "
       "0. "
       "Keys are those of its kind."},
      {"backwall", "The part's backwall, from which views that skip are reflected. Keys are those of its kind."},
      {"grid",
       "Where the pixels are. x runs along the array, z into the part; [first, last] name pixel centres. What is absent "
       "follows from the data: x from the aperture, z from the gate and the velocity."},
      {"filter",
       "What is taken away from A-scans before images are made of them (docs/filters.md). It applies to whole A-scans, or to the "
       "samples that are imaged, whatever the method."},
      {"imaging", "How images are formed, and on what."},
      {"output", "From the envelope to the 8-bit display image."},
      {"display", "The grid of the display image, where it is not the imaging grid."},
      {"scan",
       "One image of many positions: where the probe is by the encoder's count that comes with each frame, and what the images "
       "of "
       "positions become (docs/scans.md)."},
      {"probe", "The probe. These replace what the recording or the sender states."},
      {"acquisition",
       "Sampling, and positions of the probe within a frame (docs/scans.md). These replace what the recording or the sender "
       "states."},
      {"detectors", "What hears the sound that light makes, of the simulated source (docs/simulator.md)."},
      {"input", "The doors for acquisition frames, of `echoform serve`, `echoform demo` and `echoform record`."},
      {"input.micropulse",
       "A Peak MicroPulse that the server connects to, sets up and reads (docs/micropulse.md), of `echoform serve` and `echoform "
       "record`; and what `echoform instrument micropulse` is set up for."},
      {"input.us_lab4a",
       "An array behind a server of us_lab4a's protocol that the server connects to and asks for each shot (docs/us_lab4a.md), "
       "of `echoform "
       "serve` and `echoform record`."},
      {"server", "What is published and where, of `echoform serve` and `echoform demo`."},
      {"curve",
       "CURVE, ZeroMQ's encryption and authentication, on every ZeroMQ socket of the server (docs/security.md). Names of files "
       "are relative to the configuration's folder."},
      {"openigtlink",
       "Images for 3D Slicer, PLUS and others that speak OpenIGTLink (docs/openigtlink.md), of `echoform serve` and `echoform "
       "demo`."},
      {"dicom",
       "What .dcm files of `echoform image` show and what archives file them under (docs/command-line.md): DICOM secondary "
       "captures, or DICONDE's, whose patient is a component."},
      {"recorder", "Raw frames into files while they are imaged, of `echoform serve` and `echoform demo`."},
      {"reconstruction", "What `echoform reconstruct` solves, and how (docs/reconstruct.md)."},
      {"simulator",
       "The simulated source, of `echoform simulate` and `echoform demo`. It takes [couplant], [surface], [backwall], [material] "
       "and "
       "[probe] stand_off, angle and x from the same file (docs/simulator.md)."},
  };
}

namespace {

using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table

constexpr auto backend_words =
    make_words(std::pair{BackendWish::automatic, std::string_view("auto")}, std::pair{BackendWish::cpu, std::string_view("cpu")},
               std::pair{BackendWish::cuda, std::string_view("cuda")});
constexpr auto half_words = make_words(std::pair{MatrixKind::half, std::string_view("half")},
                                       std::pair{MatrixKind::half_summed, std::string_view("half_summed")});
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

constexpr std::string_view from_data = "from the data";

void add_imaging_keys(std::vector<Key>& k) {
  const Range velocity = within(1.0, 20000.0);
  const Range place = within(-10.0, 10.0);
  k.push_back(number(
      {"material", "longitudinal_velocity", "m/s", "Speed of longitudinal waves.", from_data, LiveEffect::imaging}, velocity,
      [](auto& c) -> auto& { return c.material.longitudinal_velocity; }));
  k.push_back(number(
      {"material", "shear_velocity", "m/s", "Speed of shear waves; needed by views with T.", from_data, LiveEffect::imaging},
      velocity, [](auto& c) -> auto& { return c.material.shear_velocity; }));

  k.push_back(number_pair(
      {"grid", "x", "m", "First and last pixel centre along the array.", "the aperture", LiveEffect::imaging}, place,
      [](auto& c) -> auto& { return c.grid.x; }));
  k.push_back(number_pair(
      {"grid", "z", "m", "First and last pixel centre into the part.", "the gate", LiveEffect::imaging}, place,
      [](auto& c) -> auto& { return c.grid.z; }));
  k.push_back(number_or_pair(
      {"grid", "y", "m", "Where the image plane lies across the array; of a volume, its first and last pixel centre.",
       "0, or the aperture for a volume", LiveEffect::imaging},
      place, [](auto& c) -> auto& { return c.grid.y; }));
  k.push_back(grid_pixels(
      {"grid", "pixels", "", "Numbers of pixels [nx, nz]; of a volume [nx, ny, nz].", {}, LiveEffect::imaging}, within(1, 65536),
      [](auto& c) -> auto& { return c.grid.pixels; }));

  k.push_back(word(
      {"imaging", "backend", "", "Where images are formed; auto takes a GPU where there is one."}, backend_words,
      [](auto& c) -> auto& { return c.imaging.backend; }));
  k.push_back(integer(
      {"imaging", "device", "", "GPU of the CUDA backend, as `echoform info` counts them."}, within(0, 63),
      [](auto& c) -> auto& { return c.imaging.device; }));
  k.push_back(number(
      {"imaging", "gpu_timeout", "s", "A GPU that takes longer for one step of its work is given up, and the program ends."},
      within(0.1, 3600.0), [](auto& c) -> auto& { return c.imaging.gpu_timeout; }));
  k.push_back(integer(
      {"imaging", "threads", "", "Threads of the CPU backend; 0 takes every processor that the process may use."},
      within(0, 1024), [](auto& c) -> auto& { return c.imaging.threads; }));
  k.push_back(boolean(
      {"imaging", "pin_threads", "", "Whether each thread of the CPU backend stays on one processor."},
      [](auto& c) -> auto& { return c.imaging.pin_threads; }));
  k.push_back(number(
      {"imaging", "memory_limit", "bytes",
       "Images and delay tables that need more of the host's memory are refused; those on a GPU go by what it has free. `image` "
       "then takes the frame group by group. `image` and `reconstruct` count all that they hold: the program itself, samples, "
       "what reading takes, and files while they are written.",
       "three quarters of the machine's memory"},
      above(0.0, 1e15), [](auto& c) -> auto& { return c.imaging.memory_limit; }));
}

void add_data_keys(std::vector<Key>& k) {
  k.push_back(number(
      {"probe", "pitch", "m", "Makes the elements a linear array of this pitch, centred on x = 0 at z = 0.", from_data},
      within(1e-6, 1.0), [](auto& c) -> auto& { return c.probe.pitch; }));
  k.push_back(number(
      {"probe", "radius", "m",
       "With `pitch`: the elements lie on an arc of this radius, their normals outwards; its middle is foremost, at x = z = 0.",
       "none: a linear array"},
      within(1e-4, 10.0), [](auto& c) -> auto& { return c.probe.radius; }));
  k.push_back(number(
      {"probe", "stand_off", "m",
       "Height of the aperture's centre above z = 0, whatever the data says: it moves to z = -stand_off.", from_data,
       LiveEffect::imaging},
      within(0.0, 10.0), [](auto& c) -> auto& { return c.probe.stand_off; }));
  k.push_back(number(
      {"probe", "angle", "degrees",
       "Turns the elements about the aperture's centre, by this beside the tilt that the data has: the end at greater x goes "
       "down.",
       from_data, LiveEffect::imaging},
      within(-80.0, 80.0), [](auto& c) -> auto& { return c.probe.angle; }));
  k.push_back(number(
      {"probe", "x", "m", "Where the aperture's centre is along x, whatever the data says.", from_data, LiveEffect::imaging},
      within(-10.0, 10.0), [](auto& c) -> auto& { return c.probe.x; }));
  k.push_back(number(
      {"probe", "element_width", "m", "Size of the elements along x; 0 is a point.", from_data}, within(0.0, 1.0),
      [](auto& c) -> auto& { return c.probe.element_width; }));
  k.push_back(number(
      {"probe", "element_length", "m", "Size of the elements along y; 0 is unknown.", from_data}, within(0.0, 1.0),
      [](auto& c) -> auto& { return c.probe.element_length; }));
  k.push_back(boolean(
      {"probe",
       "reverse_normals",
       "",
       "Elements look the opposite way of what the data says: of recordings of sound that light makes whose orientations point "
       "out of the detectors' backs.",
       {},
       LiveEffect::imaging},
      [](auto& c) -> auto& { return c.probe.reverse_normals; }));
  k.push_back(number_triple(
      {"probe", "normal", "", "Which way all elements look, as a direction of any length: [0, 0, 1] is along +z.", from_data,
       LiveEffect::imaging},
      within(-1e6, 1e6), [](auto& c) -> auto& { return c.probe.normal; }));
  k.push_back(number(
      {"probe", "centre_frequency", "Hz", "Centre frequency of the pulse.", from_data}, within(1.0, 1e9),
      [](auto& c) -> auto& { return c.probe.centre_frequency; }));
  k.push_back(number(
      {"probe", "bandwidth", "Hz", "-6 dB bandwidth of the pulse.", from_data}, within(1.0, 1e9),
      [](auto& c) -> auto& { return c.probe.bandwidth; }));
  k.push_back(integer_list(
      {"probe", "dead_elements", "", "Elements whose A-scans count as zero, from 0.", from_data}, within(0, 1023), 1024,
      [](auto& c) -> auto& { return c.probe.dead_elements; }));

  k.push_back(number(
      {"acquisition", "sample_rate", "Hz", "Samples per second.", from_data}, within(1.0, 1e12),
      [](auto& c) -> auto& { return c.acquisition.sample_rate; }));
  k.push_back(number(
      {"acquisition", "start_time", "s", "Of the first sample, after the pulse's emission.", from_data}, within(-0.999, 0.999),
      [](auto& c) -> auto& { return c.acquisition.start_time; }));
  k.push_back(number(
      {"acquisition", "time_offset", "s",
       "Taken from the time of every sample: delay of the pulse's peak and of the electronics.", from_data, LiveEffect::imaging},
      within(-0.999, 0.999), [](auto& c) -> auto& { return c.acquisition.time_offset; }));
  k.push_back(number(
      {"acquisition", "sample_scale", "",
       "Amplitude of one unit of a sample, whatever its encoding; replaces the one that data state.", from_data},
      within(1e-30, 1e30), [](auto& c) -> auto& { return c.acquisition.sample_scale; }));
  k.push_back(word(
      {"acquisition", "matrix", "", "Of a half matrix: whether its off-diagonal A-scans are already sums of both directions.",
       from_data},
      half_words, [](auto& c) -> auto& { return c.acquisition.matrix; }));
  k.push_back(number_rows<std::vector<double>>(
      {"acquisition", "positions", "m",
       "Positions from which the probe fires within one frame, summed coherently on one grid: where the origin of its "
       "coordinates "
       "lies in the part, and, where it is turned, the directions of its x and of its y there. The simulated source fires from "
       "them; of data with as many positions they replace what is stated.",
       from_data},
      "[x, y, z] or [x, y, z, and the directions of x and of y]", {3, 9}, 256,
      [](auto& c) -> auto& { return c.acquisition.positions; },
      [](std::vector<double>& row, std::span<const double> values) { row.assign(values.begin(), values.end()); }));
  k.push_back(integer(
      {"acquisition", "position_count", "",
       "Such positions on a line, in place of a list: position 0 is where [probe] and the data place the probe.", from_data},
      within(1, 256), [](auto& c) -> auto& { return c.acquisition.position_count; }));
  k.push_back(number(
      {"acquisition", "position_step", "m", "Of a line of positions: the way from one to the next.", "none"}, within(-10.0, 10.0),
      [](auto& c) -> auto& { return c.acquisition.position_step; }));
  k.back().only_where = "acquisition.position_count";
  k.push_back(number_triple(
      {"acquisition", "position_direction", "", "Of a line of positions: where it leads; of any length."}, within(-1e6, 1e6),
      [](auto& c) -> auto& { return c.acquisition.position_direction; }));
  k.back().only_where = "acquisition.position_count";
}

void add_server_keys(std::vector<Key>& k) {
  k.push_back(text(
      {"server", "name", "", "What streams are called: NAME carries the envelope, NAME.display the 8-bit image."}, "", not_empty,
      [](auto& c) -> auto& { return c.server.name; }));
  k.push_back(text(
      {"server", "images", "", "Where image subscribers connect (ZeroMQ PUB); port 0 takes a free one."}, "ADDRESS:PORT",
      address_port, [](auto& c) -> auto& { return c.server.images; }));
  k.push_back(text(
      {"server", "telemetry", "", "Where telemetry subscribers connect (ZeroMQ PUB); port 0 takes a free one."}, "ADDRESS:PORT",
      address_port, [](auto& c) -> auto& { return c.server.telemetry; }));
  k.push_back(text(
      {"server", "control", "", "Where live control is asked (ZeroMQ REP); port 0 takes a free one, empty closes it."},
      "ADDRESS:PORT or empty", address_port_or_none, [](auto& c) -> auto& { return c.server.control; }));
  k.push_back(text(
      {"server", "web", "", "Where browsers connect: the viewer page, its image feed and /metrics; port 0 takes a free one."},
      "ADDRESS:PORT", address_port, [](auto& c) -> auto& { return c.server.web; }));
  k.push_back(text_list(
      {"server", "web_host_names", "",
       "Names by which browsers may ask for the page, besides numeric addresses, localhost and this host's name."},
      0, 64, [](auto& c) -> auto& { return c.server.web_host_names; }));
  k.push_back(integer(
      {"server", "max_web_connections", "", "Web connections at once."}, within(1, 4096),
      [](auto& c) -> auto& { return c.server.max_web_connections; }));
  k.push_back(integer(
      {"server", "max_viewers", "", "Web viewers at once."}, within(1, 1024),
      [](auto& c) -> auto& { return c.server.max_viewers; }));
  k.push_back(integer(
      {"server", "subscriber_bytes", "bytes", "Memory that images waiting for one subscriber may take; two always wait."},
      within(1, 1 << 30), [](auto& c) -> auto& { return c.server.subscriber_bytes; }));
  k.push_back(number(
      {"server", "telemetry_interval", "s", "Time between telemetry messages."}, within(0.05, 3600.0),
      [](auto& c) -> auto& { return c.server.telemetry_interval; }));
}

/// The name of a file, found once, from the configuration's folder.
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

void add_simulator_keys(std::vector<Key>& k) {
  k.push_back(integer(
      {"simulator", "elements", "", "Elements of the linear array, or of each row of a matrix array."}, within(1, 1024),
      [](auto& c) -> auto& { return c.simulator.source.elements; }));
  k.push_back(number(
      {"simulator", "pitch", "m", "Distance of neighbouring element centres."}, within(1e-6, 0.1),
      [](auto& c) -> auto& { return c.simulator.source.pitch; }));
  k.push_back(number(
      {"simulator", "element_width", "m", "Size of the elements along x, up to the pitch; 0 is a point."}, within(0.0, 0.1),
      [](auto& c) -> auto& { return c.simulator.source.element_width; }));
  k.push_back(number(
      {"simulator", "radius", "m",
       "Of the arc of a curvilinear array, whose elements lie `pitch` apart along it, its middle foremost at z = 0; 0 is flat."},
      within(0.0, 10.0), [](auto& c) -> auto& { return c.simulator.source.radius; }));
  k.push_back(integer(
      {"simulator", "rows", "", "Rows of elements, one behind the other along y: more than one make a matrix array."},
      within(1, 1024), [](auto& c) -> auto& { return c.simulator.source.rows; }));
  k.push_back(number(
      {"simulator", "row_pitch", "m", "Distance of neighbouring rows.", "pitch"}, within(1e-6, 0.1),
      [](auto& c) -> auto& { return c.simulator.source.row_pitch; }));
  k.push_back(number(
      {"simulator", "element_length", "m", "Size of the elements along y, in a matrix up to the pitch of rows; 0 is a point."},
      within(0.0, 0.1), [](auto& c) -> auto& { return c.simulator.source.element_length; }));
  k.push_back(number(
      {"simulator", "centre_frequency", "Hz", "Of the pulse."}, within(1e3, 1e9),
      [](auto& c) -> auto& { return c.simulator.source.centre_frequency; }));
  k.push_back(number(
      {"simulator", "fractional_bandwidth", "", "-6 dB bandwidth of the pulse over its centre frequency."}, within(0.02, 2.0),
      [](auto& c) -> auto& { return c.simulator.source.fractional_bandwidth; }));
  k.push_back(integer(
      {"simulator", "samples", "", "Per A-scan."}, within(2, 1 << 20),
      [](auto& c) -> auto& { return c.simulator.source.samples; }));
  k.push_back(number(
      {"simulator", "sample_rate", "Hz", "Samples per second; more than twice the centre frequency."}, within(1.0, 1e12),
      [](auto& c) -> auto& { return c.simulator.source.sample_rate; }));
  k.push_back(number(
      {"simulator", "start_time", "s", "Of the first sample, after the pulse's emission."}, within(-0.999, 0.999),
      [](auto& c) -> auto& { return c.simulator.source.start_time; }));
  k.push_back(number(
      {"simulator", "time_offset", "s", "Delay of the samples that the source states and that imaging takes off again."},
      within(-0.999, 0.999), [](auto& c) -> auto& { return c.simulator.source.time_offset; }));
  k.push_back(word(
      {"simulator", "matrix", "", "Which pairs a frame holds."}, words::matrix_kind,
      [](auto& c) -> auto& { return c.simulator.source.matrix; }));
  k.push_back(word(
      {"simulator", "transmit", "",
       "What fires in an event: one element after the other, plane waves, waves that diverge from virtual sources, focused "
       "beams, the beams of scan lines (each with an origin, angles and a focus), "
       "the rows of a Hadamard matrix over the elements, or what the files of delays and weights say (laws)."},
      transmit_words, [](auto& c) -> auto& { return c.simulator.source.transmit.kind; }));
  k.push_back(integer(
      {"simulator", "events", "", "Plane waves, virtual sources or foci of a frame, equally spaced from first to last.", "16"},
      within(1, 4096), [](auto& c) -> auto& { return c.simulator.source.transmit.events; }));
  k.push_back(number_pair(
      {"simulator", "angles", "degrees",
       "Of the first and the last wave: from the array's normal towards +x. Foci and virtual sources without angles are spread "
       "along the array.",
       "plane waves -20 to 20, in a couplant -10 to 10"},
      within(-89.0, 89.0), [](auto& c) -> auto& { return c.simulator.source.transmit.angles; }));
  k.push_back(number(
      {"simulator", "focus", "m",
       "Distance of foci in front of the array, or of virtual sources behind it. Of beams along each: inf for plane waves, below "
       "0 "
       "for virtual sources.",
       "the array's length, behind it half of that"},
      or_infinite(within(-10.0, 10.0)), [](auto& c) -> auto& { return c.simulator.source.transmit.focus; }));
  k.push_back(word(
      {"simulator", "wave_medium", "",
       "Where angles, foci and virtual sources are true, by whose velocity delays are made: the couplant, or the part for mode L "
       "or "
       "T, with a couplant below a flat surface parallel to the array.",
       "couplant where there is one, else L"},
      wave_medium_words, [](auto& c) -> auto& { return c.simulator.source.transmit.medium; }));
  k.push_back(integer(
      {"simulator", "aperture", "",
       "Neighbouring elements that fire for each focus or virtual source, where it lies along the array.", "all elements"},
      within(1, 1024), [](auto& c) -> auto& { return c.simulator.source.transmit.aperture; }));
  k.push_back(number_pair(
      {"simulator", "origins", "m",
       "Of beams with an aperture: where along the array, from its middle, the first and the last begin, each at the nearest "
       "middle "
       "of so many neighbours.",
       "where whole apertures fit; with angles the middle"},
      within(-10.0, 10.0), [](auto& c) -> auto& { return c.simulator.source.transmit.beams.origins; }));
  k.push_back(number_pair(
      {"simulator", "angles_across", "degrees", "Of beams of a matrix array: the first and the last angle towards +y.", "0"},
      within(-89.0, 89.0), [](auto& c) -> auto& { return c.simulator.source.transmit.beams.angles_across; }));
  k.push_back(integer(
      {"simulator", "events_across", "", "Of beams of a matrix array: how many angles across, each with all of `events`.", "1"},
      within(1, 4096), [](auto& c) -> auto& { return c.simulator.source.transmit.beams.across; }));
  k.push_back(number_rows<ScanBeam>(
      {"simulator", "beams", "",
       "Beams one by one, in place of ranges: origin in m along the array, angle and angle across in degrees, focus in m.",
       "none"},
      "[origin, angle, focus] or [origin, angle, angle across, focus]", {3, 4}, 4096,
      [](auto& c) -> auto& { return c.simulator.source.transmit.beams.list; },
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
      [](auto& c) -> auto& { return c.simulator.delays; }));
  k.push_back(numbers_file(
      {"simulator", "weights", "",
       "Of laws: a CSV file with a line an event and in it the weight of each element, where 0 is silent; without delays, "
       "weights of "
       "1, -1 and 0 are rows of a code."},
      [](auto& c) -> auto& { return c.simulator.weights; }));
  k.push_back(integer_list(
      {"simulator", "fire", "",
       "Elements that transmit, from 0: one after the other in this order, or all in every event. Empty: all elements."},
      within(0, 1023), 1024, [](auto& c) -> auto& { return c.simulator.source.transmit.fire; }));
  k.push_back(integer(
      {"simulator", "repeats", "", "How often each wave or beam is fired, for what moves between them."}, within(1, 1024),
      [](auto& c) -> auto& { return c.simulator.source.transmit.repeats; }));
  k.push_back(boolean(
      {"simulator", "repeats_in_turn", "",
       "Whether all waves of a frame are fired before the first is fired again, or each as often as `repeats` says in a row."},
      [](auto& c) -> auto& { return c.simulator.source.transmit.repeats_in_turn; }));
  k.push_back(integer_list(
      {"simulator", "receive", "", "Elements that record every event, from 0. Empty: all elements."}, within(0, 1023), 1024,
      [](auto& c) -> auto& { return c.simulator.source.transmit.receive; }));
  k.push_back(integer(
      {"simulator", "receive_aperture", "", "Neighbouring elements that record an event, about the middle of those that fire.",
       "all elements"},
      within(1, 1024), [](auto& c) -> auto& { return c.simulator.source.transmit.receive_aperture; }));
  k.push_back(word(
      {"simulator", "encoding", "", "How samples are sent."}, words::sample_encoding,
      [](auto& c) -> auto& { return c.simulator.source.encoding; }));
  k.push_back(boolean(
      {"simulator", "quantised", "", "Whether a 12-bit converter digitises the samples; integer encodings need it."},
      [](auto& c) -> auto& { return c.simulator.source.quantised; }));
  k.push_back(number(
      {"simulator", "longitudinal_velocity", "m/s", "Speed of longitudinal waves in the simulated part.",
       "[material], else 6320"},
      within(100.0, 20000.0), [](auto& c) -> auto& { return c.simulator.longitudinal_velocity; }));
  k.push_back(number(
      {"simulator", "shear_velocity", "m/s", "Speed of shear waves in the simulated part.", "[material], else 3130"},
      within(100.0, 20000.0), [](auto& c) -> auto& { return c.simulator.shear_velocity; }));
  k.push_back(number(
      {"simulator", "density", "kg/m^3", "Of the part: how much goes through its surface."}, within(1.0, 1e5),
      [](auto& c) -> auto& { return c.simulator.source.scene.density; }));
  k.push_back(number(
      {"simulator", "couplant_density", "kg/m^3", "Of the couplant."}, within(1.0, 1e5),
      [](auto& c) -> auto& { return c.simulator.source.scene.couplant_density; }));
  k.push_back(text_list(
      {"simulator", "modes", "", "Waves in the part: \"L\", \"T\". A scatterer turns each into each.",
       "L; with [couplant] or [backwall] L and T"},
      1, 2, [](auto& c) -> auto& { return c.simulator.modes; }));
  k.push_back(integer(
      {"simulator", "skips", "",
       "How often ways to scatterers are reflected at most on one side: 0 straight, 1 also by way of [backwall], 2 also "
       "from there by way of the front surface from below.",
       "what [imaging] views need, at least 1"},
      within(0, 2), [](auto& c) -> auto& { return c.simulator.skips; }));
  k.push_back(boolean(
      {"simulator", "wall_echoes", "", "Whether the front surface below a couplant and [backwall] echo themselves."},
      [](auto& c) -> auto& { return c.simulator.source.scene.wall_echoes; }));
  k.push_back(word(
      {"simulator", "spreading", "", "How echoes weaken with distance."}, spreading_words,
      [](auto& c) -> auto& { return c.simulator.source.spreading; }));
  k.push_back(boolean(
      {"simulator", "directivity", "", "Whether the elements' width makes them directional."},
      [](auto& c) -> auto& { return c.simulator.source.directivity; }));
  k.push_back(integer_list(
      {"simulator", "dead_elements", "", "Elements that give zeros, from 0."}, within(0, 1023), 1024,
      [](auto& c) -> auto& { return c.simulator.source.dead_elements; }));
  k.push_back(number(
      {"simulator", "full_scale", "",
       "Amplitude at which the converter saturates, for each element that fires at once; smaller is more gain."},
      within(1e-12, 1e6), [](auto& c) -> auto& { return c.simulator.source.full_scale; }));
  k.push_back(number(
      {"simulator", "noise_rms", "",
       "Amplitude of the noise of each A-scan; a scatterer of reflectivity 1 at 10 mm below an element echoes with 1."},
      within(0.0, 1e6), [](auto& c) -> auto& { return c.simulator.source.noise_rms; }));
  k.push_back(integer(
      {"simulator", "seed", "", "Of the noise and of the place of one of the demo part's scatterers."}, within(0, 9.0e15),
      [](auto& c) -> auto& { return c.simulator.source.seed; }));
  k.push_back(integer(
      {"simulator", "cycle_frames", "",
       "Frames that are synthesised ahead and sent in turn: one period of the motion. No more than fit into 512 MiB."},
      within(1, 4096), [](auto& c) -> auto& { return c.simulator.source.cycle_frames; }));
  k.push_back(number_rows<PointScatterer>(
      {"simulator", "points", "m", "Point scatterers.", "the demo's part"}, "[x, z, reflectivity] or [x, y, z, reflectivity]",
      {3, 4}, 1000, [](auto& c) -> auto& { return c.simulator.points; },
      [](PointScatterer& point, std::span<const double> v) {
        point.centre = {Metres(v[0]), Metres(v.size() > 3 ? v[1] : 0.0), Metres(v[v.size() - 2])};
        point.reflectivity = v.back();
      }));
  k.push_back(number_rows<SideDrilledHole>(
      {"simulator", "holes", "m", "Side-drilled holes.", "the demo's part"}, "[x, z, radius, reflectivity]", {4, 4}, 1000,
      [](auto& c) -> auto& { return c.simulator.holes; },
      [](SideDrilledHole& hole, std::span<const double> v) {
        hole.centre = {Metres(v[0]), Metres(0.0), Metres(v[1])};
        hole.radius = Metres(v[2]);
        hole.reflectivity = v[3];
      }));
  k.push_back(number_rows<Body>(
      {"simulator", "spheres", "m", "Balls.", "the demo's part"}, "[x, y, z, radius, reflectivity]", {5, 5}, 1000,
      [](auto& c) -> auto& { return c.simulator.spheres; },
      [](Body& body, std::span<const double> v) {
        body.kind = BodyKind::sphere;
        body.centre = first_three(v);
        body.radius = Metres(v[3]);
        body.reflectivity = v[4];
      }));
  k.push_back(number_rows<Body>(
      {"simulator", "cylinders", "m, degrees",
       "Cylinders, by their sides; turn and dip are those of the axis, which lies along y.", "the demo's part"},
      "[x, y, z, radius, length, turn, dip, reflectivity]", {8, 8}, 1000, [](auto& c) -> auto& { return c.simulator.cylinders; },
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
      "[x, y, z, radius, turn, dip, reflectivity]", {7, 7}, 1000, [](auto& c) -> auto& { return c.simulator.discs; },
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
      "[x, y, z, length, height, turn, dip, reflectivity]", {8, 8}, 1000, [](auto& c) -> auto& { return c.simulator.plates; },
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
      within(1e-6, 10.0), [](auto& c) -> auto& { return c.simulator.backwall; }));
}

}  // namespace

std::vector<Key> common_keys() {
  std::vector<Key> list;
  add_scene_keys(list);
  add_imaging_keys(list);
  add_data_keys(list);
  add_detector_keys(list);
  add_input_keys(list);
  add_micropulse_keys(list);
  add_us_lab4a_keys(list);
  add_server_keys(list);
  add_security_keys(list);
  add_openigtlink_keys(list);
  add_dicom_keys(list);
  add_recorder_keys(list);
  add_reconstruction_keys(list);
  add_simulator_keys(list);
  add_tissue_keys(list);
  add_sound_keys(list);
  add_encoder_keys(list);
  return list;
}

}  // namespace echoform
