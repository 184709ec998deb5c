#include "formats/nde_setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "formats/json_node.hpp"
#include "transport/acquisition/hello.hpp"

namespace echoform::formats {
namespace {

constexpr double farthest_in_setup = 100.0;  // metres
constexpr double most_setup_velocity = 1e5;
constexpr double longest_setup_time = 1.0;  // seconds
constexpr double most_setup_rate = 1e10;    // Hz
constexpr double most_setup_number = 1e12;
constexpr double least_setup_range = 1e-9;
// Error of times that nobody notices, in samples.
constexpr double same_setup_time = 1e-3;

/// The captures of all groups' processes, found once. Files may list any number of datasets that refer to them.
class Captures {
 public:
  explicit Captures(const JsonNode& groups) {
    for (std::size_t k = 0; k < groups.size(); ++k) {
      const JsonNode group = groups.at(k);
      if (const auto id = group.find("id")) place_of_id_.try_emplace(id->id(), k);
      Group& own = groups_.emplace_back();
      const auto processes = group.find("processes");
      for (std::size_t n = 0; processes && n < processes->size(); ++n) {
        const JsonNode process = processes->at(n);
        const auto capture = process.find("ultrasonicMatrixCapture");
        if (!capture) continue;
        if (!own.first) own.first = capture;
        if (const auto id = process.find("id")) own.of_process.try_emplace(id->id(), *capture);
      }
    }
  }

  /// The capture that a dataset of A-scans of group number `group` comes from; nothing if the dataset is of another kind.
  [[nodiscard]] std::optional<JsonNode> of(const JsonNode& dataset, std::size_t group) const {
    const auto transformations = dataset.find("dataTransformations");
    for (std::size_t k = 0; transformations && k < transformations->size(); ++k) {
      const JsonNode one = transformations->at(k);
      const auto elsewhere = one.find("groupId");
      const Group& named = groups_[elsewhere ? place_of(*elsewhere) : group];
      const auto found = named.of_process.find(one.require("processId").id());
      if (found != named.of_process.end()) return found->second;
    }
    return groups_[group].first;
  }

 private:
  struct Group {
    std::map<std::int64_t, JsonNode> of_process;
    std::optional<JsonNode> first;
  };

  [[nodiscard]] std::size_t place_of(const JsonNode& id) const {
    const auto found = place_of_id_.find(id.id());
    if (found == place_of_id_.end()) throw InputError(id.where(), fmt::format("the group {}", id.id()), "one of the file's");
    return found->second;
  }

  std::vector<Group> groups_;
  std::map<std::int64_t, std::size_t> place_of_id_;
};

/// Where a wedge or a column of water puts a place along the probe's axes.
struct Mounting {
  double along = 0.0;   // of element 1, metres
  double across = 0.0;  // of element 1, metres
  double height = 0.0;  // of element 1, above the part, metres
  double angle = 0.0;   // radians
};

class SetupReader {
 public:
  SetupReader(const JsonNode& setup, const NdeLimits& limits) : setup_(setup), limits_(limits) {}

  NdeCapture read(const JsonNode& group, const JsonNode& dataset, const JsonNode& process) {
    found_.where = dataset.where();
    const std::string own = fmt::format("/Public/Groups/{}/Datasets/{}-AScanAmplitude", group.require("id").id(),
                                        dataset.find("id") ? dataset.require("id").id() : 0);
    found_.path = dataset.text_or("path", own);
    read_amplitudes(dataset);
    found_.sample_rate = process.require("digitizingFrequency").number(1.0, most_setup_rate);
    read_dimensions(dataset);
    const JsonNode beams = process.require("beams");
    if (beams.size() == 0 || beams.size() > limits_.events)
      throw InputError(beams.where(), fmt::format("{} beams", beams.size()), fmt::format("1 to {}", limits_.events));
    const std::int64_t probe_id = first_probe(beams);
    const JsonNode probe = setup_.require("probes").with_id(probe_id, "probe");
    read_probe(probe);
    for (std::size_t k = 0; k < beams.size(); ++k) read_beam(beams.at(k), probe_id);
    return std::move(found_);
  }

 private:
  void read_amplitudes(const JsonNode& dataset) {
    const auto value = dataset.find("dataValue");
    if (!value) return;
    const double least = value->require("min").number(-most_setup_number, most_setup_number);
    const double greatest = value->require("max").number(-most_setup_number, most_setup_number);
    const double unit_least = value->require("unitMin").number(-most_setup_number, most_setup_number);
    const double unit_greatest = value->require("unitMax").number(-most_setup_number, most_setup_number);
    // The ranges must not be so small that their quotient overflows.
    if (!(greatest - least > least_setup_range) || !(unit_greatest - unit_least > least_setup_range)) {
      throw InputError(value->where(), fmt::format("{:g} to {:g} for {:g} to {:g}", least, greatest, unit_least, unit_greatest),
                       "ranges from a number to a greater one");
    }
    found_.scale = (unit_greatest - unit_least) / (greatest - least);
    found_.zero = (least * unit_greatest - greatest * unit_least) / (unit_greatest - unit_least);
    // A range of counts from -32768 to 32767 is meant to be symmetric.
    if (std::abs(found_.zero) <= 0.5 && greatest - least >= 100.0) found_.zero = 0.0;
    if (const auto unit = value->find("unit")) found_.unit = unit->text();
    if (unit_least >= 0.0) {
      found_.warnings.push_back(fmt::format("{}: amplitudes from {:g} up: rectified A-scans make no images of echoes' phases",
                                            value->where(), unit_least));
    }
  }

  void read_dimensions(const JsonNode& dataset) {
    const auto dimensions = dataset.find("dimensions");
    if (!dimensions) return;
    found_.dimensions = dimensions->size();
    for (std::size_t k = 0; k < dimensions->size(); ++k) {
      const JsonNode dimension = dimensions->at(k);
      const std::string axis = dimension.require("axis").text();
      const bool last = k + 1 == dimensions->size();
      const bool stacked = axis == "StackedAScan" || axis == "stackedAScan";
      if (last ? !stacked : axis != "UCoordinate" && axis != "VCoordinate") {
        throw InputError(dimension.where(), fmt::format("the axis {}", printable(axis, 40)),
                         "positions along UCoordinate and VCoordinate, and StackedAScan as the last axis");
      }
      if (axis == "UCoordinate" && dimensions->size() == 2)
        found_.step = dimension.number_or("resolution", 0.0, -farthest_in_setup, farthest_in_setup);
      if (!last) continue;
      // Files state a resolution of one second if nobody filled it in.
      const double resolution = dimension.number_or("resolution", 0.0, 0.0, most_setup_number);
      if (resolution > 0.0 && resolution < 1e-3 && std::abs(resolution * found_.sample_rate - 1.0) > 0.01) {
        found_.warnings.push_back(
            fmt::format("{}: a resolution of {:g} s, and a digitizingFrequency of {:g} Hz: the latter counts", dimension.where(),
                        resolution, found_.sample_rate));
      }
    }
  }

  /// The probe of the first pulser: all pulsers belong to one probe.
  [[nodiscard]] static std::int64_t first_probe(const JsonNode& beams) {
    const JsonNode pulsers = beams.at(0).require("pulsers");
    if (pulsers.size() == 0) throw InputError(pulsers.where(), "none", "at least one");
    const auto probe = pulsers.at(0).find("probeId");
    return probe ? probe->id() : 0;
  }

  void read_probe(const JsonNode& probe) {
    const auto array = probe.find("phasedArrayLinear");
    if (!array) throw InputError(probe.where(), "no phasedArrayLinear", "an array, which makes a matrix of A-scans");
    const JsonNode primary = array->require("primaryAxis");
    const JsonNode secondary = array->require("secondaryAxis");
    const std::size_t columns = primary.require("elementQuantity").count(1, limits_.elements);
    const std::size_t rows = secondary.require("elementQuantity").count(1, limits_.elements);
    const auto size = [](const JsonNode& axis) { return axis.require("elementLength").number(0.0, farthest_in_setup); };
    const auto pitch = [&](const JsonNode& axis) {
      return size(axis) + axis.require("elementGap").number(-farthest_in_setup, farthest_in_setup);
    };
    const double width = size(primary);
    const double length = size(secondary);
    const double pitch_along = pitch(primary);
    const double pitch_across = pitch(secondary);
    const Mounting mounting = read_mounting(probe);
    const auto add = [&](std::int64_t id, std::size_t column, std::size_t row, bool works) {
      if (found_.probe.elements.size() >= limits_.elements)
        throw InputError(array->where(), "more elements", fmt::format("at most {}", limits_.elements));
      if (!element_of_id_.emplace(id, found_.probe.elements.size()).second)
        throw InputError(array->where(), fmt::format("the element id {} again", id), "ids of their own");
      const double way = static_cast<double>(column) * pitch_along;
      Element element;
      element.centre = {Metres(mounting.along + way * std::cos(mounting.angle)),
                        Metres(mounting.across + static_cast<double>(row) * pitch_across),
                        Metres(-(mounting.height + way * std::sin(mounting.angle)))};
      element.normal = {std::sin(mounting.angle), 0.0, std::cos(mounting.angle)};
      element.width = Metres(width);
      element.length = Metres(length);
      element.dead = !works;
      found_.probe.elements.push_back(element);
    };
    found_.probe.centre_frequency = Hertz(array->require("centralFrequency").number(0.0, most_setup_rate));
    if (const auto elements = array->find("elements")) {
      for (std::size_t k = 0; k < elements->size(); ++k) {
        const JsonNode one = elements->at(k);
        const auto index = [&](const char* name, std::size_t otherwise, std::size_t below) {
          const auto stated = one.find(name);
          return stated ? stated->count(0, below - 1) : otherwise;
        };
        const auto enabled = one.find("enabled");
        add(one.require("id").id(), index("primaryIndex", k % columns, columns),
            index("secondaryIndex", k / columns % rows, rows), !enabled || enabled->truth());
      }
    } else {
      for (std::size_t k = 0; k < columns * rows; ++k) add(static_cast<std::int64_t>(k), k % columns, k / columns, true);
    }
    if (found_.probe.elements.empty()) throw InputError(array->where(), "no elements", "at least one");
  }

  /// Position of the probe's first element, and tilt of the probe's face; in contact all are 0. Also reads what the setup states
  /// about the part.
  Mounting read_mounting(const JsonNode& probe) {
    const auto association = probe.find("wedgeAssociation");
    const auto wedges = setup_.find("wedges");
    if (!association || !wedges || wedges->size() == 0) {
      read_material(std::nullopt);
      return {};
    }
    const JsonNode wedge = wedges->with_id(association->require("wedgeId").id(), "wedge");
    const auto positioning = wedge.find("positioning");
    read_material(positioning ? positioning->find("specimenId") : std::nullopt);
    const auto solid = wedge.find("angleBeamWedge");
    const JsonNode body = solid ? *solid : wedge.require("fluidColumn");
    const auto location_id = association->find("mountingLocationId");
    const JsonNode location = body.require("mountingLocations").with_id(location_id ? location_id->id() : 0, "mounting location");
    Mounting mounting;
    mounting.along = location.require("primaryOffset").number(-farthest_in_setup, farthest_in_setup);
    mounting.across = location.require("secondaryOffset").number(-farthest_in_setup, farthest_in_setup);
    mounting.height = location.require("tertiaryOffset").number(0.0, farthest_in_setup);
    mounting.angle = location.require("wedgeAngle").number(-80.0, 80.0) * std::numbers::pi / 180.0;
    if (!solid && mounting.height == 0.0) mounting.height = body.require("nominalHeight").number(0.0, farthest_in_setup);
    if (mounting.height > 0.0) {
      found_.wedge_velocity = MetresPerSecond(body.require("longitudinalVelocity").number(1.0, most_setup_velocity));
      found_.notes.push_back(fmt::format("{} of {:.4g} degrees, element 1 at {:.4g} mm above the part",
                                         solid ? "a wedge" : "a column of water", mounting.angle * 180.0 / std::numbers::pi,
                                         1e3 * mounting.height));
    } else if (mounting.angle != 0.0) {
      throw InputError(location.where(), "a wedgeAngle and no tertiaryOffset", "the first element above the part");
    }
    if (location.number_or("squintAngle", 0.0, -180.0, 180.0) != 0.0 ||
        location.number_or("roofAngle", 0.0, -180.0, 180.0) != 0.0)
      found_.warnings.push_back(fmt::format("{}: squintAngle and roofAngle are not applied", location.where()));
    if (const std::string way = association->text_or("orientation", "Normal"); way != "Normal") {
      found_.warnings.push_back(
          fmt::format("{}: the orientation {} is read as Normal", association->where(), printable(way, 40)));
    }
    return mounting;
  }

  void read_material(const std::optional<JsonNode>& specimen_id) {
    const auto specimens = setup_.find("specimens");
    if (!specimens || specimens->size() == 0) return;
    const JsonNode specimen = specimen_id ? specimens->with_id(specimen_id->id(), "specimen") : specimens->at(0);
    std::optional<JsonNode> geometry = specimen.find("plateGeometry");
    for (const char* const round : {"pipeGeometry", "barGeometry"}) {
      if (geometry) break;
      geometry = specimen.find(round);
      if (geometry) found_.notes.emplace_back("the part is round, which is left to [surface]");
    }
    const auto material = geometry ? geometry->find("material") : std::nullopt;
    if (!material) return;
    const auto velocity = [&](const char* name) {
      const auto wave = material->find(name);
      return MetresPerSecond(wave ? wave->number_or("nominalVelocity", 0.0, 0.0, most_setup_velocity) : 0.0);
    };
    found_.material.longitudinal_velocity = velocity("longitudinalWave");
    found_.material.shear_velocity = velocity("transversalVerticalWave");
    if (found_.material.shear_velocity.value == 0.0) found_.material.shear_velocity = velocity("transversalWave");
  }

  [[nodiscard]] std::size_t element_of(const JsonNode& one, std::int64_t probe_id) const {
    if (const auto probe = one.find("probeId"); probe && probe->id() != probe_id) {
      throw InputError(probe->where(), "a second probe", "one probe that transmits and receives (pitch-catch is not supported)");
    }
    const JsonNode element = one.require("elementId");
    const auto found = element_of_id_.find(element.id());
    if (found == element_of_id_.end())
      throw InputError(element.where(), fmt::format("the element {}", element.id()), "one of the probe's");
    return found->second;
  }

  void read_beam(const JsonNode& stated, std::int64_t probe_id) {
    NdeBeam& beam = found_.beams.emplace_back();
    const JsonNode pulsers = stated.require("pulsers");
    const JsonNode receivers = stated.require("receivers");
    const std::size_t elements = found_.probe.elements.size();
    for (const JsonNode& list : {pulsers, receivers}) {
      if (list.size() == 0 || list.size() > elements)
        throw InputError(list.where(), fmt::format("{} elements", list.size()), fmt::format("1 to {}", elements));
    }
    std::vector<bool> seen(elements, false);
    for (std::size_t k = 0; k < pulsers.size(); ++k) {
      const JsonNode pulser = pulsers.at(k);
      const std::size_t element = element_of(pulser, probe_id);
      if (seen[element]) throw InputError(pulser.where(), "an element again", "each once");
      seen[element] = true;
      beam.pulsers.push_back({element, pulser.number_or("delay", 0.0, -longest_setup_time, longest_setup_time)});
    }
    for (std::size_t k = 0; k < receivers.size(); ++k) {
      const JsonNode receiver = receivers.at(k);
      beam.receivers.push_back(element_of(receiver, probe_id));
      const double start = receiver.require("ascanStart").number(-longest_setup_time, longest_setup_time);
      const double length = receiver.require("ascanLength").number(0.0, longest_setup_time);
      if (found_.beams.size() == 1 && k == 0) {
        found_.start = start;
        found_.length = length;
      }
      if (std::max(std::abs(start - found_.start), std::abs(length - found_.length)) * found_.sample_rate > same_setup_time) {
        throw InputError(receiver.where(), fmt::format("an A-scan from {:g} us on, {:g} us long", 1e6 * start, 1e6 * length),
                         fmt::format("{:g} and {:g} us, as the first one", 1e6 * found_.start, 1e6 * found_.length));
      }
    }
  }

  const JsonNode& setup_;
  const NdeLimits& limits_;
  NdeCapture found_;
  std::map<std::int64_t, std::size_t> element_of_id_;
};

}  // namespace

NdeCapture read_nde_setup(const std::string& json, const std::string& where, std::size_t sequence, const NdeLimits& limits) {
  const JsonDocument document(json, where, {.values = limits.values});
  const JsonNode setup = document.root();
  const JsonNode groups = setup.require("groups");
  const Captures captures_of(groups);
  std::size_t captures = 0;
  std::set<std::string> classes;
  std::optional<NdeCapture> found;
  for (std::size_t k = 0; k < groups.size(); ++k) {
    const JsonNode group = groups.at(k);
    const auto datasets = group.find("datasets");
    for (std::size_t n = 0; datasets && n < datasets->size(); ++n) {
      const JsonNode dataset = datasets->at(n);
      const std::string data_class = dataset.text_or("dataClass", "");
      if (classes.size() < 8) classes.insert(printable(data_class, 40));
      if (data_class != "AScanAmplitude") continue;
      const auto process = captures_of.of(dataset, k);
      if (!process) continue;
      if (captures++ == sequence) found = SetupReader(setup, limits).read(group, dataset, *process);
    }
  }
  if (captures == 0) {
    throw InputError(where,
                     fmt::format("groups with {}", classes.empty() ? "nothing" : fmt::format("{}", fmt::join(classes, ", "))),
                     "one with the A-scans of an ultrasonicMatrixCapture: FMC data");
  }
  if (!found) throw InputError(where, fmt::format("a request for sequence {}", sequence), fmt::format("0 to {}", captures - 1));
  found->captures = captures;
  return std::move(*found);
}

}  // namespace echoform::formats
