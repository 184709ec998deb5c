// Writes A-scans and images as ONDE (https://github.com/COFREND/ONDE-format), version 0.9.0.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <limits>
#include <utility>
#include <vector>

#include "acquisition/firings.hpp"
#include "acquisition/frame_layout.hpp"
#include "acquisition/sample_encodings.hpp"
#include "base/directions.hpp"
#include "base/errors.hpp"
#include "formats/atomic_file.hpp"
#include "formats/envelope_view.hpp"
#include "formats/file_writer.hpp"
#include "formats/hdf5_file.hpp"
#include "formats/hdf5_maker.hpp"
#include "formats/image_formats.hpp"
#include "formats/law_columns.hpp"
#include "formats/onde_fields.hpp"
#include "formats/pair_order.hpp"
#include "formats/recording_formats.hpp"
#include "formats/samples.hpp"

namespace echoform {
namespace {

using namespace formats;

constexpr std::uint64_t room_of_group = std::uint64_t{1} << 13;  // bytes: a law of one element has 4 KiB
constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

bool written_as_counts(const Acquisition& acquisition) {
  return facts_of(acquisition.encoding).counts();
}

std::size_t onde_bytes(const Acquisition& acquisition) {
  return acquisition.a_scans() * acquisition.samples * (written_as_counts(acquisition) ? sizeof(std::int16_t) : sizeof(float));
}

std::string onde_time(WallTime time) {
  const auto seconds = static_cast<std::time_t>(std::chrono::duration_cast<std::chrono::seconds>(time).count());
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}Z", fmt::gmtime(seconds));
}

/// Makes the groups of a file, each with its classes.
class OndeFile {
 public:
  OndeFile(const Hdf5Maker& make, const Hdf5NewFile& file) : make_(make), file_(file.handle()) {
    make.text(file_, onde_file_type, onde_ultrasound);
    make.text(file_, onde_version, onde_written_version);
  }

  [[nodiscard]] Hdf5Handle group(const char* name, const std::vector<std::string>& classes) const {
    Hdf5Handle group = make_.group(file_, name);
    make_.texts(group, onde_type, classes);
    return group;
  }
  /// Writes a list of references as a dataset.
  void refer(const Hdf5Handle& group, const char* name, const std::vector<hobj_ref_t>& to) const {
    make_.dataset(group, name, H5T_STD_REF_OBJ, H5T_STD_REF_OBJ, {to.size()}, to);
  }
  void numbers(const Hdf5Handle& group, const char* name, const std::vector<hsize_t>& shape,
               const std::vector<double>& values) const {
    make_.dataset(group, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, shape, values);
  }
  [[nodiscard]] const Hdf5Handle& handle() const { return file_; }

  /// The coupling of direct contact, since nothing else is known.
  [[nodiscard]] hobj_ref_t coupling() const {
    const Hdf5Handle coupling = group("COUPLING", {"ONDE_UT_COUPLING"});
    make_.numbers(coupling, "ONDE_UT_COUPLING:MEDIUM_VELOCITY", {not_known, not_known});
    make_.numbers(coupling, "ONDE_UT_COUPLING:INCIDENCE_ANGLE", {0.0});
    return make_.reference(coupling);
  }
  /// The geometric setup of probe, trajectory and material, to which SETUP refers.
  [[nodiscard]] hobj_ref_t geometry(hobj_ref_t probe, hobj_ref_t trajectory, const Material& material) const {
    const Hdf5Handle component = group("COMPONENT", {"ONDE_COMPONENT"});
    const auto velocity = [](MetresPerSecond stated) { return stated.value > 0.0 ? stated.value : not_known; };
    make_.numbers(component, "ONDE_COMPONENT:VELOCITIES",
                  {velocity(material.longitudinal_velocity), velocity(material.shear_velocity)});
    const Hdf5Handle geometric = group("GEOMETRIC_SETUP", {"ONDE_GEOMETRIC_SETUP"});
    refer(geometric, "ONDE_GEOMETRIC_SETUP:COMPONENT", {make_.reference(component)});
    refer(geometric, "ONDE_GEOMETRIC_SETUP:PROBE_LIST", {probe});
    refer(geometric, "ONDE_GEOMETRIC_SETUP:ACQUISITION_TRAJECTORY", {trajectory});
    return make_.reference(geometric);
  }
  [[nodiscard]] hobj_ref_t setup(hobj_ref_t geometric, hobj_ref_t ultrasonic) const {
    const Hdf5Handle setup = group("SETUP", {"ONDE_SETUP", "ONDE_SETUP_UT"});
    make_.refer(setup, "ONDE_SETUP:GEOMETRIC_SETUP", geometric);
    if (ultrasonic != 0) make_.refer(setup, "ONDE_SETUP_UT:ULTRASONIC_SETUP", ultrasonic);
    return make_.reference(setup);
  }

 private:
  const Hdf5Maker& make_;
  const Hdf5Handle& file_;
};

/// The coordinate frame with z along the emission, and x along the part of the global x that is across the emission.
OndeFrame frame_of_element(const Element& element) {
  const Direction x = unit(across({1.0, 0.0, 0.0}, element.normal));
  const Direction y = cross(element.normal, x);
  return {vector_of(element.centre), vector_of(x), vector_of(y), vector_of(element.normal)};
}

hobj_ref_t make_onde_probe(const OndeFile& file, const Hdf5Maker& make, const Probe& probe) {
  const hobj_ref_t coupling = file.coupling();
  const Hdf5Handle group = file.group("PROBE", {"ONDE_UT_PROBE"});
  make.texts(group, onde_type_tags, {"ONDE_UT_ELEMENTS"});
  make.numbers(group, "ONDE_UT_PROBE:FREQUENCY", {probe.centre_frequency.value > 0.0 ? probe.centre_frequency.value : not_known});
  if (probe.bandwidth.value > 0.0) make.numbers(group, "ONDE_UT_PROBE:BANDWIDTH", {probe.bandwidth.value});
  make.refer(group, "ONDE_UT_PROBE:COUPLING", coupling);
  const hsize_t count = probe.elements.size();
  if (count == 0) return make.reference(group);
  std::vector<double> frames;
  std::vector<double> sizes;
  std::vector<int> dead;
  for (const Element& element : probe.elements) {
    const auto frame = onde_numbers(frame_of_element(element));
    frames.insert(frames.end(), frame.begin(), frame.end());
    sizes.insert(sizes.end(), {element.width.value, element.length.value, 0.0, 0.0, 0.0, 0.0});
    dead.push_back(element.dead ? 1 : 0);
  }
  file.numbers(group, "ONDE_UT_ELEMENTS:FRAME", {count, 7}, frames);
  file.numbers(group, "ONDE_UT_ELEMENTS:SIZE", {count, 6}, sizes);
  make.dataset(group, "ONDE_UT_ELEMENTS:SHAPE", H5T_STD_I32LE, H5T_NATIVE_INT, {count}, std::vector<int>(count, onde_rectangle));
  if (std::ranges::find(dead, 1) != dead.end())
    make.dataset(group, "ONDE_UT_ELEMENTS:DEAD_ELEMENT", H5T_STD_I32LE, H5T_NATIVE_INT, {count}, dead);
  return make.reference(group);
}

/// OndeLawReferences of single elements, and of the events of several elements.
struct OndeLawReferences {
  std::vector<hobj_ref_t> elements;
  std::vector<hobj_ref_t> events;
};

OndeLawReferences make_onde_laws(const OndeFile& file, const Hdf5Maker& make, hobj_ref_t probe, const Acquisition& a) {
  const Hdf5Handle all = make.group(file.handle(), "LAWS");
  const auto add = [&](const std::string& name, const std::vector<Firing>& firings) {
    const Hdf5Handle law = make.group(all, name.c_str());
    make.texts(law, onde_type, {"ONDE_UT_LAW"});
    const LawColumns columns(firings);
    const hsize_t count = firings.size();
    file.refer(law, "ONDE_UT_LAW:PROBE", std::vector<hobj_ref_t>(count, probe));
    make.dataset(law, "ONDE_UT_LAW:ELEMENT", H5T_STD_I32LE, H5T_NATIVE_INT, {count}, columns.elements);
    if (columns.delays_differ_from_0()) file.numbers(law, "ONDE_UT_LAW:DELAY", {count}, columns.delays);
    if (columns.weights_differ_from_1()) file.numbers(law, "ONDE_UT_LAW:WEIGHTING", {count}, columns.weights);
    return make.reference(law);
  };
  OndeLawReferences laws;
  for (std::size_t i = 0; i < a.elements(); ++i)
    laws.elements.push_back(add(fmt::format("L{}", i + 1), {{static_cast<std::uint32_t>(i), 0.0, 1.0}}));
  for (std::size_t event = 0; event < a.event_count(); ++event) {
    const auto element = firing_element(a, event);
    laws.events.push_back(element ? laws.elements[*element] : add(fmt::format("T{}", event + 1), firings_of(a, event)));
  }
  return laws;
}

hobj_ref_t make_ultrasonic_setup(const OndeFile& file, const Hdf5Maker& make, hobj_ref_t probe, const Acquisition& a) {
  const OndeLawReferences laws = make_onde_laws(file, make, probe, a);
  std::vector<hobj_ref_t> transmit;
  std::vector<hobj_ref_t> receive;
  for (const EventReceiver row : FrameLayout(a).pairs()) {
    transmit.push_back(laws.events[row.event]);
    receive.push_back(laws.elements[row.receiver]);
  }
  const Hdf5Handle group = file.group("ULTRASONIC_SETUP", {"ONDE_ULTRASONIC_SETUP"});
  make.text(group, "ONDE_ULTRASONIC_SETUP:RECTIFICATION", "FULL_WAVE");
  make.numbers(group, "ONDE_ULTRASONIC_SETUP:ASCAN_SAMPLE_RATE", {a.sample_rate.value});
  if (a.pulse_repetition.value > 0.0) make.numbers(group, "ONDE_ULTRASONIC_SETUP:PRF", {a.pulse_repetition.value});
  file.numbers(group, "ONDE_ULTRASONIC_SETUP:ASCAN_START", {1}, {(a.start_time - a.time_offset).value});
  file.numbers(group, "ONDE_ULTRASONIC_SETUP:GAIN", {a.a_scans()}, std::vector<double>(a.a_scans(), 1.0));
  file.refer(group, "ONDE_ULTRASONIC_SETUP:TRANSMIT_LAW", transmit);
  file.refer(group, "ONDE_ULTRASONIC_SETUP:RECEIVE_LAW", receive);
  return make.reference(group);
}

hobj_ref_t make_amplitudes(const OndeFile& file, const Hdf5Maker& make, double scale) {
  const Hdf5Handle group = file.group("AMPLITUDE", {"ONDE_DIMENSION"});
  make.text(group, "ONDE_DIMENSION:COORDINATE", "Amplitude");
  make.text(group, "ONDE_DIMENSION:UNITS", "arbitrary");
  make.numbers(group, "ONDE_DIMENSION:OFFSET", {0.0});
  make.numbers(group, "ONDE_DIMENSION:SCALE", {scale});
  return make.reference(group);
}

/// Throws InputError, naming `where`, unless ONDE 0.9.0 can hold frames of `acquisition`. The format cannot express a half matrix
/// whose instrument added both directions, events in which no element transmits, or several positions within a frame. A frame is
/// one HDF5 chunk, which has less than 4 GiB.
void check_onde_holds(const Acquisition& acquisition, const std::string& where) {
  if (acquisition.pairs_summed()) {
    throw InputError(where, "matrix half_summed", "full or half (ONDE cannot say that both directions of a pair were added)");
  }
  if (all_passive(acquisition.events))
    throw InputError(where, "passive events", "events that transmit (ONDE cannot say that nobody does; .efcap holds them)");
  if (!acquisition.positions.empty())
    throw InputError(where, "several positions of the probe within a frame", "one (.mfmc and .efcap hold several)");
  if (fires_single_elements(acquisition) && !formats::pairs_tell_events(acquisition)) {
    throw InputError(where, "events whose receivers would be read back as an incomplete matrix",
                     "events that all elements record, or fewer of them (.mfmc and .efcap hold others)");
  }
  if (const std::size_t bytes = onde_bytes(acquisition); bytes > std::numeric_limits<std::uint32_t>::max())
    throw InputError(where, fmt::format("{} bytes a frame", bytes), "less than 4 GiB, what an HDF5 chunk may have");
}

struct OndeFrameFile {
  std::filesystem::path path;
  Acquisition acquisition;
  std::function<Pose(EncoderCount)> pose;
  AtomicFile aside;
  Hdf5NewFile file{};
  Hdf5Handle trajectory{};
  Hdf5Handle data{};
  std::vector<double> places{};  // seven numbers for each frame
  std::vector<std::int16_t> unpacked{};
  std::uint64_t frames = 0;
  bool broken = false;
  bool whole = false;  // gets its name only with close()

  void make(const FrameWriterOptions& options) {
    const Hdf5Session session;
    const Hdf5Maker maker(path.string());
    maker.require_room(aside.descriptor(),
                       room_of_group * (acquisition.elements() + acquisition.event_count()) + 32 * acquisition.a_scans());
    file = Hdf5NewFile(aside.descriptor(), path.string());
    errno = 0;
    const OndeFile onde(maker, file);
    const hobj_ref_t probe = make_onde_probe(onde, maker, acquisition.probe);
    trajectory = onde.group("TRAJECTORY", {"ONDE_ACQUISITION_TRAJECTORY", "ONDE_SPATIAL_TRAJECTORY"});
    const hobj_ref_t geometric = onde.geometry(probe, maker.reference(trajectory), options.material);
    const hobj_ref_t ultrasonic = make_ultrasonic_setup(onde, maker, probe, acquisition);
    const Hdf5Handle dataset = onde.group("ASCANS", {"ONDE_DATASET", "ONDE_DATASET_UT", onde_a_scans});
    maker.refer(dataset, "ONDE_DATASET:SETUP", onde.setup(geometric, ultrasonic));
    if (options.recorded.count() > 0) maker.text(dataset, "ONDE_DATASET:DATE_AND_TIME", onde_time(options.recorded));
    const double scale = written_as_counts(acquisition) ? acquisition.sample_scale : 1.0;
    maker.refer(dataset, "ONDE_DATASET:AMPLITUDE_DIMENSION", make_amplitudes(onde, maker, scale));
    maker.growing(dataset, onde_data, written_as_counts(acquisition) ? H5T_STD_I16LE : H5T_IEEE_F32LE,
                  {acquisition.a_scans(), acquisition.samples});
    data = maker.made(H5Dopen2(dataset.id(), onde_data, H5P_DEFAULT), onde_data);
    file.flush();
  }

  [[nodiscard]] std::array<hsize_t, 3> shape(std::uint64_t count) const {
    return {count, acquisition.a_scans(), acquisition.samples};
  }
  void add(std::span<const std::byte> samples) {
    const std::array<hsize_t, 3> place{frames, 0, 0};
    broken = true;  // until the frame is added
    Hdf5Maker(path.string()).add_chunk(data, shape(frames), shape(frames + 1), place, samples);
    file.require_written();
    broken = false;
  }
};

/// Writes one data set of one probe: DATA [dataframes, A-scans, samples], one chunk a frame, in rows as the layout has them.
/// int16 and packed12 are int16 counts, whose scale is that of the AMPLITUDE_DIMENSION; float32 stays as it is. Laws name
/// elements from 1; waves are written by their delays. The trajectory has a coordinate frame for each dataframe: the one in which
/// elements are stated, or the one to which `pose` of the options moves it by the encoder's counts. Unknown numbers are NaN, an
/// unknown size of an element is 0. The file appears whole, once it is closed.
class OndeWriter final : public formats::FileWriter<OndeFrameFile> {
 public:
  OndeWriter(const std::filesystem::path& path, const Acquisition& acquisition, const FrameWriterOptions& options = {});
  /// Closes the file as close() does, without reporting errors.
  ~OndeWriter() override;

  void close() override;
  [[nodiscard]] std::uint64_t bytes() const noexcept override;

 private:
  void write(std::span<const std::byte> frame, const FrameStamp& stamp) override;
};

OndeWriter::OndeWriter(const std::filesystem::path& path, const Acquisition& acquisition, const FrameWriterOptions& options) {
  check_onde_holds(acquisition, path.string());
  require_absent(path, path.string());
  file_.reset(new OndeFrameFile{path, acquisition, options.pose, AtomicFile(path, IfThere::refuse)});
  file_->whole = options.whole;
  file_->make(options);
}

OndeWriter::~OndeWriter() {
  try {
    if (!file_->whole) close();
  } catch (const std::exception&) {  // callers that need the error call close()
  }
}

void OndeWriter::write(std::span<const std::byte> frame, const FrameStamp& stamp) {
  OndeFrameFile& f = *file_;
  const Acquisition& a = f.acquisition;
  if (f.broken || !f.file) throw RuntimeFault(fmt::format("{}: no longer written to", f.path.string()));
  if (frame.size() != a.frame_bytes())
    throw InputError(f.path.string(), fmt::format("a frame of {} bytes", frame.size()), fmt::format("{}", a.frame_bytes()));
  Hdf5Maker(f.path.string()).require_room(f.aside.descriptor(), onde_bytes(a) + sizeof(double) * (f.places.size() + 7));
  const Hdf5Session session;
  errno = 0;
  if (a.encoding == SampleEncoding::packed12) {
    f.unpacked.resize(a.a_scans() * a.samples);
    frame_counts(a, frame, f.unpacked);
    f.add(std::as_bytes(std::span(f.unpacked)));
  } else {
    f.add(frame);
  }
  const bool known = f.pose && stamp.position;
  const auto at = onde_numbers(known ? frame_of(f.pose(*stamp.position)) : OndeFrame{});
  f.places.insert(f.places.end(), at.begin(), at.end());
  ++f.frames;
}

void OndeWriter::close() {
  OndeFrameFile& f = *file_;
  if (!f.file) return;
  const Hdf5Session session;
  const Hdf5Maker make(f.path.string());
  // If anything fails below, no half-written file stays.
  Hdf5NewFile file = std::exchange(f.file, Hdf5NewFile());
  {
    const Hdf5Handle trajectory = std::exchange(f.trajectory, Hdf5Handle());
    f.data = Hdf5Handle();
    if (f.frames == 0) return;
    errno = 0;
    make.dataset(trajectory, "ONDE_SPATIAL_TRAJECTORY:TRAJECTORY", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {f.frames, 7}, f.places);
  }
  file.close();
  f.aside.commit();
}

std::uint64_t OndeWriter::bytes() const noexcept {
  return file_->frames * onde_bytes(file_->acquisition);
}

/// Writes a TSCAN of one dataframe, [1, x, z] or [1, x, y, z] of float32. Its zone is that of the grid's pixels with half a pixel
/// around, z into the part. An image does not state its probe. So the probe and the data set of A-scans, which the format
/// requires and which were not kept, state nothing. Fields of complex numbers and axes that are not in metres are refused.
void write_onde_image(const std::filesystem::path& path, const ImageFile& image) {
  const std::string name = path.string();
  AtomicFile aside(path);
  if (image.field == ImageField::analytic)
    throw InputError(name, "an image of complex numbers", "an envelope (ONDE has no complex images; .npy and .h5 hold them)");
  const bool volume = image.grid.y.count > 1;
  for (const Meaning* const axis : {&image.x, &image.y, &image.z}) {
    if (axis->unit != "m" && (axis != &image.y || volume)) {
      throw InputError(name, fmt::format("an axis of {} in {}", axis->name, axis->unit.empty() ? "no unit" : axis->unit),
                       "axes in metres (.npy and .h5 hold others)");
    }
  }
  const std::size_t nx = image.grid.x.count;
  const std::size_t ny = volume ? image.grid.y.count : 1;
  const std::size_t nz = image.grid.z.count;
  std::vector<float> room;
  const std::span<const float> envelope = with_envelope(image, room).envelope;
  std::vector<float> turned(envelope.size());
  // Reorders [z, y, x] to [x, y, z].
  for (std::size_t z = 0; z < nz; ++z) {
    for (std::size_t y = 0; y < ny; ++y) {
      for (std::size_t x = 0; x < nx; ++x) turned[(x * ny + y) * nz + z] = envelope[(z * ny + y) * nx + x];
    }
  }
  const auto middle = [](const Axis& axis) { return 0.5 * (axis.at(0) + axis.at(axis.count - 1)).value; };
  const Hdf5Session session;
  const Hdf5Maker make(name);
  make.require_room(aside.descriptor(), turned.size() * sizeof(float));
  Hdf5NewFile made(aside.descriptor(), name);
  errno = 0;
  const OndeFile file(make, made);
  const hobj_ref_t probe = make_onde_probe(file, make, {});
  const Hdf5Handle trajectory = file.group("TRAJECTORY", {"ONDE_ACQUISITION_TRAJECTORY", "ONDE_SPATIAL_TRAJECTORY"});
  const auto identity = onde_numbers({});
  file.numbers(trajectory, "ONDE_SPATIAL_TRAJECTORY:TRAJECTORY", {1, 7}, {identity.begin(), identity.end()});
  const hobj_ref_t setup = file.setup(file.geometry(probe, make.reference(trajectory), {}), 0);
  const Hdf5Handle a_scans = file.group("ASCANS", {"ONDE_DATASET", "ONDE_DATASET_UT", onde_a_scans});
  make.refer(a_scans, "ONDE_DATASET:SETUP", setup);
  const Hdf5Handle scan = file.group("TSCAN", {"ONDE_DATASET", "ONDE_DATASET_UT", onde_image});
  make.refer(scan, "ONDE_DATASET:SETUP", setup);
  make.refer(scan, "ONDE_DATASET_UT_TSCAN:SOURCE_ASCAN_DATASET", make.reference(a_scans));
  if (!image.title.empty()) make.text(scan, onde_label, image.title);
  if (!image.view.empty()) make.text(scan, "ONDE_DATASET_UT_TSCAN:RECONSTRUCTION_MODE", image.view);
  const auto frame = onde_numbers(
      {.origin = {middle(image.grid.x), volume ? middle(image.grid.y) : image.grid.y.at(0).value, middle(image.grid.z)}});
  make.numbers(scan, "ONDE_DATASET_UT_TSCAN:ZONE_FRAME", {frame.begin(), frame.end()});
  const auto size = [&](const Axis& axis) { return axis.spacing().value * static_cast<double>(axis.count); };
  make.numbers(scan, "ONDE_DATASET_UT_TSCAN:ZONE_DIMENSION",
               {size(image.grid.x), volume ? size(image.grid.y) : 0.0, size(image.grid.z)});
  const hsize_t three = 3;
  const std::array<int, 3> pixels{static_cast<int>(nx), static_cast<int>(ny), static_cast<int>(nz)};
  const char* const zone_size = "ONDE_DATASET_UT_TSCAN:ZONE_SIZE";
  const Hdf5Handle space = make.made(H5Screate_simple(1, &three, nullptr), zone_size);
  const Hdf5Handle attribute =
      make.made(H5Acreate2(scan.id(), zone_size, H5T_STD_I32LE, space.id(), H5P_DEFAULT, H5P_DEFAULT), zone_size);
  make.done(H5Awrite(attribute.id(), H5T_NATIVE_INT, pixels.data()), zone_size);
  std::vector<hsize_t> shape{1, nx, nz};
  if (volume) shape.insert(shape.begin() + 2, ny);
  make.dataset(scan, onde_data, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, shape, turned);
  made.close();
  aside.commit();
}

}  // namespace

namespace formats {

constinit const FrameFormat onde_frames{.check = check_onde_holds, .make = write_by<OndeWriter>};

constinit const ImageFormat onde_image_format{
    .extension = ".onde",
    .meaning = "a TSCAN of ONDE",
    .packages = "libhdf5-dev",
    .page = "file_formats.md#onde",
    .write = write_onde_image,
};

}  // namespace formats
}  // namespace echoform
