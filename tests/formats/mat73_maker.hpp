// Writes BRAIN exp_data as a MATLAB file of version 7.3 by HDF5's own interface: as MATLAB lays it out, and as h5py does.
#pragma once

#include <hdf5.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/formats/mat_maker.hpp"

namespace echoform::test {

/// exp_data of three elements, of which all pairs are there, 5 samples each.
struct Mat73Maker {
  std::size_t elements = 3;
  std::size_t samples = 5;
  bool matlab = true;       ///< a header of 512 bytes, MATLAB_class, axes reversed; else h5py's: no class, no header
  bool compressed = false;  ///< chunks of two columns, through deflate
  hid_t sample_type = H5T_IEEE_F64LE;
  const char* sample_class = "double";
  std::string without{};  ///< leaves out the field
  /// What to do with exp_data besides, or with what is there.
  std::function<void(hid_t file, hid_t data)> besides{};
  double (*sample)(std::size_t, std::size_t, std::size_t) = brain_sample;

  static void written(hid_t result, const std::string& what) {
    if (result < 0) throw std::runtime_error("HDF5 does not write " + what);
  }

  static void mark(hid_t object, const char* name, const std::string& text) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, text.size());
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    written(H5Awrite(attribute, type, text.data()), name);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
  }

  /// `shape` as MATLAB has it, `values` in its (column-major) order.
  void write(hid_t group, const std::string& name, std::array<hsize_t, 2> shape, const std::vector<double>& values,
             hid_t type = H5T_IEEE_F64LE, const char* of_class = "double", hsize_t chunk = 0) const {
    if (name == without) return;
    const std::array<hsize_t, 2> reversed{shape[1], shape[0]};
    const hid_t space = H5Screate_simple(2, reversed.data(), nullptr);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    if (chunk > 0) {
      const std::array<hsize_t, 2> sizes{chunk, shape[0]};
      H5Pset_chunk(creation, 2, sizes.data());
      H5Pset_deflate(creation, 3);
    }
    const hid_t dataset = H5Dcreate2(group, name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    written(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), name);
    if (matlab) mark(dataset, "MATLAB_class", of_class);
    H5Dclose(dataset);
    H5Pclose(creation);
    H5Sclose(space);
  }

  [[nodiscard]] hid_t group(hid_t parent, const char* name) const {
    const hid_t made = H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (matlab) mark(made, "MATLAB_class", "struct");
    return made;
  }

  void save(const std::filesystem::path& path) const {
    const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    if (matlab) H5Pset_userblock(creation, 512);
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, H5P_DEFAULT);
    written(file, path.string());
    const hid_t data = group(file, "exp_data");
    std::vector<double> values, tx, rx, time, x, edge;
    for (std::size_t i = 0; i < elements; ++i) {
      for (std::size_t j = 0; j < elements; ++j) {
        tx.push_back(static_cast<double>(i + 1));
        rx.push_back(static_cast<double>(j + 1));
        for (std::size_t n = 0; n < samples; ++n) values.push_back(sample(i, j, n));
      }
      x.push_back(6e-4 * static_cast<double>(i));
      edge.push_back(x.back() + 2.5e-4);
    }
    for (std::size_t n = 0; n < samples; ++n) time.push_back(1e-6 + 4e-8 * static_cast<double>(n));
    write(data, "time_data", {samples, tx.size()}, values, sample_type, sample_class, compressed ? 2 : 0);
    write(data, "tx", {1, tx.size()}, tx);
    write(data, "rx", {1, rx.size()}, rx, H5T_STD_U16LE, "uint16");
    write(data, "time", {samples, 1}, time);
    write(data, "ph_velocity", {1, 1}, {6300.0});
    if (without != "array") {
      const hid_t array = group(data, "array");
      write(array, "el_xc", {1, elements}, x);
      write(array, "el_x1", {1, elements}, edge);
      write(array, "centre_freq", {1, 1}, {5e6});
      H5Gclose(array);
    }
    if (besides) besides(file, data);
    H5Gclose(data);
    H5Fclose(file);
    H5Pclose(creation);
    if (!matlab) return;
    std::fstream header(path, std::ios::in | std::ios::out | std::ios::binary);
    std::string text = "MATLAB 7.3 MAT-file, Platform: GLNXA64";
    text.resize(124, ' ');
    header << text << std::string("\x00\x02IM", 4);
  }
};

}  // namespace echoform::test
