// Writes recordings as BRAIN `exp_data`, the MATLAB structure of formats/brain_mat.cpp, which holds one frame.
#include <fmt/format.h>
#include <matio.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "acquisition/firings.hpp"
#include "base/descriptors.hpp"
#include "base/errors.hpp"
#include "formats/atomic_file.hpp"
#include "formats/file_writer.hpp"
#include "formats/mat5_check.hpp"
#include "formats/pair_order.hpp"
#include "formats/recording_formats.hpp"
#include "formats/samples.hpp"

namespace echoform {
namespace {

/// Maximum size of an array of a version 5 file: its lengths have 32 bits, and libraries read them as signed.
constexpr std::size_t most_bytes = std::size_t{1} << 31;

struct MatFileCloser {
  void operator()(mat_t* file) const { Mat_Close(file); }
};
struct VariableFree {
  void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};
using MatFile = std::unique_ptr<mat_t, MatFileCloser>;
using Variable = std::unique_ptr<matvar_t, VariableFree>;

Variable structure(const char* name) {
  std::array<std::size_t, 2> one{1, 1};
  return Variable(Mat_VarCreateStruct(name, 2, one.data(), nullptr, 0));
}

/// Adds a copy of `values` as a field of float64 [rows x columns], column-major.
void add(const Variable& to, const char* name, const std::vector<double>& values, std::size_t rows, std::size_t columns) {
  std::array<std::size_t, 2> shape{rows, columns};
  // matio takes a pointer to non-const data although it only copies them.
  auto* const from = const_cast<double*>(values.data());
  Variable field(Mat_VarCreate(name, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, shape.data(), from, 0));
  if (!to || !field || Mat_VarAddStructField(to.get(), name) != 0)
    throw RuntimeFault(fmt::format("exp_data: no memory for {}", name));
  Mat_VarSetStructFieldByName(to.get(), name, 0, field.release());
}
void add_row(const Variable& to, const char* name, const std::vector<double>& values) {
  add(to, name, values, 1, values.size());
}

Variable array_of(const Probe& probe) {
  Variable array = structure("array");
  const auto each = [&](const char* name, auto get) {
    std::vector<double> values;
    for (const Element& element : probe.elements) values.push_back(get(element));
    add_row(array, name, values);
  };
  each("el_xc", [](const Element& e) { return e.centre.x.value; });
  each("el_yc", [](const Element& e) { return e.centre.y.value; });
  each("el_zc", [](const Element& e) { return e.centre.z.value; });
  // One point on the edge along each axis of an element that lies flat.
  each("el_x1", [](const Element& e) { return e.centre.x.value + 0.5 * e.width.value; });
  each("el_y1", [](const Element& e) { return e.centre.y.value; });
  each("el_z1", [](const Element& e) { return e.centre.z.value; });
  each("el_x2", [](const Element& e) { return e.centre.x.value; });
  each("el_y2", [](const Element& e) { return e.centre.y.value + 0.5 * e.length.value; });
  each("el_z2", [](const Element& e) { return e.centre.z.value; });
  add_row(array, "centre_freq", {probe.centre_frequency.value});
  return array;
}

/// Whether the whole file was written: matio does not check every write.
bool is_whole(const std::filesystem::path& path) {
  try {
    return formats::check_mat5(path, "exp_data", "time_data").has_value();
  } catch (const InputError&) {
    return false;
  }
}

/// Throws InputError, naming `where`, unless a version 5 .mat file can hold a frame of `acquisition`. The format cannot express a
/// half_summed matrix or events in which no element transmits. The samples must take less than 2 GiB as float64.
void check_brain_mat_holds(const Acquisition& acquisition, const std::string& where) {
  if (acquisition.pairs_summed()) {
    throw InputError(where, "matrix half_summed", "full or half (exp_data cannot say that both directions of a pair were added)");
  }
  if (all_passive(acquisition.events)) {
    throw InputError(where, "passive events", "events that transmit (exp_data cannot say that nobody does; .efcap holds them)");
  }
  if (!acquisition.positions.empty()) {
    throw InputError(where, fmt::format("{} positions of the probe within a frame", acquisition.positions.size()),
                     "one (.mfmc and .efcap hold others)");
  }
  if (!fires_single_elements(acquisition)) {
    throw InputError(where, "events in which several elements fire", "one element an event (.mfmc and .efcap hold others)");
  }
  if (!formats::pairs_tell_events(acquisition)) {
    throw InputError(where, "events whose receivers would be read back as an incomplete matrix",
                     "events that all elements record, or fewer of them (.mfmc and .efcap hold others)");
  }
  const std::size_t bytes = acquisition.a_scans() * acquisition.samples * sizeof(double);
  if (bytes >= most_bytes)
    throw InputError(where, fmt::format("{} bytes of samples", bytes), "less than 2 GiB, what a .mat file of version 5 holds");
}

struct BrainMatFrameFile {
  std::filesystem::path path;
  Acquisition acquisition;
  FrameWriterOptions options;
  AtomicFile aside;
  std::uint64_t frames = 0;
  bool written = false;
};

/// Samples are float64 amplitudes: float32 values exactly, counts times sample_scale, rounded to 53 bits once. The format has no
/// field for dead elements, bandwidth, sequence, times and the shear velocity. The file appears whole, with close().
class BrainMatWriter final : public formats::FileWriter<BrainMatFrameFile> {
 public:
  BrainMatWriter(const std::filesystem::path& path, const Acquisition& acquisition, const FrameWriterOptions& options);
  ~BrainMatWriter() override;

  void close() override;
  [[nodiscard]] std::uint64_t bytes() const noexcept override;

 private:
  /// Throws InputError for a second frame.
  void write(std::span<const std::byte> frame, const FrameStamp& stamp) override;
};

BrainMatWriter::BrainMatWriter(const std::filesystem::path& path, const Acquisition& acquisition,
                               const FrameWriterOptions& options) {
  check_brain_mat_holds(acquisition, path.string());
  require_absent(path, path.string());
  file_.reset(new BrainMatFrameFile{path, acquisition, options, AtomicFile(path, IfThere::refuse)});
}

BrainMatWriter::~BrainMatWriter() {
  try {
    if (!file_->options.whole) close();
  } catch (const std::exception&) {  // callers that need the error call close()
  }
}

void BrainMatWriter::write(std::span<const std::byte> frame, const FrameStamp& /*stamp*/) {
  BrainMatFrameFile& f = *file_;
  const Acquisition& a = f.acquisition;
  const std::string name = f.path.string();
  if (frame.size() != a.frame_bytes())
    throw InputError(name, fmt::format("a frame of {} bytes", frame.size()), fmt::format("{}", a.frame_bytes()));
  if (f.frames > 0) throw InputError(name, "a second frame", "one: exp_data holds no more");
  std::vector<double> samples(a.a_scans() * a.samples);
  formats::frame_amplitudes(a, frame, samples);
  std::vector<double> transmit;
  std::vector<double> receive;
  for (const formats::ElementPair pair : formats::element_pairs(a, name)) {
    transmit.push_back(static_cast<double>(pair.transmit + 1));
    receive.push_back(static_cast<double>(pair.receive + 1));
  }
  std::vector<double> time;
  for (std::size_t n = 0; n < a.samples; ++n)
    time.push_back(a.start_time.value - a.time_offset.value + static_cast<double>(n) / a.sample_rate.value);

  const Variable data = structure("exp_data");
  // An A-scan is a column, and columns follow each other.
  add(data, "time_data", samples, a.samples, a.a_scans());
  add(data, "time", time, a.samples, 1);
  add_row(data, "tx", transmit);
  add_row(data, "rx", receive);
  if (f.options.material.longitudinal_velocity.value > 0.0)
    add_row(data, "ph_velocity", {f.options.material.longitudinal_velocity.value});
  Variable array = array_of(a.probe);
  if (Mat_VarAddStructField(data.get(), "array") != 0) throw RuntimeFault("exp_data: no memory for array");
  Mat_VarSetStructFieldByName(data.get(), "array", 0, array.release());

  errno = 0;
  MatFile mat(Mat_CreateVer(f.aside.aside().c_str(), "MATLAB 5.0 MAT-file, exp_data", MAT_FT_MAT5));
  const bool written = mat && Mat_VarWrite(mat.get(), data.get(), MAT_COMPRESSION_NONE) == 0 && Mat_Close(mat.release()) == 0;
  const int cause = errno;
  if (!written || !is_whole(f.aside.aside())) {
    throw_system_fault(cause,
                       fmt::format("{}: cannot be written: {}", name, cause != 0 ? std::strerror(cause) : "matio refuses"));
  }
  f.frames = 1;
}

void BrainMatWriter::close() {
  BrainMatFrameFile& f = *file_;
  if (f.frames == 0 || std::exchange(f.written, true)) return;
  f.aside.commit();
}

std::uint64_t BrainMatWriter::bytes() const noexcept {
  return file_->frames * file_->acquisition.a_scans() * file_->acquisition.samples * sizeof(double);
}

}  // namespace

namespace formats {

constinit const FrameFormat brain_mat_frames{
    .check = check_brain_mat_holds,
    .make = write_by<BrainMatWriter>,
    .most_frames = 1,
    .samples_as = [](const Acquisition&) -> std::string_view { return "float64 amplitudes"; }};

}  // namespace formats

}  // namespace echoform
