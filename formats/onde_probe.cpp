#include "formats/onde_probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/errors.hpp"

namespace echoform::formats {
namespace {

constexpr std::size_t numbers_of_element = 7;
constexpr std::size_t numbers_of_size = 6;
constexpr double greatest_element = 100.0;  // metres
constexpr double most_probe_frequency = 1e10;
constexpr double most_coupling_velocity = 1e5;
constexpr double last_of_law = 1e6;

/// One row for each element; the file has one row for all elements, or one each.
std::vector<double> rows_of(const Hdf5Item& item, const std::vector<double>& values, std::size_t elements, std::size_t columns) {
  if (values.size() == elements * columns) return values;
  if (values.size() != columns) {
    throw InputError(item.where(), fmt::format("shape {}", shape_text(item.shape())),
                     columns == 1 ? fmt::format("{}", elements) : fmt::format("{} x {}", elements, columns));
  }
  std::vector<double> all;
  for (std::size_t k = 0; k < elements; ++k) all.insert(all.end(), values.begin(), values.end());
  return all;
}
std::vector<double> rows_of(const Hdf5Item& item, std::size_t elements, std::size_t columns) {
  return rows_of(item, item.numbers(), elements, columns);
}

/// The mean over the elements; `unknown` if no value is stated, or one is NaN.
double mean_of(const OndeGroup& group, const char* name, std::size_t elements, double unknown) {
  const auto item = group.find(name);
  if (!item) return unknown;
  double sum = 0.0;
  for (const double value : rows_of(*item, item->numbers_or_nan(), elements, 1)) {
    if (std::isnan(value)) return unknown;
    if (!(value >= 0.0 && value <= most_probe_frequency)) {
      throw InputError(item->where(), fmt::format("{:g}", value), fmt::format("hertz from 0 to {:g}", most_probe_frequency));
    }
    sum += value;
  }
  return sum / static_cast<double>(elements);
}

void read_coupling(const OndeGroup& group, OndeProbe& found) {
  const auto coupling = group.follow_if_there("ONDE_UT_PROBE:COUPLING");
  if (!coupling) return;
  found.on_wedge = coupling->is_a("ONDE_WEDGE") || coupling->is_a("ONDE_IMMERSION");
  if (!found.on_wedge) return;
  for (const char* const name :
       {"ONDE_WEDGE:WEDGE_VELOCITY", "ONDE_IMMERSION:MEDIUM_VELOCITY", "ONDE_UT_COUPLING:MEDIUM_VELOCITY"}) {
    const auto item = coupling->find(name);
    if (!item) continue;
    const std::vector<double> velocities = item->numbers_or_nan();
    if (velocities.empty() || std::isnan(velocities.front())) continue;
    if (!(velocities.front() > 0.0 && velocities.front() <= most_coupling_velocity))
      throw InputError(item->where(), fmt::format("{:g} m/s", velocities.front()),
                       fmt::format("more than 0, at most {:g}", most_coupling_velocity));
    found.coupling_velocity = MetresPerSecond(velocities.front());
    return;
  }
}

}  // namespace

OndeProbe read_onde_probe(const OndeGroup& group, std::size_t most) {
  OndeProbe found;
  const Hdf5Item frames = group.require("ONDE_UT_ELEMENTS:FRAME");
  if (frames.shape().size() != 2 || frames.shape()[0] == 0 || frames.shape()[1] != numbers_of_element)
    throw InputError(frames.where(), fmt::format("shape {}", shape_text(frames.shape())), "elements x 7");
  const std::size_t elements = frames.shape()[0];
  if (elements > most) throw InputError(frames.where(), fmt::format("{} elements", elements), fmt::format("at most {}", most));
  const std::vector<double> numbers = frames.numbers();
  const std::vector<double> sizes = rows_of(group.require("ONDE_UT_ELEMENTS:SIZE"), elements, numbers_of_size);
  const auto dead = group.find("ONDE_UT_ELEMENTS:DEAD_ELEMENT");
  const std::vector<double> works = dead ? rows_of(*dead, elements, 1) : std::vector<double>(elements, 0.0);
  bool rings = false;
  for (std::size_t k = 0; k < elements; ++k) {
    const OndeFrame frame = onde_frame(std::span(numbers).subspan(k * numbers_of_element, numbers_of_element),
                                       fmt::format("{}, element {}", frames.where(), k + 1));
    const double* const size = sizes.data() + k * numbers_of_size;
    Element element;
    element.centre = {Metres(frame.origin.x), Metres(frame.origin.y), Metres(frame.origin.z)};
    element.normal = {frame.z.x, frame.z.y, frame.z.z};
    element.dead = works[k] != 0.0;
    // For shapes, files use numbers that differ from the specification. Only rectangles have two sizes.
    const bool rectangle = std::all_of(size + 2, size + numbers_of_size, [](double value) { return value == 0.0; });
    rings = rings || !rectangle;
    if (rectangle) {
      for (std::size_t axis = 0; axis < 2; ++axis) {
        if (!(size[axis] >= 0.0 && size[axis] <= greatest_element))
          throw InputError(fmt::format("{}, element {}", group.where(), k + 1), fmt::format("a size of {:g} m", size[axis]),
                           "metres from 0 up");
      }
      const bool along_x = std::abs(frame.x.x) >= std::abs(frame.x.y);
      element.width = Metres(size[along_x ? 0 : 1]);
      element.length = Metres(size[along_x ? 1 : 0]);
    }
    found.probe.elements.push_back(element);
  }
  if (rings) found.notes.emplace_back("elements that are parts of rings are points");
  found.probe.centre_frequency = Hertz(mean_of(group, "ONDE_UT_PROBE:FREQUENCY", elements, 0.0));
  found.probe.bandwidth = Hertz(mean_of(group, "ONDE_UT_PROBE:BANDWIDTH", elements, 0.0));
  read_coupling(group, found);
  return found;
}

std::string OndeLaws::name_of(const Hdf5Item& item, hobj_ref_t reference) const {
  return fmt::format("{}: {}", file_, hdf5_name(open_reference(item, reference)));
}

std::vector<hobj_ref_t> OndeLaws::read(const Hdf5Item& item) {
  std::vector<hobj_ref_t> references = item.references();
  for (const hobj_ref_t reference : references) {
    if (laws_.contains(reference)) continue;
    const Hdf5Handle group = open_reference(item, reference);
    // HDF5 searches the file for the name of an object opened by reference, so the name is requested only if needed.
    laws_.emplace(reference, read_with_name(group, [&](const std::string& name) {
                    Hdf5Handle again(group.id());
                    H5Iinc_ref(group.id());
                    return read_law(OndeGroup(std::move(again), fmt::format("{}: {}", file_, name)));
                  }));
  }
  return references;
}

MfmcLaw OndeLaws::read_law(const OndeGroup& group) {
  MfmcLaw law;
  const Hdf5Item element_item = group.require("ONDE_UT_LAW:ELEMENT");
  const std::vector<double> elements = element_item.numbers();
  if (elements.empty()) throw InputError(element_item.where(), "no elements", "at least one");
  const auto of_each = [&](const char* name, double otherwise) {
    const auto item = group.find(name);
    if (!item) return std::vector<double>(elements.size(), otherwise);
    return rows_of(*item, elements.size(), 1);
  };
  std::vector<hobj_ref_t> probes;
  if (const auto by_reference = group.find("ONDE_UT_LAW:PROBE")) {
    probes = by_reference->references();
    if (probes.size() == 1) probes.resize(elements.size(), probes.front());
    if (probes.size() != elements.size()) {
      throw InputError(by_reference->where(), fmt::format("shape {}", shape_text(by_reference->shape())),
                       fmt::format("{}", elements.size()));
    }
  } else {
    const Hdf5Item by_index = group.require("ONDE_PROBE_SELECT:PROBE_INDEX");
    for (const double index : rows_of(by_index, elements.size(), 1)) {
      if (!(index >= 0.0 && index < static_cast<double>(probes_.size())) || index != std::floor(index))
        throw InputError(by_index.where(), fmt::format("{:g}", index), fmt::format("0 to {}", probes_.size() - 1));
      probes.push_back(probes_[static_cast<std::size_t>(index)]);
    }
  }
  const std::vector<double> delays = of_each("ONDE_UT_LAW:DELAY", 0.0);
  const std::vector<double> weights = of_each("ONDE_UT_LAW:WEIGHTING", 1.0);
  for (std::size_t k = 0; k < elements.size(); ++k) {
    if (!(elements[k] >= 0.0 && elements[k] <= last_of_law) || elements[k] != std::floor(elements[k]))
      throw InputError(element_item.where(), fmt::format("{:g} as value {}", elements[k], k + 1), "whole numbers from 0 up");
    if (weights[k] == 0.0) continue;
    if (probe_ == 0) probe_ = probes[k];
    if (probes[k] != probe_) {
      throw InputError(group.where(), "a second probe", "one probe that transmits and receives (pitch-catch is not supported)");
    }
    law.entries.push_back({probes[k], static_cast<std::size_t>(elements[k]), delays[k], weights[k]});
  }
  if (law.entries.empty()) throw InputError(group.where(), "a law whose weights are all 0", "at least one element at work");
  return law;
}

bool OndeLaws::count_from_one() {
  const bool from_zero = std::ranges::any_of(laws_, [](const auto& law) {
    return std::ranges::any_of(law.second.entries, [](const MfmcLaw::Entry& entry) { return entry.element == 0; });
  });
  for (auto& [reference, law] : laws_) {
    for (MfmcLaw::Entry& entry : law.entries) entry.element += from_zero ? 1 : 0;
  }
  return from_zero;
}

}  // namespace echoform::formats
