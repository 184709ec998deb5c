#include "formats/mfmc_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/errors.hpp"
#include "formats/hdf5_names.hpp"

namespace echoform::formats {
namespace {

std::vector<Vector3> read_vectors(const Hdf5Handle& group, const std::string& name, const std::string& where, std::size_t count) {
  const Hdf5Item item = Hdf5Item::require(group, name, where);
  item.require_shape({count, 3});
  const auto values = item.numbers();
  std::vector<Vector3> vectors(count);
  for (std::size_t i = 0; i < count; ++i) vectors[i] = {values[3 * i], values[3 * i + 1], values[3 * i + 2]};
  return vectors;
}

/// The wedge's face; nothing unless the probe states both its point and its normal, since one alone gives no plane.
std::optional<MfmcWedgeFace> read_wedge_face(const Hdf5Handle& group, const std::string& where) {
  const auto vector = [&](const char* name) -> std::optional<Vector3> {
    const auto item = Hdf5Item::find(group, name, where);
    if (!item) return std::nullopt;
    item->require_shape({3});
    const auto values = item->numbers();
    return Vector3{values[0], values[1], values[2]};
  };
  const auto point = vector("WEDGE_SURFACE_POINT");
  const auto normal = vector("WEDGE_SURFACE_NORMAL");
  if (!point || !normal) return std::nullopt;
  if (const double size = length(*normal); !(size > 0.0) || !std::isfinite(size)) {
    throw InputError(where + "/WEDGE_SURFACE_NORMAL", fmt::format("a vector of length {:g}", size), "a direction");
  }
  if (!std::isfinite(length(*point))) {
    throw InputError(where + "/WEDGE_SURFACE_POINT", "a number that is not finite", "a place in metres");
  }
  return MfmcWedgeFace{*point, unit_of(*normal)};
}

double read_optional_number(const Hdf5Handle& group, const std::string& name, const std::string& where) {
  const auto item = Hdf5Item::find(group, name, where);
  if (!item) return 0.0;
  item->require_shape({1});
  return item->numbers().front();
}

}  // namespace

TrialLimits mfmc_trial_limits(const InputFile& file) {
  // A factor of 16 suffices for data that compress well; the rest is for the library and the frame of a small file. Damage can
  // also make HDF5 loop for ever, hence the limit on time: inflating 16 MiB takes far less than a second.
  const std::uint64_t size = file.size();
  return {.processor_seconds = static_cast<unsigned>(5 + (size >> 24)), .memory = (std::size_t{1} << 30) + 16 * size};
}

std::string mfmc_type(const Hdf5Handle& group, const std::string& where) {
  const auto item = Hdf5Item::find(group, "TYPE", where);
  // Groups of other programs may use the name for something else.
  if (!item || item->type_class() != Hdf5Class::text || item->points() != 1) return {};
  return item->text();
}

void require_mfmc_type(const Hdf5Handle& group, const std::string& type, const Hdf5Item& from, const std::string& file) {
  read_with_name(group, [&](const std::string& name) {
    const std::string found = mfmc_type(group, file + ": " + name);
    if (found == type) return;
    throw InputError(from.where(), fmt::format("a reference to {} of TYPE \"{}\"", name, found),
                     fmt::format("groups of TYPE \"{}\"", type));
  });
}

std::vector<std::string> find_sequences(const Hdf5Handle& file, const std::string& file_name) {
  std::vector<std::string> groups = names_of_groups(file);
  std::erase_if(groups, [&](const std::string& name) {
    const Hdf5Handle group(H5Gopen2(file.id(), name.c_str(), H5P_DEFAULT));
    return !group || mfmc_type(group, fmt::format("{}: {}", file_name, hdf5_name(group))) != "SEQUENCE";
  });
  return groups;
}

MfmcProbe read_mfmc_probe(const Hdf5Handle& group, const std::string& file) {
  MfmcProbe probe;
  probe.name = hdf5_name(group);
  const std::string where = file + ": " + probe.name;
  const Hdf5Item positions = Hdf5Item::require(group, "ELEMENT_POSITION", where);
  if (positions.shape().size() != 2 || positions.shape()[0] == 0 || positions.shape()[1] != 3) {
    throw InputError(positions.where(), fmt::format("shape {}", shape_text(positions.shape())), "elements x 3");
  }
  const std::size_t count = positions.shape()[0];
  const auto centres = read_vectors(group, "ELEMENT_POSITION", where, count);
  const auto majors = read_vectors(group, "ELEMENT_MAJOR", where, count);
  const auto minors = read_vectors(group, "ELEMENT_MINOR", where, count);
  const Hdf5Item shape = Hdf5Item::require(group, "ELEMENT_SHAPE", where);
  if (shape.points() != count)
    throw InputError(shape.where(), fmt::format("shape {}", shape_text(shape.shape())), fmt::format("{}", count));
  static_cast<void>(shape.indices(1, 2));

  probe.elements.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto& element = probe.elements[i];
    element.centre = centres[i];
    // MAJOR x MINOR points along the emission. Elements without sizes emit along the probe's own axis.
    const Vector3 normal = cross(majors[i], minors[i]);
    const double size = length(normal);
    element.axes_stated = size > 0.0;
    element.normal = element.axes_stated ? (1.0 / size) * normal : Vector3{0.0, 0.0, 1.0};
    const bool major_along_x = std::abs(majors[i].x) > std::abs(majors[i].y);
    // A size that a writer states only to keep its direction counts as unknown, up to rounding.
    const auto size_of = [](const Vector3& half) {
      const double whole = 2.0 * length(half);
      return whole > 1.001 * unknown_element_size ? whole : 0.0;
    };
    element.width = size_of(major_along_x ? majors[i] : minors[i]);
    element.length = size_of(major_along_x ? minors[i] : majors[i]);
  }
  if (const auto dead = Hdf5Item::find(group, "DEAD_ELEMENT", where)) {
    if (dead->points() != count)
      throw InputError(dead->where(), fmt::format("shape {}", shape_text(dead->shape())), fmt::format("{}", count));
    const auto flags = dead->indices(0, 1);
    for (std::size_t i = 0; i < count; ++i) probe.elements[i].dead = flags[i] != 0;
  }
  probe.centre_frequency = read_optional_number(group, "CENTRE_FREQUENCY", where);
  probe.bandwidth = read_optional_number(group, "BANDWIDTH", where);
  probe.wedge_face = read_wedge_face(group, where);
  return probe;
}

namespace {

MfmcLaw read_law(const Hdf5Handle& group, const std::string& where) {
  MfmcLaw law;
  const Hdf5Item probe_item = Hdf5Item::require(group, "PROBE", where);
  const auto probes = probe_item.references();
  const Hdf5Item element_item = Hdf5Item::require(group, "ELEMENT", where);
  const auto elements = element_item.indices(1, std::size_t{1} << 20);
  if (elements.empty() || elements.size() != probes.size()) {
    throw InputError(where, fmt::format("{} ELEMENT and {} PROBE values", elements.size(), probes.size()),
                     "as many of one as of the other, at least one");
  }
  const auto optional = [&](const char* name, double otherwise) {
    const auto item = Hdf5Item::find(group, name, where);
    if (!item) return std::vector<double>(elements.size(), otherwise);
    if (item->points() != elements.size()) {
      throw InputError(item->where(), fmt::format("shape {}", shape_text(item->shape())), fmt::format("{}", elements.size()));
    }
    return item->numbers();
  };
  const auto delays = optional("DELAY", 0.0);
  const auto weights = optional("WEIGHTING", 1.0);
  for (std::size_t k = 0; k < elements.size(); ++k) {
    if (weights[k] != 0.0) law.entries.push_back({probes[k], elements[k] + 1, delays[k], weights[k]});
  }
  if (law.entries.empty()) throw InputError(where, "a law whose weights are all 0", "at least one element at work");
  const auto said = [&](const char* name, std::size_t count, std::size_t more = 0) {
    const auto item = Hdf5Item::find(group, name, where);
    if (!item) return std::vector<double>();
    if (item->points() != count + more || more == 0) item->require_shape({count});
    return item->numbers();
  };
  law.plane_wave = said(plane_wave_attribute, 3, 1);
  law.point_wave = said(point_wave_attribute, 5);
  law.code = !said(code_attribute, 1).empty();
  return law;
}

}  // namespace

MfmcLaw read_mfmc_law(const Hdf5Handle& group, const std::string& file) {
  return read_with_name(group, [&](const std::string& name) { return read_law(group, file + ": " + name); });
}

}  // namespace echoform::formats
