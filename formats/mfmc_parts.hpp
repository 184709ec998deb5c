// The groups of an MFMC file that a sequence refers to: probes and laws.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/vector3.hpp"
#include "formats/guarded_trial.hpp"
#include "formats/hdf5_file.hpp"

namespace echoform::formats {

/// What going through the file on trial may take.
[[nodiscard]] TrialLimits mfmc_trial_limits(const InputFile& file);

/// TYPE of a group, or empty where it has none.
[[nodiscard]] std::string mfmc_type(const Hdf5Handle& group, const std::string& where);
/// Throws InputError unless the group that `from` refers to has the TYPE.
void require_mfmc_type(const Hdf5Handle& group, const std::string& type, const Hdf5Item& from, const std::string& file);

/// Names of all groups of TYPE SEQUENCE, in alphabetical order of their paths.
[[nodiscard]] std::vector<std::string> find_sequences(const Hdf5Handle& file, const std::string& file_name);

/// Beyond the format: amplitude of one count of MFMC_DATA, an attribute of the sequence. Written where it is not 1.
inline constexpr const char* sample_scale_attribute = "ECHOFORM_SAMPLE_SCALE";
// Beyond the format too. Laws say when elements fire; what makes an image of them depends on what they are meant to
// make, which only the writer knows. It counts where the delays and weights of the law agree with it.
/// Of a transmit law, an attribute float[3]: slowness along the probe's x and y in s/m, delay at the probe's origin in s;
/// float[4] of a curved array: the slowness along z in s/m too.
inline constexpr const char* plane_wave_attribute = "ECHOFORM_PLANE_WAVE";
/// float[5]: the virtual source or focus in the probe's frame in m, the velocity of the delays in m/s, delay at the probe's
/// origin in s.
inline constexpr const char* point_wave_attribute = "ECHOFORM_POINT_WAVE";
/// int[1], 1: a row of a code.
inline constexpr const char* code_attribute = "ECHOFORM_CODE";
/// Attribute of a sequence, int[1]: the number of events of a frame. A-scans of one transmit law belong to one event,
/// whichever elements record them.
inline constexpr const char* events_attribute = "ECHOFORM_EVENTS";
/// Attribute of a sequence, double[1]: transmit events per second within a frame. It is written if known.
inline constexpr const char* pulse_repetition_attribute = "ECHOFORM_PULSE_REPETITION";
/// Sizes of elements, metres, at or below which they are unknown.
inline constexpr double unknown_element_size = 1e-9;

/// The flat face by which a wedge lies on the part, in the probe's coordinates.
struct MfmcWedgeFace {
  Vector3 point;
  Vector3 normal;  ///< unit, out of the wedge or into it: writers differ
};

/// A PROBE group, in the probe's own coordinates: x along the elements, z out of them.
struct MfmcProbe {
  struct Element {
    Vector3 centre;
    Vector3 normal;            ///< unit, along ELEMENT_MAJOR x ELEMENT_MINOR; +z where that is zero
    double width = 0.0;        ///< whole size of the axis nearer to x
    double length = 0.0;       ///< of the other
    bool axes_stated = false;  ///< ELEMENT_MAJOR x ELEMENT_MINOR is not zero
    bool dead = false;
  };
  std::string name;
  std::vector<Element> elements;
  double centre_frequency = 0.0;
  double bandwidth = 0.0;
  std::optional<MfmcWedgeFace> wedge_face;
};
[[nodiscard]] MfmcProbe read_mfmc_probe(const Hdf5Handle& group, const std::string& file);

/// A LAW group, without the entries of weight 0.
struct MfmcLaw {
  struct Entry {
    hobj_ref_t probe = 0;
    std::size_t element = 0;  ///< from 1; the probe tells whether it is there
    double delay = 0.0;
    double weight = 1.0;
  };
  std::vector<Entry> entries;
  // What a law of Echoform is said to be (mfmc_events.hpp); empty or false where it is not.
  std::vector<double> plane_wave{};
  std::vector<double> point_wave{};
  bool code = false;
};
[[nodiscard]] MfmcLaw read_mfmc_law(const Hdf5Handle& group, const std::string& file);

}  // namespace echoform::formats
