// The Setup of an Evident .nde file, JSON, from memory, and the recording that it makes with samples of a shape that some of the
// setups in the corpus have: HDF5 itself writes the file, and it is read in this process.
#include <hdf5.h>

#include <array>
#include <string>

#include "formats/nde_setup.hpp"
#include "formats/recording_formats.hpp"
#include "tests/fuzz/recording_check.hpp"

namespace {

using namespace echoform;

constexpr formats::NdeLimits limits{.elements = 64, .events = 64, .values = 20'000};

void check_setup(const std::string& json) {
  try {
    const formats::NdeCapture found = formats::read_nde_setup(json, "in.nde", 0, limits);
    const std::size_t elements = found.probe.elements.size();
    fuzz::require(elements >= 1 && elements <= limits.elements, "elements within the limit");
    fuzz::require(!found.beams.empty() && found.beams.size() <= limits.events, "beams within the limit");
    for (const formats::NdeBeam& beam : found.beams) {
      fuzz::require(!beam.pulsers.empty() && !beam.receivers.empty(), "beams of somebody");
      for (const auto& pulser : beam.pulsers) fuzz::require(pulser.element < elements, "pulsers of the probe");
      for (const std::size_t receiver : beam.receivers) fuzz::require(receiver < elements, "receivers of the probe");
    }
    fuzz::require(std::isfinite(found.scale) && found.scale > 0.0 && std::isfinite(found.zero), "amplitudes");
    fuzz::require(found.sample_rate >= 1.0 && std::isfinite(found.start) && std::isfinite(found.length), "times");
    for (const std::string& line : found.warnings) fuzz::require_one_line(line);
  } catch (const InputError& error) {
    fuzz::require_one_line(error.what());
  }
}

void write_file(const std::string& path, const std::string& json) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  fuzz::require(file >= 0, "HDF5 makes a file");
  const hid_t links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, std::max<std::size_t>(json.size(), 1));
  H5Tset_strpad(text, H5T_STR_NULLPAD);
  const hid_t one = H5Screate(H5S_SCALAR);
  const hid_t setup = H5Dcreate2(file, "/Public/Setup", text, one, links, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(setup, text, H5S_ALL, H5S_ALL, H5P_DEFAULT, json.empty() ? "" : json.data());
  const std::array<hsize_t, 2> shape{2, 32};  // 2 positions of 4 A-scans of 8 samples
  std::array<short, 64> numbers{};
  for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = static_cast<short>(k * 37);
  const hid_t space = H5Screate_simple(2, shape.data(), nullptr);
  const hid_t data =
      H5Dcreate2(file, "/Public/Groups/0/Datasets/0-AScanAmplitude", H5T_STD_I16LE, space, links, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(data, H5T_NATIVE_SHORT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data());
  H5Dclose(data);
  H5Sclose(space);
  H5Dclose(setup);
  H5Sclose(one);
  H5Tclose(text);
  H5Pclose(links);
  H5Fclose(file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::InputFile file(".nde");
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const std::string json(reinterpret_cast<const char*>(data), size);
  check_setup(json);
  write_file(file.path(), json);
  fuzz::check_recording(
      [&] { return formats::open_as(formats::nde_format, file.path(), fuzz::small_recordings, formats::Trial::none); });
  return 0;
}
