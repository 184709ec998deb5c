#include "methods/overrides.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <numbers>

#include "acquisition/frame_layout.hpp"
#include "acquisition/words.hpp"
#include "base/directions.hpp"
#include "base/errors.hpp"
#include "config/probe_positions.hpp"
#include "methods/flow.hpp"
#include "rays/curve.hpp"

namespace echoform {
namespace {

Vector2 plain(const Point& point) {
  return {point.x.value, point.z.value};
}

/// Degrees by which the line from the first element to the last is rotated from x towards z. For a single element, its normal
/// gives the rotation.
double tilt_of(const Probe& probe) {
  const Vector2 line = plain(probe.elements.back().centre) - plain(probe.elements.front().centre);
  const Direction& normal = probe.elements.front().normal;
  const Vector2 along = line == Vector2{} ? Vector2{normal.z, -normal.x} : line;
  // Elements may be counted from either end.
  const double degrees =
      (along.x < 0.0 ? std::atan2(-along.z, -along.x) : std::atan2(along.z, along.x)) * 180.0 / std::numbers::pi;
  // Values near 0 are rounding errors.
  return std::abs(degrees) < 1e-9 ? 0.0 : degrees;
}

}  // namespace

void place_probe(const ProbeSection& section, Probe& probe,
                 const std::function<void(std::string_view key, const std::string& value, const std::string& does)>& note) {
  if (probe.elements.empty() || (!section.stand_off && !section.angle && !section.x)) return;
  const Point& first = probe.elements.front().centre;
  const Point& last = probe.elements.back().centre;
  const Metres x = 0.5 * (first.x + last.x);
  const Metres z = 0.5 * (first.z + last.z);
  const Metres new_x = section.x.value_or(x);
  const Metres new_z = section.stand_off ? -*section.stand_off : z;
  const double before = tilt_of(probe);
  const double angle = section.angle.value_or(0.0) * std::numbers::pi / 180.0;
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  for (Element& element : probe.elements) {
    const Metres dx = element.centre.x - x;
    const Metres dz = element.centre.z - z;
    element.centre.x = new_x + c * dx - s * dz;
    element.centre.z = new_z + s * dx + c * dz;
    const Direction normal = element.normal;
    element.normal.x = c * normal.x - s * normal.z;
    element.normal.z = s * normal.x + c * normal.z;
  }
  const std::string replaces = "replaces the placement of the data";
  if (section.stand_off) note("stand_off", fmt::format("{:g} mm", 1e3 * section.stand_off->value), replaces);
  if (section.angle) {
    const double value = *section.angle;
    note("angle", fmt::format("{:g} degrees", value),
         fmt::format("turns the data's {:.4g} degrees by {:g} degrees, to {:.4g} degrees", before, value, before + value));
  }
  if (section.x) note("x", fmt::format("{:g} mm", 1e3 * section.x->value), replaces);
}

namespace {

/// The array of [probe] pitch and radius.
Probe stated_array(const ImagingSettings& settings, std::size_t count) {
  const ProbeSection& section = settings.probe;
  if (!section.radius) return make_linear_probe(count, *section.pitch, Metres(0.0), Hertz(0.0), Hertz(0.0));
  if (const double turn = half_arc(count, *section.pitch, *section.radius); !(turn <= widest_half_arc)) {
    throw InputError(settings.place("[probe] radius"),
                     fmt::format("{} elements up to {:.3g} degrees from the middle of the arc", count, turn),
                     fmt::format("up to {:g} degrees", widest_half_arc));
  }
  return make_curvilinear_probe(count, *section.pitch, *section.radius, Metres(0.0), Hertz(0.0), Hertz(0.0));
}

/// Sets the normals of the elements as [probe] normal and reverse_normals state.
void turn_normals(const ImagingSettings& settings, Acquisition& acquisition, std::vector<std::string>& notes) {
  const ProbeSection& section = settings.probe;
  if (section.normal && section.reverse_normals) {
    throw InputError(settings.place("[probe] reverse_normals"), "true and a normal", "one of both");
  }
  if (section.normal) {
    const auto& [x, y, z] = *section.normal;
    if (!(length(Direction{x, y, z}) > 0.0)) {
      throw InputError(settings.place("[probe] normal"), "[0, 0, 0]", "a direction: one number at least that is not 0");
    }
    const Direction normal = unit(Direction{x, y, z});
    for (Element& element : acquisition.probe.elements) element.normal = normal;
    notes.push_back(
        fmt::format("{}: [probe] normal = [{:g}, {:g}, {:g}] replaces the directions of the data", settings.name(), x, y, z));
  }
  if (!section.reverse_normals) return;
  for (Element& element : acquisition.probe.elements) element.normal = scaled(element.normal, -1.0);
  notes.push_back(fmt::format("{}: [probe] reverse_normals turns the directions of the data round", settings.name()));
}

void replace_positions(const ImagingSettings& settings, Acquisition& acquisition, std::vector<std::string>& notes) {
  std::vector<Pose> wanted = stated_positions(settings);
  const bool stated = settings.acquisition.positions || settings.acquisition.position_count;
  // A single position that leaves the probe where it is means no positions for data without positions. For data with positions it
  // is a position like any other.
  if (stated && wanted.empty() && !acquisition.positions.empty()) wanted.resize(1);
  if (wanted.empty() || wanted == acquisition.positions) return;
  const std::string key =
      settings.place(settings.acquisition.positions ? "[acquisition] positions" : "[acquisition] position_count");
  if (acquisition.positions.size() != wanted.size()) {
    throw InputError(key, fmt::format("{}", wanted.size()),
                     acquisition.positions.empty()
                         ? std::string("no such key for data that state no positions of the probe within a frame")
                         : fmt::format("{}, as many positions as a frame of the data has", acquisition.positions.size()));
  }
  acquisition.positions = wanted;
  notes.push_back(fmt::format("{}: {} positions replace those of the data", key, wanted.size()));
}

}  // namespace

void apply_overrides(const ImagingSettings& settings, Acquisition& acquisition, Material& material,
                     std::vector<std::string>& notes) {
  const auto note = [&](std::string_view key, const std::string& value, const std::string& before) {
    notes.push_back(fmt::format("{}: {} = {} {}", settings.name(), key, value,
                                before.empty() ? "where the data states none" : fmt::format("replaces {}", before)));
  };
  const auto replace = [&](std::string_view key, const auto& wish, auto& member, double scale, std::string_view unit) {
    if (!wish || *wish == member) return;
    const bool unknown = member.value == 0.0;
    note(key, fmt::format("{:g} {}", wish->value * scale, unit),
         unknown ? std::string() : fmt::format("{:g} {} of the data", member.value * scale, unit));
    member = *wish;
  };
  replace("[material] longitudinal_velocity", settings.material.longitudinal_velocity, material.longitudinal_velocity, 1.0,
          "m/s");
  replace("[material] shear_velocity", settings.material.shear_velocity, material.shear_velocity, 1.0, "m/s");

  Probe& probe = acquisition.probe;
  const ProbeSection& section = settings.probe;
  if (section.radius && !section.pitch) {
    throw InputError(settings.place("[probe] radius"), "a radius without a pitch", "[probe] pitch beside it");
  }
  replace("[probe] centre_frequency", section.centre_frequency, probe.centre_frequency, 1e-6, "MHz");
  replace("[probe] bandwidth", section.bandwidth, probe.bandwidth, 1e-6, "MHz");
  if (section.pitch) {
    const Probe stated = stated_array(settings, probe.elements.size());
    for (std::size_t i = 0; i < probe.elements.size(); ++i) {
      probe.elements[i].centre = stated.elements[i].centre;
      probe.elements[i].normal = stated.elements[i].normal;
    }
    if (section.radius) note("[probe] radius", fmt::format("{:g} mm", 1e3 * section.radius->value), "the array of the data");
    note("[probe] pitch", fmt::format("{:g} mm", 1e3 * section.pitch->value), "the element positions of the data");
  }
  turn_normals(settings, acquisition, notes);
  place_probe(section, probe, [&](std::string_view key, const std::string& value, const std::string& does) {
    notes.push_back(fmt::format("{}: [probe] {} = {} {}", settings.name(), key, value, does));
  });
  if (section.element_width) {
    for (Element& element : probe.elements) element.width = *section.element_width;
    note("[probe] element_width", fmt::format("{:g} mm", 1e3 * section.element_width->value), "the widths of the data");
  }
  if (section.element_length) {
    for (Element& element : probe.elements) element.length = *section.element_length;
    note("[probe] element_length", fmt::format("{:g} mm", 1e3 * section.element_length->value), "the lengths of the data");
  }
  if (section.dead_elements) {
    for (Element& element : probe.elements) element.dead = false;
    for (const std::size_t index : *section.dead_elements) {
      if (index >= probe.elements.size()) {
        throw InputError(settings.place("[probe] dead_elements"), fmt::format("element {}", index),
                         fmt::format("0 to {}, as the data has {} elements", probe.elements.size() - 1, probe.elements.size()));
      }
      probe.elements[index].dead = true;
    }
    note("[probe] dead_elements", fmt::format("[{}]", fmt::join(*section.dead_elements, ", ")), "the dead elements of the data");
  }

  const AcquisitionSection& sampling = settings.acquisition;
  replace("[acquisition] sample_rate", sampling.sample_rate, acquisition.sample_rate, 1e-6, "MHz");
  replace("[acquisition] start_time", sampling.start_time, acquisition.start_time, 1e6, "us");
  replace("[acquisition] time_offset", sampling.time_offset, acquisition.time_offset, 1e6, "us");
  if (wants_flow(settings))
    replace("[doppler] pulse_repetition", doppler(settings).pulse_repetition, acquisition.pulse_repetition, 1.0, "Hz");
  if (sampling.matrix) {
    const std::string_view word = words::matrix_kind.of(*sampling.matrix);
    Acquisition stated = acquisition;
    stated.matrix = *sampling.matrix;
    if (FrameLayout(stated) != FrameLayout(acquisition)) {
      throw InputError(settings.place("[acquisition] matrix"),
                       fmt::format("\"{}\" for data that is a {}", word,
                                   acquisition.events.empty() ? pairs_text(acquisition) : "list of transmit events"),
                       "no such key, or half-matrix data");
    }
    if (stated != acquisition) {
      note("[acquisition] matrix", std::string(word), fmt::format("{} of the data", pairs_word(acquisition)));
    }
    acquisition.matrix = stated.matrix;
  }
  replace_positions(settings, acquisition, notes);
}

}  // namespace echoform
