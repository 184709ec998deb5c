#include "tests/formats/mfmc_maker.hpp"

#include <stdexcept>
#include <vector>

namespace echoform::test {
namespace {

hid_t good(hid_t id) {
  if (id < 0) throw std::runtime_error("HDF5 cannot write a test file");
  return id;
}

void text(hid_t object, const char* name, const std::string& value, bool fixed) {
  const hid_t type = good(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, fixed ? value.size() : H5T_VARIABLE);
  if (fixed) H5Tset_strpad(type, H5T_STR_NULLPAD);
  const hid_t space = good(H5Screate(H5S_SCALAR));
  const hid_t attribute = good(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT));
  const char* pointer = value.c_str();
  if (fixed)
    H5Awrite(attribute, type, pointer);
  else
    H5Awrite(attribute, type, &pointer);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
}

void numbers(hid_t object, const char* name, const std::vector<hsize_t>& shape, const std::vector<double>& values, hid_t type,
             bool attribute) {
  const hid_t space =
      good(shape.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr));
  if (attribute) {
    const hid_t id = good(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT));
    H5Awrite(id, H5T_NATIVE_DOUBLE, values.data());
    H5Aclose(id);
  } else {
    const hid_t id = good(H5Dcreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Dwrite(id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(id);
  }
  H5Sclose(space);
}

void references(hid_t object, const char* name, const std::vector<hobj_ref_t>& values) {
  const hsize_t count = values.size();
  const hid_t space = good(H5Screate_simple(1, &count, nullptr));
  const hid_t id = good(H5Dcreate2(object, name, H5T_STD_REF_OBJ, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Dwrite(id, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Dclose(id);
  H5Sclose(space);
}

hid_t group(hid_t parent, const std::string& name) {
  return good(H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
}

hobj_ref_t reference_to(hid_t file, hid_t object) {
  std::array<char, 256> name{};
  H5Iget_name(object, name.data(), name.size());
  hobj_ref_t reference = 0;
  good(H5Rcreate(&reference, file, name.data(), H5R_OBJECT, -1));
  return reference;
}

std::vector<double> flat(const std::vector<Triple>& triples) {
  std::vector<double> values;
  for (const auto& triple : triples) values.insert(values.end(), triple.begin(), triple.end());
  return values;
}

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> MfmcMaker::all_pairs() const {
  if (!pairs.empty()) return pairs;
  std::vector<std::pair<std::size_t, std::size_t>> all;
  for (std::size_t i = 0; i < elements; ++i) {
    for (std::size_t j = 0; j < elements; ++j) all.emplace_back(i, j);
  }
  return all;
}

void MfmcMaker::write(const std::filesystem::path& path) const {
  const hid_t file = good(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  const auto wanted = [this](const char* name) { return without != name; };
  const auto put = [&](hid_t object, const char* name, const std::vector<hsize_t>& shape, const std::vector<double>& values,
                       hid_t type, bool attribute) {
    if (wanted(name))
      numbers(object, name, attribute && scalar_attributes && shape == std::vector<hsize_t>{1} ? std::vector<hsize_t>{} : shape,
              values, type, attribute);
  };
  if (root_type) {
    text(file, "TYPE", "MFMC", fixed_strings);
    text(file, "VERSION", "2.0.0", fixed_strings);
  }
  const hid_t doubles = H5T_IEEE_F64LE;

  const hid_t probes = grouped ? group(file, "PROBES") : good(H5Gopen2(file, "/", H5P_DEFAULT));
  const hid_t probe = group(probes, grouped ? "P1" : "PROBE<1>");
  text(probe, "TYPE", "PROBE", fixed_strings);
  std::vector<Triple> centres;
  for (std::size_t i = 0; i < elements; ++i) centres.push_back({6e-4 * static_cast<double>(i), 0.0, 0.0});
  put(probe, "ELEMENT_POSITION", {elements, 3}, flat(centres), doubles, false);
  put(probe, "ELEMENT_MAJOR", {elements, 3}, flat(std::vector<Triple>(elements, major)), doubles, false);
  put(probe, "ELEMENT_MINOR", {elements, 3}, flat(std::vector<Triple>(elements, minor)), doubles, false);
  put(probe, "ELEMENT_SHAPE", {elements}, std::vector<double>(elements, 1.0), index_type, false);
  if (!dead.empty()) put(probe, "DEAD_ELEMENT", {elements}, {dead.begin(), dead.end()}, index_type, false);
  put(probe, "CENTRE_FREQUENCY", {1}, {5e6}, doubles, true);
  if (!wedge_point.empty()) put(probe, "WEDGE_SURFACE_POINT", {wedge_point.size()}, wedge_point, doubles, true);
  if (!wedge_normal.empty()) put(probe, "WEDGE_SURFACE_NORMAL", {wedge_normal.size()}, wedge_normal, doubles, true);
  const hobj_ref_t probe_reference = reference_to(file, probe);

  const hid_t sequence_parent = grouped ? group(file, "SEQUENCES") : good(H5Gopen2(file, "/", H5P_DEFAULT));
  const hid_t shared_laws = grouped ? group(file, "LAWS") : -1;
  for (std::size_t s = 1; s <= sequences; ++s) {
    const std::string number = std::to_string(s);
    const hid_t sequence = group(sequence_parent, grouped ? "S" + number : "SEQUENCE<" + number + ">");
    if (wanted("TYPE")) text(sequence, "TYPE", "SEQUENCE", fixed_strings);
    if (!wedge_velocity.empty()) put(sequence, "WEDGE_VELOCITY", {wedge_velocity.size()}, wedge_velocity, doubles, true);
    const auto make_law = [&](const std::string& name, std::size_t element, bool all_at_work) {
      const hid_t law = group(grouped ? shared_laws : sequence, name);
      text(law, "TYPE", "LAW", fixed_strings);
      std::vector<double> numbers_of_elements, weights;
      for (std::size_t i = 0; i < elements; ++i) {
        if (!one_hot && !all_at_work && i != element) continue;
        numbers_of_elements.push_back(static_cast<double>(i + 1 + element_offset));
        weights.push_back(all_at_work || i == element ? 1.0 : 0.0);
      }
      const hsize_t count = numbers_of_elements.size();
      if (wanted("PROBE")) references(law, "PROBE", std::vector<hobj_ref_t>(count, probe_reference));
      put(law, "ELEMENT", scalar_element && count == 1 ? std::vector<hsize_t>{} : std::vector<hsize_t>{count},
          numbers_of_elements, index_type, false);
      if (one_hot) put(law, "WEIGHTING", {count}, weights, doubles, false);
      if (delay != 0.0) put(law, "DELAY", {count}, std::vector<double>(count, delay), doubles, false);
      const hobj_ref_t reference = reference_to(file, law);
      H5Gclose(law);
      return reference;
    };
    std::vector<hobj_ref_t> laws;
    for (std::size_t i = 0; i < elements; ++i)
      laws.push_back(
          make_law((grouped ? "S" + number + "L" + std::to_string(i + 1) : "LAW<" + std::to_string(i + 1) + ">"), i, false));
    const hobj_ref_t all = plane_waves || sums_of_receivers ? make_law("LAW<all>", 0, true) : 0;

    const auto list = all_pairs();
    std::vector<hobj_ref_t> transmit, receive;
    std::vector<double> data, index;
    for (const auto& [i, j] : list) {
      transmit.push_back(null_laws ? 0 : laws_are_probes ? probe_reference : plane_waves ? all : laws[i]);
      receive.push_back(sums_of_receivers ? all : laws[j]);
    }
    for (std::size_t frame = 0; frame < frames; ++frame) {
      for (const auto& [i, j] : list) {
        for (std::size_t n = 0; n < samples; ++n) data.push_back(sample(frame + 1000 * (s - 1), i, j, n));
        index.push_back(frame_placement.empty() ? 1.0 : static_cast<double>(frame_placement[frame]));
      }
    }
    if (wanted("TRANSMIT_LAW")) references(sequence, "TRANSMIT_LAW", transmit);
    if (wanted("RECEIVE_LAW")) references(sequence, "RECEIVE_LAW", receive);
    if (wanted("PROBE_LIST")) references(sequence, "PROBE_LIST", {probe_reference});
    put(sequence, "PROBE_PLACEMENT_INDEX", {frames, list.size()}, index, index_type, false);
    const std::vector<hsize_t> placements{positions.size(), 1, 3};
    put(sequence, "PROBE_POSITION", placements, flat(positions), doubles, false);
    put(sequence, "PROBE_X_DIRECTION", placements, flat(x_directions), doubles, false);
    put(sequence, "PROBE_Y_DIRECTION", placements, flat(y_directions), doubles, false);
    if (text_time_step) {
      text(sequence, "TIME_STEP", "40 ns", fixed_strings);
    } else {
      put(sequence, "TIME_STEP", {1}, {4e-8}, doubles, true);
    }
    put(sequence, "START_TIME", {1}, {-1e-6}, doubles, true);
    put(sequence, "SPECIMEN_VELOCITY", {2}, {3130.0, 6320.0}, doubles, true);
    if (extras) {
      text(sequence, "USER_ATTRIBUTE", "something", fixed_strings);
      put(sequence, "USER_DATASET", {3}, {1, 2, 3}, doubles, false);
      H5Gclose(group(sequence, "USER_GROUP"));
    }
    if (wanted("MFMC_DATA")) {
      std::vector<hsize_t> shape{frames, list.size(), samples};
      if (flat_data) shape = {frames * list.size(), samples};
      const hid_t space = good(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr));
      const hid_t creation = good(H5Pcreate(H5P_DATASET_CREATE));
      if (deflate) {
        std::vector<hsize_t> chunk = shape;
        chunk[0] = 1;
        H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
        H5Pset_deflate(creation, 6);
      }
      const hid_t set = good(H5Dcreate2(sequence, "MFMC_DATA", data_type, space, H5P_DEFAULT, creation, H5P_DEFAULT));
      H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data());
      H5Dclose(set);
      H5Pclose(creation);
      H5Sclose(space);
    }
    H5Gclose(sequence);
  }
  if (shared_laws >= 0) H5Gclose(shared_laws);
  H5Gclose(sequence_parent);
  H5Gclose(probe);
  H5Gclose(probes);
  H5Fclose(file);
}

}  // namespace echoform::test
