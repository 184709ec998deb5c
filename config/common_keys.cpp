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
      {"input", "The doors for acquisition frames, of `echoform serve`, `echoform demo` and `echoform record`."},
      {"server", "What is published and where, of `echoform serve` and `echoform demo`."},
      {"curve",
       "CURVE, ZeroMQ's encryption and authentication, on every ZeroMQ socket of the server (docs/security.md). Names of files "
       "are relative to the configuration's folder."},
  };
}

namespace {

using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table

constexpr auto backend_words =
    make_words(std::pair{BackendWish::automatic, std::string_view("auto")}, std::pair{BackendWish::cpu, std::string_view("cpu")},
               std::pair{BackendWish::cuda, std::string_view("cuda")});
constexpr auto half_words = make_words(std::pair{MatrixKind::half, std::string_view("half")},
                                       std::pair{MatrixKind::half_summed, std::string_view("half_summed")});

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

}  // namespace

std::vector<Key> common_keys() {
  std::vector<Key> list;
  add_scene_keys(list);
  add_imaging_keys(list);
  add_data_keys(list);
  add_input_keys(list);
  add_server_keys(list);
  add_security_keys(list);
  return list;
}

}  // namespace echoform
