// The probe of an ONDE file, and laws of its elements.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "formats/mfmc_parts.hpp"
#include "formats/onde_fields.hpp"

namespace echoform::formats {

/// The probe of a file, in its own coordinates.
struct OndeProbe {
  Probe probe;
  MetresPerSecond coupling_velocity{};  ///< of longitudinal waves in wedge or water; 0 in contact, and unknown
  bool on_wedge = false;                ///< or in water
  std::vector<std::string> notes;
};
/// Throws InputError, naming field, for what is missing, of another shape, or of more elements than `most`.
[[nodiscard]] OndeProbe read_onde_probe(const OndeGroup& group, std::size_t most);

/// Laws by the groups that references lead to, each read once. All laws belong to one probe.
class OndeLaws {
 public:
  /// `probes` is PROBE_LIST, by which some files count.
  OndeLaws(std::string file, std::vector<hobj_ref_t> probes) : file_(std::move(file)), probes_(std::move(probes)) {}

  /// Reads the law of each reference of the item, and returns the references. Must not be called after count_from_one().
  [[nodiscard]] std::vector<hobj_ref_t> read(const Hdf5Item& item);
  /// Makes element numbers count from 1: if some law has an element 0, all laws are taken to count from 0 and are raised by
  /// 1. Returns whether they were. To be called once, after all laws have been read.
  bool count_from_one();
  [[nodiscard]] const MfmcLaw& of(hobj_ref_t reference) const { return laws_.at(reference); }
  /// Reference of the one probe that all laws belong to.
  [[nodiscard]] hobj_ref_t probe() const { return probe_; }
  /// "FILE: /LAWS/T3".
  [[nodiscard]] std::string name_of(const Hdf5Item& item, hobj_ref_t reference) const;

 private:
  [[nodiscard]] MfmcLaw read_law(const OndeGroup& group);

  std::string file_;
  std::vector<hobj_ref_t> probes_;
  std::map<hobj_ref_t, MfmcLaw> laws_;  // elements as the file counts them
  hobj_ref_t probe_ = 0;
};

}  // namespace echoform::formats
