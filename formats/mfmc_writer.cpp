// Writes recordings as MFMC 2.0 in HDF5, a frame at a time; the file is readable at any moment.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "acquisition/firings.hpp"
#include "acquisition/frame_layout.hpp"
#include "base/errors.hpp"
#include "formats/atomic_file.hpp"
#include "formats/file_writer.hpp"
#include "formats/hdf5_file.hpp"
#include "formats/hdf5_maker.hpp"
#include "formats/law_columns.hpp"
#include "formats/mfmc_encoder.hpp"
#include "formats/mfmc_parts.hpp"
#include "formats/recording_formats.hpp"
#include "formats/samples.hpp"
#include "pipeline/words.hpp"

namespace echoform {
namespace {

using namespace formats;

/// SWMR orders the writes, and assumes that every single write is atomic. If a process is killed, this holds within a page of the
/// system's file cache, but not across two (the system checks for the signal between pages). Half an index block would lose all
/// frames that it refers to. So everything that is rewritten while frames come is at most a page long and begins on one: the
/// headers of the growing datasets and the nodes of their B-trees. (HDF5's other index for growing datasets has blocks of up to 8
/// KiB.)
constexpr hsize_t page_bytes = 4096;
/// Encoder counts are written again with each frame until they fill a page, and so are the placements of frames.
constexpr std::size_t counts_of_page = page_bytes / sizeof(EncoderCount);
using PlacementRow = std::array<double, 3>;
constexpr std::size_t placements_of_page = page_bytes / sizeof(PlacementRow);
/// A frame's row is added to the datasets in this order: readers use the length of the last one.
constexpr std::array<const char*, 3> placement_datasets{"PROBE_X_DIRECTION", "PROBE_Y_DIRECTION", "PROBE_POSITION"};

// Maximum bytes of a law with its group and the references to it; and of an A-scan's references to its laws.
constexpr std::uint64_t room_of_law = std::uint64_t{1} << 13;
constexpr std::uint64_t room_of_row = 32;

/// Makes a group with the attribute TYPE; without it if `type` is empty.
Hdf5Handle typed_group(const Hdf5Maker& make, const Hdf5Handle& parent, const char* name, std::string_view type) {
  Hdf5Handle group = make.group(parent, name);
  if (!type.empty()) make.text(group, "TYPE", type);
  return group;
}

/// Vectors from an element's centre to the tips of its half axes: major, then minor. major x minor points along the emission.
std::pair<Vector3, Vector3> half_axes(const Element& element) {
  // A nanometre is negligible at any ultrasonic frequency, and keeps the directions.
  const double width = 0.5 * std::max(element.width.value, unknown_element_size);
  const double length = 0.5 * std::max(element.length.value, unknown_element_size);
  const Vector3 n = vector_of(element.normal);
  // x without its component along the emission. Emission goes towards +z, so something is left of x.
  Vector3 u{1.0 - n.x * n.x, -n.x * n.y, -n.x * n.z};
  const double size = std::sqrt(dot(u, u));
  u = {u.x / size, u.y / size, u.z / size};
  const Vector3 v = cross(n, u);
  if (width >= length) return {width * u, length * v};
  return {length * v, -width * u};
}

hobj_ref_t make_probe(const Hdf5Maker& make, const Hdf5Handle& file, const Probe& probe) {
  const Hdf5Handle probes = typed_group(make, file, "PROBES", {});
  const Hdf5Handle group = typed_group(make, probes, "P1", "PROBE");
  const hsize_t count = probe.elements.size();
  std::vector<double> positions;
  std::vector<double> majors;
  std::vector<double> minors;
  std::vector<int> dead;
  const auto add = [](std::vector<double>& to, double x, double y, double z) { to.insert(to.end(), {x, y, z}); };
  for (const Element& element : probe.elements) {
    add(positions, element.centre.x.value, element.centre.y.value, element.centre.z.value);
    const auto [major, minor] = half_axes(element);
    add(majors, major.x, major.y, major.z);
    add(minors, minor.x, minor.y, minor.z);
    dead.push_back(element.dead ? 1 : 0);
  }
  make.dataset(group, "ELEMENT_POSITION", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {count, 3}, positions);
  make.dataset(group, "ELEMENT_MAJOR", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {count, 3}, majors);
  make.dataset(group, "ELEMENT_MINOR", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {count, 3}, minors);
  make.dataset(group, "ELEMENT_SHAPE", H5T_STD_I32LE, H5T_NATIVE_INT, {count}, std::vector<int>(count, 1));
  if (std::find(dead.begin(), dead.end(), 1) != dead.end())
    make.dataset(group, "DEAD_ELEMENT", H5T_STD_I32LE, H5T_NATIVE_INT, {count}, dead);
  make.numbers(group, "CENTRE_FREQUENCY", {probe.centre_frequency.value});
  if (probe.bandwidth.value > 0.0) make.numbers(group, "BANDWIDTH", {probe.bandwidth.value});
  return make.reference(group);
}

/// An attribute that states, for readers that know it, what a transmit law is meant to make.
struct FormAttribute {
  const Hdf5Maker& make;
  const Hdf5Handle& law;
  const Probe& probe;

  void operator()(const ElementEvent& /*event*/) const {}
  void operator()(const LawEvent& /*event*/) const {}
  void operator()(const PassiveEvent& /*event*/) const {}
  void operator()(const CodeEvent& /*event*/) const { make.numbers(law, code_attribute, {1.0}); }
  void operator()(const PlaneWaveEvent& event) const {
    const double delay = delay_at_origin(event, probe, frame_of(probe)).value;
    std::vector<double> numbers{event.slowness_x, event.slowness_y, delay};
    if (event.slowness_z > 0.0) numbers.push_back(event.slowness_z);
    make.numbers(law, plane_wave_attribute, numbers);
  }
  void operator()(const PointWaveEvent& event) const {
    const double delay = delay_at_origin(event, probe, frame_of(probe)).value;
    const Point& at = event.point;
    make.numbers(law, point_wave_attribute, {at.x.value, at.y.value, at.z.value, event.velocity.value, delay});
  }
};

/// The laws of an acquisition.
class Laws {
 public:
  Laws(const Hdf5Maker& make, const Hdf5Handle& file, hobj_ref_t probe, const Acquisition& acquisition)
      : make_(make), group_(typed_group(make, file, "LAWS", {})), probe_(probe) {
    for (std::size_t i = 0; i < acquisition.elements(); ++i) {
      static_cast<void>(add(fmt::format("L{}", i + 1), {{static_cast<std::uint32_t>(i), 0.0, 1.0}}, &elements_));
    }
    for (std::size_t event = 0; event < acquisition.event_count(); ++event) {
      if (const auto element = firing_element(acquisition, event)) {
        events_.push_back(elements_[*element]);
        continue;
      }
      const Hdf5Handle law = add(fmt::format("T{}", event + 1), firings_of(acquisition, event), &events_);
      std::visit(FormAttribute{make_, law, acquisition.probe}, acquisition.events[event].form);
    }
  }

  /// The receive laws of each single element.
  [[nodiscard]] const std::vector<hobj_ref_t>& elements() const { return elements_; }
  /// The law of each event. If one element fires, it is the law of that element.
  [[nodiscard]] const std::vector<hobj_ref_t>& events() const { return events_; }

 private:
  /// Adds a law. Delays and weights are written if there are any.
  Hdf5Handle add(const std::string& name, const std::vector<Firing>& firings, std::vector<hobj_ref_t>* to) const {
    Hdf5Handle law = typed_group(make_, group_, name.c_str(), "LAW");
    const hsize_t count = firings.size();
    const LawColumns columns(firings);
    make_.dataset(law, "PROBE", H5T_STD_REF_OBJ, H5T_STD_REF_OBJ, {count}, std::vector<hobj_ref_t>(count, probe_));
    make_.dataset(law, "ELEMENT", H5T_STD_I32LE, H5T_NATIVE_INT, {count}, columns.elements);
    if (columns.delays_differ_from_0()) make_.dataset(law, "DELAY", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {count}, columns.delays);
    if (columns.weights_differ_from_1())
      make_.dataset(law, "WEIGHTING", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {count}, columns.weights);
    to->push_back(make_.reference(law));
    return law;
  }

  const Hdf5Maker& make_;
  Hdf5Handle group_;
  hobj_ref_t probe_;
  std::vector<hobj_ref_t> elements_;
  std::vector<hobj_ref_t> events_;
};

hid_t stored_type(SampleEncoding encoding) {
  return encoding == SampleEncoding::float32 ? H5T_IEEE_F32LE : H5T_STD_I16LE;
}

std::size_t stored_frame_bytes(const Acquisition& a) {
  return a.a_scans() * a.samples * (a.encoding == SampleEncoding::float32 ? 4 : 2);
}

/// Whether each frame has a placement of its own. Positions within a frame are placements too, but none of them follows from an
/// encoder count.
bool moves(const Acquisition& a, const FrameWriterOptions& options) {
  return options.pose && a.positions.empty();
}

void make_sequence(const Hdf5Maker& make, const Hdf5Handle& file, const Acquisition& a, const FrameWriterOptions& options,
                   hobj_ref_t probe, const Laws& laws) {
  const Hdf5Handle sequences = typed_group(make, file, "SEQUENCES", {});
  const Hdf5Handle group = typed_group(make, sequences, "S1", "SEQUENCE");
  make.numbers(group, "TIME_STEP", {1.0 / a.sample_rate.value});
  make.numbers(group, "START_TIME", {a.start_time.value - a.time_offset.value});
  make.numbers(group, "SPECIMEN_VELOCITY",
               {options.material.shear_velocity.value, options.material.longitudinal_velocity.value});  // shear first
  if (options.recorded.count() > 0) {
    const auto seconds = static_cast<std::time_t>(std::chrono::duration_cast<std::chrono::seconds>(options.recorded).count());
    make.text(group, "DATE_AND_TIME", fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(seconds)));
  }
  if (a.encoding != SampleEncoding::float32 && a.sample_scale != 1.0)
    make.numbers(group, sample_scale_attribute, {a.sample_scale});
  if (a.pulse_repetition.value > 0.0) make.numbers(group, pulse_repetition_attribute, {a.pulse_repetition.value});

  const hsize_t a_scans = a.a_scans();
  std::vector<hobj_ref_t> transmit;
  std::vector<hobj_ref_t> receive;
  for (const EventReceiver row : FrameLayout(a).pairs()) {
    transmit.push_back(laws.events()[row.event]);
    receive.push_back(laws.elements()[row.receiver]);
  }
  // From pairs of elements readers recognize the matrix. They cannot recognize that a list has only some pairs on purpose.
  if (!a.events.empty() && (!all_elements_record(a) || !fires_single_elements(a) || !a.positions.empty()))
    make.numbers(group, events_attribute, {static_cast<double>(a.events.size())});
  make.dataset(group, "TRANSMIT_LAW", H5T_STD_REF_OBJ, H5T_STD_REF_OBJ, {a_scans}, transmit);
  make.dataset(group, "RECEIVE_LAW", H5T_STD_REF_OBJ, H5T_STD_REF_OBJ, {a_scans}, receive);
  make.dataset(group, "PROBE_LIST", H5T_STD_REF_OBJ, H5T_STD_REF_OBJ, {1}, std::vector<hobj_ref_t>{probe});
  if (moves(a, options)) return make.numbers(group, placed_by_encoder_attribute, {1.0});
  // Without positions elements have global coordinates, which are then the probe's own.
  std::vector<double> origins;
  std::vector<double> x_directions;
  std::vector<double> y_directions;
  const auto add = [](std::vector<double>& to, double x, double y, double z) { to.insert(to.end(), {x, y, z}); };
  for (const Pose& pose : a.positions.empty() ? std::vector<Pose>(1) : a.positions) {
    add(origins, pose.origin.x.value, pose.origin.y.value, pose.origin.z.value);
    add(x_directions, pose.x.x, pose.x.y, pose.x.z);
    add(y_directions, pose.y.x, pose.y.y, pose.y.z);
  }
  const std::vector<hsize_t> placement{origins.size() / 3, 1, 3};
  make.dataset(group, "PROBE_POSITION", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, placement, origins);
  make.dataset(group, "PROBE_X_DIRECTION", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, placement, x_directions);
  make.dataset(group, "PROBE_Y_DIRECTION", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, placement, y_directions);
}

/// Throws InputError, naming `where`, unless MFMC 2.0 can hold frames of `acquisition`. The format cannot express a half matrix
/// whose instrument added both directions (half_summed), or events in which no element transmits. A frame is one HDF5 chunk,
/// which has less than 4 GiB.
void check_mfmc_holds(const Acquisition& acquisition, const std::string& where) {
  if (acquisition.pairs_summed()) {
    throw InputError(where, "matrix half_summed", "full or half (MFMC 2.0 cannot say that both directions of a pair were added)");
  }
  if (all_passive(acquisition.events)) {
    throw InputError(where, "passive events", "events that transmit (MFMC 2.0 cannot say that nobody does; .efcap holds them)");
  }
  const std::size_t bytes = stored_frame_bytes(acquisition);
  if (bytes > std::numeric_limits<std::uint32_t>::max()) {
    throw InputError(where, fmt::format("{} bytes a frame", bytes), "less than 4 GiB, what an HDF5 chunk may have");
  }
}

/// Placements of a probe that moves with its encoder's counts.
struct PlacedFrames {
  Hdf5Handle dataset{};
  std::vector<PlacementRow> page = std::vector<PlacementRow>(placements_of_page);  // rows of the frames in the last chunk

  [[nodiscard]] bool set_rows(std::uint64_t count) const {
    const std::array<hsize_t, 3> shape{count, 1, 3};
    return H5Dset_extent(dataset.id(), shape.data()) >= 0;
  }
  [[nodiscard]] bool add(std::uint64_t frame, const PlacementRow& row) {
    const std::size_t in_page = frame % placements_of_page;
    if (in_page == 0) std::fill(page.begin(), page.end(), PlacementRow{});
    page[in_page] = row;
    const std::array<hsize_t, 3> place{frame - in_page, 0, 0};
    return set_rows(frame + 1) &&
           H5Dwrite_chunk(dataset.id(), H5P_DEFAULT, 0, place.data(), page.size() * sizeof(PlacementRow), page.data()) >= 0 &&
           H5Dflush(dataset.id()) >= 0;
  }
};

struct MfmcFrameFile {
  std::filesystem::path path;
  Acquisition acquisition;
  AtomicFile aside;
  bool whole = false;                           // gets its name only with close()
  std::function<Pose(EncoderCount)> pose{};     // none: the probe stays
  std::array<PlacedFrames, 3> placed_frames{};  // in the order of placement_datasets; used if the probe moves
  Hdf5NewFile file{};
  Hdf5Handle data{};
  Hdf5Handle index{};
  Hdf5Handle counts{};
  std::vector<std::int32_t> placements{};  // of one frame
  std::vector<EncoderCount> page{};        // counts of the frames in the last chunk of counts
  bool counted = false;                    // whether a frame has stated its position
  std::vector<std::int16_t> unpacked{};
  std::uint64_t frames = 0;
  bool broken = false;

  [[nodiscard]] std::string name() const { return path.string(); }
  [[nodiscard]] std::size_t frame_bytes() const { return stored_frame_bytes(acquisition); }

  /// The fault for a system error; `fallback` describes it if the system gave no reason.
  [[nodiscard]] RuntimeFault fault(int error, std::string_view fallback) const {
    return RuntimeFault(fmt::format("{}: frame {} cannot be written: {}; the {} before it are in the file", name(), frames,
                                    error != 0 ? std::string_view(std::strerror(error)) : fallback, frames));
  }

  /// Checks for free space before writing, so that a full disk leaves the file in order.
  void require_room() const {
    const std::uint64_t bytes = frame_bytes() + placements.size() * sizeof(std::int32_t) + room_for_the_rest;
    if (const auto why = why_no_room(aside.descriptor(), bytes)) throw fault(0, *why);
  }

  void make(const FrameWriterOptions& options);
  void make_described(const Hdf5Maker& maker, const Hdf5Handle& access, const FrameWriterOptions& options) const;
  void make_growing(const Hdf5Maker& maker, const Hdf5Handle& access) const;

  [[nodiscard]] bool set_frames(const Hdf5Handle& dataset, std::uint64_t count) const {
    const std::array<hsize_t, 3> shape{count, acquisition.a_scans(), acquisition.samples};
    return H5Dset_extent(dataset.id(), shape.data()) >= 0;
  }
  [[nodiscard]] bool set_counts(std::uint64_t count) const {
    const std::array<hsize_t, 2> shape{count, 1};
    return H5Dset_extent(counts.id(), shape.data()) >= 0;
  }
  /// Adds a frame's encoder count. Writes nothing until a frame states one.
  [[nodiscard]] bool add_count(std::optional<EncoderCount> position) {
    const std::size_t in_page = frames % counts_of_page;
    if (in_page == 0) std::fill(page.begin(), page.end(), no_position);
    counted = counted || position;
    if (!counted) return true;
    page[in_page] = position.value_or(no_position);
    const std::array<hsize_t, 2> place{frames - in_page, 0};
    return set_counts(frames + 1) &&
           H5Dwrite_chunk(counts.id(), H5P_DEFAULT, 0, place.data(), page.size() * sizeof(EncoderCount), page.data()) >= 0 &&
           H5Dflush(counts.id()) >= 0;
  }
  [[nodiscard]] bool add_placement(std::optional<EncoderCount> position) {
    if (!pose) return true;
    const Pose at = position ? pose(*position) : Pose{};
    const std::array<PlacementRow, 3> rows{PlacementRow{at.x.x, at.x.y, at.x.z}, PlacementRow{at.y.x, at.y.y, at.y.z},
                                           PlacementRow{at.origin.x.value, at.origin.y.value, at.origin.z.value}};
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if (!placed_frames[k].add(frames, rows[k])) return false;
    }
    std::fill(placements.begin(), placements.end(), static_cast<std::int32_t>(frames + 1));
    return true;
  }
  [[nodiscard]] bool add(const Hdf5Handle& dataset, const void* chunk, std::size_t bytes) const {
    const std::array<hsize_t, 3> place{frames, 0, 0};
    return set_frames(dataset, frames + 1) && H5Dwrite_chunk(dataset.id(), H5P_DEFAULT, 0, place.data(), bytes, chunk) >= 0 &&
           H5Dflush(dataset.id()) >= 0;
  }
};

void MfmcFrameFile::make_described(const Hdf5Maker& maker, const Hdf5Handle& access, const FrameWriterOptions& options) const {
  Hdf5NewFile described(aside.descriptor(), name(), {.access_list = &access});
  maker.text(described.handle(), "TYPE", "MFMC");
  maker.text(described.handle(), "VERSION", "2.0.0");
  const hobj_ref_t probe = make_probe(maker, described.handle(), acquisition.probe);
  const Laws laws(maker, described.handle(), probe, acquisition);
  make_sequence(maker, described.handle(), acquisition, options, probe, laws);
  described.close();
}

void MfmcFrameFile::make_growing(const Hdf5Maker& maker, const Hdf5Handle& access) const {
  Hdf5NewFile grown(aside.descriptor(), name(), {.access_list = &access, .flags = H5F_ACC_RDWR});
  Hdf5Handle sequence = maker.made(H5Gopen2(grown.handle().id(), "/SEQUENCES/S1", H5P_DEFAULT), "sequence");
  maker.growing(sequence, "PROBE_PLACEMENT_INDEX", H5T_STD_I32LE, {acquisition.a_scans()});
  if (pose) {
    for (const char* const placement : placement_datasets)
      maker.growing(sequence, placement, H5T_IEEE_F64LE, {1, 3}, placements_of_page);
  }
  maker.growing(sequence, encoder_count_dataset, H5T_STD_I64LE, {1}, counts_of_page, no_position);
  maker.growing(sequence, "MFMC_DATA", stored_type(acquisition.encoding), {acquisition.a_scans(), acquisition.samples});
  sequence = Hdf5Handle();
  grown.close();
}

void MfmcFrameFile::make(const FrameWriterOptions& options) {
  if (moves(acquisition, options)) pose = options.pose;
  const Hdf5Session session;
  const Hdf5Maker maker(name());
  maker.require_room(aside.descriptor(),
                     room_of_law * (acquisition.elements() + acquisition.event_count()) + room_of_row * acquisition.a_scans());
  errno = 0;
  const Hdf5Handle access = maker.made(H5Pcreate(H5P_FILE_ACCESS), "access");
  // SWMR needs the file format of HDF5 1.10.
  maker.done(H5Pset_libver_bounds(access.id(), H5F_LIBVER_V110, H5F_LIBVER_V110), "format version");
  make_described(maker, access, options);
  maker.done(H5Pset_alignment(access.id(), 1, page_bytes), "alignment");
  make_growing(maker, access);
  file = Hdf5NewFile(aside.descriptor(), name(), {.access_list = &access, .flags = H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE});
  const auto open = [&](const std::string& dataset) {
    const std::string place = fmt::format("/SEQUENCES/S1/{}", dataset);
    return maker.made(H5Dopen2(file.handle().id(), place.c_str(), H5P_DEFAULT), dataset);
  };
  index = open("PROBE_PLACEMENT_INDEX");
  data = open("MFMC_DATA");
  counts = open(encoder_count_dataset);
  for (std::size_t k = 0; pose && k < placement_datasets.size(); ++k) placed_frames[k].dataset = open(placement_datasets[k]);
  page.assign(counts_of_page, no_position);
  placements.assign(acquisition.a_scans(), 1);
  if (!acquisition.events.empty()) {
    const FrameLayout layout(acquisition);
    for (std::size_t event = 0; event < acquisition.events.size(); ++event) {
      const RowRange rows = layout.shot(event);
      std::fill_n(placements.begin() + static_cast<std::ptrdiff_t>(rows.first), rows.count,
                  static_cast<std::int32_t>(acquisition.events[event].position + 1));
    }
  }
  if (acquisition.encoding == SampleEncoding::packed12) unpacked.resize(acquisition.a_scans() * acquisition.samples);
}

/// Writes one sequence of one probe. The probe stays where it is, or `pose` of the options moves it by the encoder's counts and
/// each frame has a placement (mfmc_encoder.hpp). MFMC_DATA is [frames, A-scans, samples], one chunk a frame, in rows as the
/// layout has them; int16 and packed12 as int16 in the sender's counts, float32 as it is. The laws L1, L2 ... name one element
/// each, T1, T2 ... the elements of an event of several, with their delays and weights. A half matrix has the A-scans i <= j
/// only. Some things go beyond the format, which allows it. Sizes of elements that are unknown are a nanometre (a vector of
/// length 0 would leave no direction). ECHOFORM_SAMPLE_SCALE of the sequence is the amplitude of one count, if it is not 1.
/// ECHOFORM_ENCODER_COUNT has the positions of frames (mfmc_encoder.hpp). START_TIME has the time offset subtracted. Attributes
/// distinguish events and state what a law is meant to make (mfmc_parts.hpp).
///
/// The file is in HDF5's SWMR mode (single writer, multiple readers) from the first frame to close(). The library orders what it
/// passes to the system such that the file is consistent at every moment. Programs may read it while it grows, and a process that
/// is killed leaves all frames whose append() returned. Such a file carries a mark that it was not closed: readers open it with
/// the SWMR flag (h5py: File(path, "r", swmr=True); Recording does so by itself) or clear the mark with HDF5's `h5clear -s`. The
/// mode costs some 20 KiB a frame beside the samples. Only flush() forces data to the disk itself: after a loss of power the last
/// seconds may be missing.
///
/// Only one thread at a time may use it.
class MfmcWriter final : public formats::FileWriter<MfmcFrameFile> {
 public:
  /// The file appears at `path` with its first frame. Throws InputError if a file exists there already, if the place may not be
  /// written to, and as check_mfmc_holds(); RuntimeFault if the disk is full.
  MfmcWriter(const std::filesystem::path& path, const Acquisition& acquisition, const FrameWriterOptions& options = {});
  /// Closes the file as close() does, without reporting errors, unless the file is to be whole.
  ~MfmcWriter() override;

  // When append() returns, the frame survives the process. After a fault no further frame is accepted.
  void flush() override;
  void close() override;

  [[nodiscard]] std::uint64_t bytes() const noexcept override;

 private:
  void write(std::span<const std::byte> frame, const FrameStamp& stamp) override;
};

MfmcWriter::MfmcWriter(const std::filesystem::path& path, const Acquisition& acquisition, const FrameWriterOptions& options) {
  check_mfmc_holds(acquisition, path.string());
  require_absent(path, path.string());
  file_.reset(new MfmcFrameFile{path, acquisition, AtomicFile(path, IfThere::refuse), options.whole});
  file_->make(options);
}

MfmcWriter::~MfmcWriter() {
  try {
    if (!file_->whole) close();
  } catch (const std::exception&) {  // callers that need the error call close()
  }
}

void MfmcWriter::write(std::span<const std::byte> frame, const FrameStamp& stamp) {
  MfmcFrameFile& f = *file_;
  if (f.broken || !f.file) throw RuntimeFault(fmt::format("{}: no longer written to", f.name()));
  if (frame.size() != f.acquisition.frame_bytes()) {
    throw InputError(f.name(), fmt::format("a frame of {} bytes", frame.size()), fmt::format("{}", f.acquisition.frame_bytes()));
  }
  const void* samples = frame.data();
  if (f.acquisition.encoding == SampleEncoding::packed12) {
    frame_counts(f.acquisition, frame, f.unpacked);
    samples = f.unpacked.data();
  }
  f.broken = true;  // until the frame is added
  f.require_room();
  const Hdf5Session session;
  errno = 0;
  // The frame counts once the data have grown, so its placement and position are written first.
  const bool added = f.add_placement(stamp.position) &&
                     f.add(f.index, f.placements.data(), f.placements.size() * sizeof(std::int32_t)) &&
                     f.add_count(stamp.position) && f.add(f.data, samples, f.frame_bytes());
  if (const int error = f.file.write_error(); !added || error != 0) {
    const int reason = error != 0 ? error : errno;
    // The file stays as a killed process leaves it: with the frames before this one.
    f.file.abandon();
    throw f.fault(reason, "HDF5 refuses");
  }
  // Opening for writing excludes readers for a moment, so the file gets its name only once they may read it.
  if (!f.whole) f.aside.commit();
  f.broken = false;
  ++f.frames;
}

void MfmcWriter::flush() {
  const MfmcFrameFile& f = *file_;
  if (f.broken || !f.file) return;
  if (::fdatasync(f.aside.descriptor()) != 0)
    throw RuntimeFault(fmt::format("{}: cannot be forced to the disk: {}", f.name(), std::strerror(errno)));
}

void MfmcWriter::close() {
  MfmcFrameFile& f = *file_;
  if (!f.file) return;
  const Hdf5Session session;
  Hdf5NewFile file = std::exchange(f.file, Hdf5NewFile());
  f.data = {};
  f.index = {};
  f.counts = {};
  for (PlacedFrames& placed : f.placed_frames) placed.dataset = {};
  try {
    file.close();
  } catch (const RuntimeFault&) {
    // After a failure the earlier frames are in the file, and the failure was reported then.
    if (!std::exchange(f.broken, true)) throw;
  }
  if (f.whole && f.frames > 0 && !f.broken) f.aside.commit();
}

std::uint64_t MfmcWriter::bytes() const noexcept {
  return file_->frames * file_->frame_bytes();
}

}  // namespace

namespace formats {

constinit const FrameFormat mfmc_frames{.check = check_mfmc_holds, .make = write_by<MfmcWriter>, .grows = true};

}  // namespace formats

}  // namespace echoform
