// Keys of the simulated tissue.
#include "config/key_types.hpp"
#include "simulators/scatterers.hpp"
#include "simulators/simulator_keys.hpp"
#include "simulators/simulator_section.hpp"

namespace echoform {
namespace {

Point in_plane(double x, double z) {
  return {Metres(x), Metres(0.0), Metres(z)};
}

}  // namespace

void add_tissue_keys(std::vector<Key>& k) {
  using namespace keys;  // NOLINT(google-build-using-namespace): the table reads as a table
  const Range place = within(-10.0, 10.0);
  k.push_back(integer(
      {"simulator", "scatterers", "",
       "Scatterers of tissue, at random places of the speckle's box, by `seed`; ten and more in what the array resolves make "
       "speckle."},
      within(0, static_cast<double>(most_scatterers)),
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.tissue.speckle.scatterers; }));
  k.push_back(number_pair(
      {"simulator", "speckle_x", "m", "Of the speckle's box: from, to along the array."}, place,
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.tissue.speckle.x; }));
  k.push_back(number_pair(
      {"simulator", "speckle_y", "m", "Of the speckle's box across the array; equal ends are a plane."}, place,
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.tissue.speckle.y; }));
  k.push_back(number_pair(
      {"simulator", "speckle_z", "m", "Of the speckle's box in depth."}, place,
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.tissue.speckle.z; }));
  k.push_back(number(
      {"simulator", "speckle_rms", "",
       "Root mean square of the scatterers' reflectivities, which are normally distributed about 0."},
      above(0.0, 1e6), [](auto& c) -> auto& { return section<SimulatorSection>(c).source.tissue.speckle.rms; }));
  k.push_back(number_rows<Cyst>(
      {"simulator", "cysts", "",
       "Where scatterers are weaker or stronger: centre and radius in m and decibels, -inf for none at all; with a y a ball, "
       "without "
       "one a cylinder along y.",
       "none"},
      "[x, z, radius, decibels] or [x, y, z, radius, decibels]", {4, 5}, 1000,
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.tissue.cysts; },
      [](Cyst& cyst, std::span<const double> v) {
        cyst.ball = v.size() > 4;
        cyst.centre = in_plane(v[0], v[v.size() - 3]);
        if (cyst.ball) cyst.centre.y = Metres(v[1]);
        cyst.radius = Metres(v[v.size() - 2]);
        cyst.decibels = v.back();
      },
      or_infinite(Range{})));
  k.push_back(number_rows<Vessel>(
      {"simulator", "vessels", "",
       "Tubes with flow: both ends and the radius in m, the speed in the middle in m/s from the first end to the other, decibels "
       "beside the speckle.",
       "none"},
      "[x, z, x, z, radius, speed, decibels] or [x, y, z, x, y, z, radius, speed, decibels]", {7, 9}, 100,
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.tissue.vessels; },
      [](Vessel& vessel, std::span<const double> v) {
        const std::size_t n = v.size();
        const bool in_space = n == 9;
        // Eight numbers give a radius of 0, which is refused where it is checked.
        if (n == 8) return;
        vessel.first = in_space ? Point{Metres(v[0]), Metres(v[1]), Metres(v[2])} : in_plane(v[0], v[1]);
        vessel.last = in_space ? Point{Metres(v[3]), Metres(v[4]), Metres(v[5])} : in_plane(v[2], v[3]);
        vessel.radius = Metres(v[n - 3]);
        vessel.peak = MetresPerSecond(v[n - 2]);
        vessel.decibels = v[n - 1];
      }));
  k.push_back(number_rows<Disk>(
      {"simulator", "disks", "",
       "Disks across y that turn, from +z towards +x: centre and radius in m, turns a second, decibels beside the speckle.",
       "none"},
      "[x, z, radius, turns a second, decibels]", {5, 5}, 100,
      [](auto& c) -> auto& { return section<SimulatorSection>(c).source.tissue.disks; },
      [](Disk& disk, std::span<const double> v) {
        disk.centre = in_plane(v[0], v[1]);
        disk.radius = Metres(v[2]);
        disk.turns = v[3];
        disk.decibels = v[4];
      }));
  k.push_back(number(
      {"simulator", "frame_rate", "Hz", "Frames to a second of the tissue's motion, however fast they are sent."},
      within(1e-3, 1e6), [](auto& c) -> auto& { return section<SimulatorSection>(c).source.frame_rate; }));
  k.push_back(number(
      {"simulator", "pulse_repetition", "Hz",
       "Events to a second of the tissue's motion within a frame; 0: it stands still within one. A frame then takes as long to "
       "synthesise as all its rows one by one."},
      within(0.0, 1e6), [](auto& c) -> auto& { return section<SimulatorSection>(c).source.pulse_repetition; }));
}

}  // namespace echoform
