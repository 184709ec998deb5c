#include "formats/scan_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "acquisition/acquisition.hpp"
#include "base/errors.hpp"
#include "formats/atomic_file.hpp"
#include "formats/guarded_trial.hpp"
#include "formats/hdf5_blocks.hpp"
#include "formats/hdf5_output.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform {
namespace {

using namespace formats;

constexpr const char* file_type = "ECHOFORM_SCAN";
constexpr const char* file_version = "1";
constexpr std::size_t most_values = std::size_t{1} << 28;  // the maximum number of pixels of a grid

std::string_view word_of(Composition composition) {
  return composition == Composition::coherent ? "coherent" : "maximum";
}

std::string numbered(std::string_view name, std::size_t view) {
  return fmt::format("{}.{}", name, view);
}

/// NumPy's users read a compound of r and i as complex numbers.
Hdf5Handle complex_type() {
  Hdf5Handle type(H5Tcreate(H5T_COMPOUND, sizeof(std::complex<float>)));
  H5Tinsert(type.id(), "r", 0, H5T_NATIVE_FLOAT);
  H5Tinsert(type.id(), "i", sizeof(float), H5T_NATIVE_FLOAT);
  return type;
}

std::vector<hsize_t> shape_of(const Grid& grid) {
  if (grid.y.count > 1) return {grid.z.count, grid.y.count, grid.x.count};
  return {grid.z.count, grid.x.count};
}

void put_text(const Hdf5Output& file, const char* name, const std::string& text) {
  static_cast<void>(file.dataset(name, {text.size()}, H5T_NATIVE_UINT8, text.data()));
}

/// A file that is open for reading.
class ScanFile {
 public:
  explicit ScanFile(const InputFile& input) : name_(input.name()), file_(open_hdf5(input)) {
    const std::string type = Hdf5Item::exists(file_, "TYPE") ? attribute("TYPE") : std::string("no TYPE");
    if (type != file_type)
      throw InputError(name_, fmt::format("{}", printable(type)), fmt::format("a file of TYPE {}", file_type));
    if (const std::string version = attribute("VERSION"); version != file_version)
      throw InputError(name_, fmt::format("VERSION {}", printable(version)), file_version);
  }

  [[nodiscard]] std::string attribute(const char* name) const { return Hdf5Item::require(file_, name, name_).text(); }

  /// Reads an array of bounded size; of any shape if `shape` is empty.
  template <class Value>
  void read(const std::string& name, hid_t type, const std::vector<std::size_t>& shape, std::vector<Value>& into) const {
    const Hdf5Item item = Hdf5Item::require(file_, name, name_);
    if (!shape.empty()) item.require_shape(shape);
    if (item.is_attribute() || item.points() > most_values)
      throw InputError(item.where(), fmt::format("shape {}", shape_text(item.shape())), "a dataset");
    into.resize(item.points());
    if (into.empty()) return;
    Hdf5Blocks(item, 0).read_all(type, std::as_writable_bytes(std::span(into)));
  }
  [[nodiscard]] std::string text(const char* name) const {
    std::vector<char> bytes;
    read(name, H5T_NATIVE_UINT8, {}, bytes);
    return {bytes.begin(), bytes.end()};
  }
  [[nodiscard]] std::string view(std::size_t k) const {
    const Hdf5Item item = Hdf5Item::require(file_, numbered("envelope", k), name_);
    return Hdf5Item::require(item.handle(), "view", item.where()).text();
  }
  [[nodiscard]] bool has_view(std::size_t k) const { return Hdf5Item::exists(file_, numbered("envelope", k)); }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
  Hdf5Handle file_;
};

ScanFileMakings makings_in(const ScanFile& file) {
  ScanFileMakings makings{{}, file.attribute("acquisition"), file.text("hello")};
  const std::string settings = file.text("settings");
  for (std::size_t at = 0; at < settings.size();) {
    const std::size_t end = std::min(settings.find('\n', at), settings.size());
    makings.settings.push_back(settings.substr(at, end - at));
    at = end + 1;
  }
  return makings;
}

void force_to_disk(int file, const std::string& name) {
  if (::fsync(file) != 0) throw RuntimeFault(fmt::format("{}: cannot be forced to the disk: {}", name, std::strerror(errno)));
}

}  // namespace

ScanFileMakings makings_of(const ScanMakings& makings) {
  Acquisition one = makings.acquisition;
  // A Hello states one size for all elements, so their own sizes are left out of the comparison.
  for (Element& element : one.probe.elements) {
    element.width = one.probe.elements.front().width;
    element.length = one.probe.elements.front().length;
  }
  return {makings.settings, acquisition_text(makings.acquisition), encode_hello({}, one)};
}

ScanDifference settings_difference(const std::vector<std::string>& found, const std::vector<std::string>& expected) {
  const auto name = [](const std::string& line) { return line.substr(0, line.find(" = ")); };
  for (const std::string& line : expected) {
    if (std::find(found.begin(), found.end(), line) != found.end()) continue;
    const auto other = std::find_if(found.begin(), found.end(), [&](const std::string& of) { return name(of) == name(line); });
    return {other != found.end() ? *other : "no " + name(line), line};
  }
  for (const std::string& line : found) {
    if (std::find(expected.begin(), expected.end(), line) == expected.end()) return {line, "no " + name(line)};
  }
  return {};
}

ScanDifference difference(const ScanFileMakings& found, const ScanFileMakings& expected) {
  ScanDifference differs = settings_difference(found.settings, expected.settings);
  if (!differs.found.empty() || found.hello == expected.hello) return differs;
  if (found.acquisition != expected.acquisition) return {found.acquisition, expected.acquisition};
  return {found.acquisition + ", of other elements, events or times", "those of the sender"};
}

void write_scan_file(const std::filesystem::path& path, const ScanFileMakings& makings, Composition composition, const Grid& grid,
                     const ScanRecord::Contents& contents) {
  AtomicFile aside(path);
  {
    const Hdf5Session session;
    Hdf5Output file(aside.descriptor(), path.string());
    {
      const Hdf5Handle root = file.root();
      file.text(root, "TYPE", file_type);
      file.text(root, "VERSION", file_version);
      file.text(root, "composition", std::string(word_of(composition)));
      file.text(root, "acquisition", makings.acquisition);
    }
    std::string settings;
    for (const std::string& line : makings.settings) settings += line + "\n";
    put_text(file, "settings", settings);
    put_text(file, "hello", makings.hello);
    static_cast<void>(file.dataset("cells", {contents.cells.size()}, H5T_NATIVE_INT64, contents.cells.data()));
    const ScanRecord::Counts& counted = contents.counts;
    const std::array<std::uint64_t, 4> counts{counted.repeated, counted.outside, counted.without_position, counted.refused};
    static_cast<void>(file.dataset("counts", {counts.size()}, H5T_NATIVE_UINT64, counts.data()));
    const std::vector<hsize_t> shape = shape_of(grid);
    for (std::size_t k = 0; k < contents.images.size(); ++k) {
      const ScanRecord::Image& image = contents.images[k];
      file.text(file.dataset(numbered("envelope", k).c_str(), shape, H5T_NATIVE_FLOAT, image.envelope.data()), "view",
                image.view);
      if (composition != Composition::coherent) continue;
      static_cast<void>(file.dataset(numbered("sum", k).c_str(), shape, complex_type().id(), image.sum.data()));
      static_cast<void>(file.dataset(numbered("covered", k).c_str(), shape, H5T_NATIVE_UINT32, image.covered.data()));
    }
    static_cast<void>(file.axis("x", grid.x, "m"));
    static_cast<void>(file.axis("z", grid.z, "m"));
    if (grid.y.count > 1) static_cast<void>(file.axis("y", grid.y, "m"));
    file.finish();
  }
  force_to_disk(aside.descriptor(), path.string());
  aside.commit();
}

void try_scan_file(const InputFile& input) {
  TrialLimits limits;
  limits.memory += 2 * static_cast<std::size_t>(input.size());
  // The trial runs within no session: in the child, a lock that is held does not know its owner.
  try_in_child(
      input.name(),
      [&] {
        const Hdf5Session session;
        const ScanFile file(input);
        static_cast<void>(makings_in(file));
        std::vector<float> values;
        std::vector<std::complex<float>> sums;
        std::vector<std::uint32_t> covered;
        const bool coherent = file.attribute("composition") == word_of(Composition::coherent);
        for (std::size_t k = 0; file.has_view(k); ++k) {
          file.read(numbered("envelope", k), H5T_NATIVE_FLOAT, {}, values);
          if (coherent) file.read(numbered("sum", k), complex_type().id(), {}, sums);
          if (coherent) file.read(numbered("covered", k), H5T_NATIVE_UINT32, {}, covered);
        }
        std::vector<std::int64_t> cells;
        file.read("cells", H5T_NATIVE_INT64, {}, cells);
      },
      limits);
}

ScanFileMakings read_scan_makings(const InputFile& input) {
  const Hdf5Session session;
  return makings_in(ScanFile(input));
}

ScanRecord::Contents read_scan_contents(const InputFile& input, const ScanRecord& record) {
  const Hdf5Session session;
  const ScanFile file(input);
  ScanRecord::Contents contents;
  const bool coherent = record.composition() == Composition::coherent;
  if (const std::string word = file.attribute("composition"); word != word_of(record.composition()))
    throw InputError(file.name(), fmt::format("composition {}", printable(word)), std::string(word_of(record.composition())));
  std::vector<std::size_t> shape;
  for (const hsize_t size : shape_of(record.grid())) shape.push_back(static_cast<std::size_t>(size));
  for (std::size_t k = 0; k < record.images().size(); ++k) {
    ScanRecord::Image image{record.images()[k].view, {}, {}, {}};
    if (const std::string view = file.view(k); view != image.view)
      throw InputError(file.name(), fmt::format("view {}", printable(view)), image.view);
    file.read(numbered("envelope", k), H5T_NATIVE_FLOAT, shape, image.envelope);
    if (coherent) file.read(numbered("sum", k), complex_type().id(), shape, image.sum);
    if (coherent) file.read(numbered("covered", k), H5T_NATIVE_UINT32, shape, image.covered);
    contents.images.push_back(std::move(image));
  }
  if (file.has_view(record.images().size()))
    throw InputError(file.name(), "more views than that", fmt::format("{}", record.images().size()));
  file.read("cells", H5T_NATIVE_INT64, {}, contents.cells);
  if (contents.cells.size() > most_scan_cells)
    throw InputError(file.name(), fmt::format("{} cells", contents.cells.size()), fmt::format("at most {}", most_scan_cells));
  std::vector<std::uint64_t> counts;
  file.read("counts", H5T_NATIVE_UINT64, {4}, counts);
  contents.counts = {contents.cells.size(), counts[0], counts[1], counts[2], counts[3]};
  return contents;
}

}  // namespace echoform
