// The fields are those of the MFMC 2.0 specification, shapes in C order (the specification writes them reversed).
#include "formats/mfmc_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "base/errors.hpp"
#include "formats/guarded_trial.hpp"
#include "formats/hdf5_blocks.hpp"
#include "formats/hdf5_file.hpp"
#include "formats/mat5_check.hpp"
#include "formats/mfmc_parts.hpp"
#include "formats/recording_formats.hpp"

namespace echoform {
namespace {

using namespace formats;

constexpr std::size_t most_shown = 50;

enum class Kind : unsigned char { floating, integer, number, text, reference };

/// Where a field is in its group.
enum class FieldPlace : unsigned char { attribute, dataset };

/// A field. Its `shape` has a letter or digit for each axis: F frames, A A-scans, T samples, E elements, B placements, Q probes,
/// C entries of a law, a digit a fixed size, ? any. It is empty for text.
struct Field {
  const char* name;
  bool mandatory;
  Kind kind;
  std::string_view shape;
  FieldPlace place = FieldPlace::attribute;
};

// The first field with a letter determines the size that the letter stands for.
constexpr Field sequence_fields[] = {
    {"MFMC_DATA", true, Kind::number, "FAT", FieldPlace::dataset},
    {"MFMC_DATA_IM", false, Kind::number, "FAT", FieldPlace::dataset},
    {"PROBE_PLACEMENT_INDEX", true, Kind::integer, "FA", FieldPlace::dataset},
    {"PROBE_LIST", true, Kind::reference, "Q", FieldPlace::dataset},
    {"PROBE_POSITION", true, Kind::floating, "BQ3", FieldPlace::dataset},
    {"PROBE_X_DIRECTION", true, Kind::floating, "BQ3", FieldPlace::dataset},
    {"PROBE_Y_DIRECTION", true, Kind::floating, "BQ3", FieldPlace::dataset},
    {"TRANSMIT_LAW", true, Kind::reference, "A", FieldPlace::dataset},
    {"RECEIVE_LAW", true, Kind::reference, "A", FieldPlace::dataset},
    {"TIME_STEP", true, Kind::floating, "1"},
    {"START_TIME", true, Kind::floating, "1"},
    {"SPECIMEN_VELOCITY", true, Kind::floating, "2"},
    {"WEDGE_VELOCITY", false, Kind::floating, "2"},
    {"VERSION", false, Kind::text, ""},
    {"TAG", false, Kind::text, ""},
    {"OPERATOR", false, Kind::text, ""},
    {"DATE_AND_TIME", false, Kind::text, ""},
    {"DAC_CURVE", false, Kind::floating, "T", FieldPlace::dataset},
    {"RECEIVER_AMPLIFIER_GAIN", false, Kind::floating, "1"},
    {"FILTER_TYPE", false, Kind::integer, "1"},
    {"FILTER_PARAMETERS", false, Kind::floating, "?"},
    {"FILTER_DESCRIPTION", false, Kind::text, ""},
};
constexpr Field probe_fields[] = {
    {"ELEMENT_POSITION", true, Kind::floating, "E3", FieldPlace::dataset},
    {"ELEMENT_MAJOR", true, Kind::floating, "E3", FieldPlace::dataset},
    {"ELEMENT_MINOR", true, Kind::floating, "E3", FieldPlace::dataset},
    {"ELEMENT_SHAPE", true, Kind::integer, "E", FieldPlace::dataset},
    {"ELEMENT_RADIUS_OF_CURVATURE", false, Kind::floating, "E", FieldPlace::dataset},
    {"ELEMENT_AXIS_OF_CURVATURE", false, Kind::floating, "E3", FieldPlace::dataset},
    {"WEDGE_SURFACE_POINT", false, Kind::floating, "3"},
    {"WEDGE_SURFACE_NORMAL", false, Kind::floating, "3"},
    {"DEAD_ELEMENT", false, Kind::integer, "E", FieldPlace::dataset},
    {"CENTRE_FREQUENCY", true, Kind::floating, "1"},
    {"BANDWIDTH", false, Kind::floating, "1"},
    {"PROBE_MANUFACTURER", false, Kind::text, ""},
    {"PROBE_SERIAL_NUMBER", false, Kind::text, ""},
    {"PROBE_TAG", false, Kind::text, ""},
    {"WEDGE_MANUFACTURER", false, Kind::text, ""},
    {"WEDGE_SERIAL_NUMBER", false, Kind::text, ""},
    {"WEDGE_TAG", false, Kind::text, ""},
};
constexpr Field law_fields[] = {
    {"PROBE", true, Kind::reference, "C", FieldPlace::dataset},
    {"ELEMENT", true, Kind::integer, "C", FieldPlace::dataset},
    {"DELAY", false, Kind::floating, "C", FieldPlace::dataset},
    {"WEIGHTING", false, Kind::floating, "C", FieldPlace::dataset},
};

std::string_view word_of(Kind kind) {
  switch (kind) {
    case Kind::floating:
      return "floating-point numbers";
    case Kind::integer:
      return "integers";
    case Kind::number:
      return "numbers";
    case Kind::text:
      return "a string";
    case Kind::reference:
      return "object references";
  }
  return {};
}

Kind kind_of(const Hdf5Item& item) {
  if (item.type_class() == Hdf5Class::text) return Kind::text;
  if (item.type_class() == Hdf5Class::reference) return Kind::reference;
  return item.is_floating() ? Kind::floating : Kind::integer;
}

std::string type_text(const Hdf5Item& data) {
  const Hdf5Handle type(H5Dget_type(data.handle().id()));
  if (!type || data.type_class() != Hdf5Class::number) return {};
  const std::size_t bits = 8 * H5Tget_size(type.id());
  const bool swapped = bits > 8 && H5Tget_order(type.id()) == H5T_ORDER_BE;
  const char* const kind = data.is_floating() ? "float" : H5Tget_sign(type.id()) == H5T_SGN_NONE ? "uint" : "int";
  return fmt::format("{}{}{}", swapped ? "big-endian " : "", kind, bits);
}

class Checker {
 public:
  explicit Checker(const InputFile& input) : file_name_(input.name()), file_(open_hdf5(input)) {
    findings_.unfinished = is_unfinished(file_);
    for (const std::string& name : find_sequences(file_, file_name_)) {
      const Hdf5Handle group(H5Gopen2(file_.id(), name.c_str(), H5P_DEFAULT));
      guarded([&] { check_sequence(group, fmt::format("{}: {}", file_name_, hdf5_name(group))); });
      ++findings_.sequences;
    }
    if (findings_.sequences == 0) violation(file_name_, "no group of TYPE \"SEQUENCE\"", "at least one");
    guarded([&] {
      if (const auto version = Hdf5Item::find(file_, "VERSION", file_name_)) findings_.version = version->text();
    });
  }

  [[nodiscard]] MfmcFindings take() { return std::move(findings_); }

 private:
  using Sizes = std::map<char, std::size_t>;
  using Items = std::map<std::string_view, Hdf5Item>;

  void line(std::string text) {
    if (findings_.violations.size() < most_shown)
      findings_.violations.push_back(std::move(text));
    else
      ++findings_.not_shown;
  }
  void violation(const std::string& where, const std::string& found, const std::string& expected) {
    line(InputError(where, found, expected).what());
  }
  /// A failure to read is a violation like others.
  template <class Check>
  void guarded(Check&& check) {
    try {
      check();
    } catch (const InputError& error) {
      line(error.what());
    }
  }

  /// Whether the shape is right. Sets the sizes of letters that have none yet.
  [[nodiscard]] bool fits(const Field& field, const std::vector<std::size_t>& shape, Sizes& sizes) const {
    if (field.shape == "?") return true;
    // A single value may be a scalar.
    const std::vector<std::size_t> one{1};
    const auto& axes = shape.empty() && field.shape.size() == 1 ? one : shape;
    if (axes.size() != field.shape.size()) return false;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const char letter = field.shape[k];
      if (letter >= '0' && letter <= '9') {
        if (axes[k] != static_cast<std::size_t>(letter - '0')) return false;
        continue;
      }
      const auto [found, bound] = sizes.emplace(letter, axes[k]);
      // A frame's placement is written before its samples.
      const bool ahead = findings_.unfinished && letter == 'F' && axes[k] > found->second;
      if (found->second != axes[k] && !ahead) return false;
    }
    return true;
  }

  [[nodiscard]] static std::string wanted(const Field& field, const Sizes& sizes) {
    std::vector<std::string> axes;
    for (const char letter : field.shape) {
      static const std::map<char, std::string_view> words{{'F', "frames"},   {'A', "A-scans"},    {'T', "samples"},
                                                          {'E', "elements"}, {'B', "placements"}, {'Q', "probes"},
                                                          {'C', "entries"}};
      if (const auto size = sizes.find(letter); size != sizes.end())
        axes.push_back(fmt::format("{}", size->second));
      else if (const auto word = words.find(letter); word != words.end())
        axes.emplace_back(word->second);
      else
        axes.emplace_back(1, letter);
    }
    return fmt::format("shape {}", fmt::join(axes, " x "));
  }

  /// Checks names, classes and shapes. Returns the items that are right, by name.
  template <std::size_t count>
  Items check_fields(const Hdf5Handle& group, const std::string& where, const Field (&fields)[count], Sizes& sizes) {
    Items items;
    // A sequence that waits for its first frame has no fields whose first axis is the frames.
    const auto is_of_frames = [](const Field& field) { return field.shape.starts_with('F'); };
    const bool without_frames = !Hdf5Item::exists(group, "MFMC_DATA");
    for (const Field& field : fields) {
      guarded([&] {
        auto item = Hdf5Item::find(group, field.name, where);
        if (!item) {
          if (field.mandatory && !(without_frames && is_of_frames(field)))
            violation(where, fmt::format("no {}", field.name), fmt::format("the mandatory {}", field.name));
          return;
        }
        if (item->is_attribute() != (field.place == FieldPlace::attribute)) {
          violation(item->where(), item->is_attribute() ? "an attribute" : "a dataset",
                    field.place == FieldPlace::attribute ? "an attribute" : "a dataset");
        }
        const Kind kind = kind_of(*item);
        const bool numeric = item->type_class() == Hdf5Class::number;
        const bool right = field.kind == Kind::number
                               ? numeric
                               : kind == field.kind && (numeric || field.kind == Kind::text || field.kind == Kind::reference);
        if (!right) {
          violation(item->where(), item->type_class() == Hdf5Class::other ? "something else" : std::string(word_of(kind)),
                    std::string(word_of(field.kind)));
          // Whole numbers in the wrong class can still be checked.
          if (!numeric || field.kind == Kind::text || field.kind == Kind::reference) return;
        }
        if (field.kind == Kind::text) {
          if (item->points() != 1) violation(item->where(), shape_text(item->shape()) + " strings", "one string");
          return;
        }
        const Sizes before = sizes;
        if (!fits(field, item->shape(), sizes)) {
          sizes = before;
          violation(item->where(), fmt::format("shape {}", shape_text(item->shape())), wanted(field, sizes));
          return;
        }
        items.emplace(field.name, std::move(*item));
      });
    }
    return items;
  }

  /// Checks that whole numbers are within first .. last.
  void check_indices(const Items& items, const char* name, std::size_t first, std::size_t last) {
    if (const auto item = items.find(name); item != items.end())
      guarded([&] {
        const auto& shape = item->second.shape();
        item->second.for_indices(first, last, shape.empty() ? 1 : shape[0], [](std::size_t, std::span<const std::size_t>) {});
      });
  }
  /// Checks that numbers are finite, and at least `least`, or above it.
  void check_least(const Items& items, const char* name, double least, bool above) {
    const auto item = items.find(name);
    if (item == items.end()) return;
    guarded([&] {
      for (const double value : item->second.numbers()) {
        if (value < least || (above && value == least))
          violation(item->second.where(), fmt::format("{:g}", value),
                    fmt::format("{} {:g}", above ? "more than" : "at least", least));
      }
    });
  }

  void check_sequence(const Hdf5Handle& group, const std::string& where) {
    laws_.clear();  // another sequence may use the same law, which may name a probe that is not in this one's list
    Sizes sizes;
    const Items items = check_fields(group, where, sequence_fields, sizes);
    if (findings_.sequences == 0) {
      if (const auto data = items.find("MFMC_DATA"); data != items.end()) findings_.sample_type = type_text(data->second);
      guarded([&] {
        if (const auto date = Hdf5Item::find(group, "DATE_AND_TIME", where)) findings_.date_and_time = date->text();
        if (const auto version = Hdf5Item::find(group, "VERSION", where)) findings_.version = version->text();
      });
    }
    // Samples are too many to be read here. Whether there is any way to read them can be checked without reading.
    for (const char* const name : {"MFMC_DATA", "MFMC_DATA_IM"}) {
      if (const auto data = items.find(name); data != items.end() && !data->second.is_attribute())
        guarded([&] { static_cast<void>(Hdf5Blocks(data->second, 0)); });
    }
    check_least(items, "TIME_STEP", 0.0, true);
    check_least(items, "START_TIME", -1e9, false);
    check_least(items, "SPECIMEN_VELOCITY", 0.0, false);
    if (sizes.contains('B')) check_indices(items, "PROBE_PLACEMENT_INDEX", 1, sizes.at('B'));
    check_indices(items, "FILTER_TYPE", 0, 4);
    check_filter(items);
    for (const char* const name : {"PROBE_POSITION", "PROBE_X_DIRECTION", "PROBE_Y_DIRECTION"}) {
      if (const auto item = items.find(name); item != items.end()) guarded([&] { static_cast<void>(item->second.numbers()); });
    }
    std::set<hobj_ref_t> listed;
    if (const auto list = items.find("PROBE_LIST"); list != items.end()) {
      for (const hobj_ref_t reference : references_of(list->second)) {
        listed.insert(reference);
        guarded([&] { static_cast<void>(elements_of(list->second, reference)); });
      }
    }
    for (const char* const name : {"TRANSMIT_LAW", "RECEIVE_LAW"}) {
      const auto laws = items.find(name);
      if (laws == items.end()) continue;
      for (const hobj_ref_t reference : references_of(laws->second)) {
        if (laws_.insert(reference).second) guarded([&] { check_law(laws->second, reference, listed, where); });
      }
    }
  }

  std::vector<hobj_ref_t> references_of(const Hdf5Item& item) {
    std::vector<hobj_ref_t> references;
    guarded([&] { references = item.references(); });
    return references;
  }

  /// Number of elements of the probe that `reference`, found in `from`, points at; checks the probe the first time. 0 if it is
  /// not stated.
  std::size_t elements_of(const Hdf5Item& from, hobj_ref_t reference) {
    if (const auto known = probes_.find(reference); known != probes_.end()) return known->second;
    probes_.emplace(reference, 0);
    const Hdf5Handle group = open_reference(from, reference);
    require_mfmc_type(group, "PROBE", from, file_name_);
    Sizes sizes;
    const Items items = check_fields(group, fmt::format("{}: {}", file_name_, hdf5_name(group)), probe_fields, sizes);
    check_indices(items, "ELEMENT_SHAPE", 1, 2);
    check_indices(items, "DEAD_ELEMENT", 0, 1);
    for (const char* const name : {"ELEMENT_POSITION", "ELEMENT_MAJOR", "ELEMENT_MINOR"}) {
      if (const auto item = items.find(name); item != items.end()) guarded([&] { static_cast<void>(item->second.numbers()); });
    }
    check_least(items, "CENTRE_FREQUENCY", 0.0, false);
    return probes_[reference] = sizes.contains('E') ? sizes.at('E') : 0;
  }

  void check_law(const Hdf5Item& from, hobj_ref_t reference, const std::set<hobj_ref_t>& listed, const std::string& sequence) {
    const Hdf5Handle group = open_reference(from, reference);
    require_mfmc_type(group, "LAW", from, file_name_);
    const std::string where = fmt::format("{}: {}", file_name_, hdf5_name(group));
    Sizes sizes;
    const Items items = check_fields(group, where, law_fields, sizes);
    for (const char* const name : {"DELAY", "WEIGHTING"}) {
      if (const auto item = items.find(name); item != items.end()) guarded([&] { static_cast<void>(item->second.numbers()); });
    }
    const auto probe = items.find("PROBE");
    if (probe == items.end()) return;
    const auto references = references_of(probe->second);
    std::vector<std::size_t> elements;  // elements of the probe that each entry names; 0 if not stated
    for (const hobj_ref_t to : references) {
      if (!listed.contains(to))
        violation(probe->second.where(), "a probe that is not listed", sequence + "/PROBE_LIST to hold it");
      elements.push_back(0);
      guarded([&] { elements.back() = elements_of(probe->second, to); });
    }
    const auto element = items.find("ELEMENT");
    if (element == items.end() || elements.empty()) return;
    const std::size_t most = *std::max_element(elements.begin(), elements.end());
    if (most == 0) return;
    guarded([&] {
      const auto indices = element->second.indices(1, most);
      for (std::size_t entry = 0; entry < std::min(indices.size(), elements.size()); ++entry) {
        if (elements[entry] == 0 || indices[entry] < elements[entry]) continue;
        violation(element->second.where(), fmt::format("{} as value {}", indices[entry] + 1, entry + 1),
                  fmt::format("whole numbers from 1 to {}", elements[entry]));
      }
    });
  }

  /// Checks the cut-off frequencies by the filter's type: one, one, two, or rows of frequency, real and imaginary part.
  void check_filter(const Items& items) {
    const auto type = items.find("FILTER_TYPE");
    const auto parameters = items.find("FILTER_PARAMETERS");
    if (type == items.end() || parameters == items.end()) return;
    guarded([&] {
      const auto& shape = parameters->second.shape();
      const auto kinds = type->second.indices(0, 4);
      const std::size_t kind = kinds.empty() ? 0 : kinds.front();
      const bool right = kind == 0   ? true
                         : kind == 4 ? shape.size() == 2 && shape[1] == 3
                                     : parameters->second.points() == (kind == 3 ? 2 : 1);
      if (!right)
        violation(parameters->second.where(), fmt::format("shape {}", shape_text(shape)),
                  kind == 4 ? "shape N x 3" : fmt::format("shape {}", kind == 3 ? 2 : 1));
      static_cast<void>(parameters->second.numbers());
    });
  }

  std::string file_name_;
  Hdf5Handle file_;
  MfmcFindings findings_;
  std::map<hobj_ref_t, std::size_t> probes_;  // elements of the probes that were checked already
  std::set<hobj_ref_t> laws_;                 // laws of the sequence that were checked already
};

MfmcFindings checked(const InputFile& file) {
  const Hdf5Session session;
  return Checker(file).take();
}

}  // namespace

MfmcFindings check_mfmc(const std::filesystem::path& path, const RecordingOptions& options) {
  const InputFile file(path);
  require_hdf5(file, mfmc_format.always_hdf5);
  // HDF5 can crash on damaged files, so a child process tries first.
  const auto trial = [&] {
    try {
      mfmc_format.try_reading(file, options);
    } catch (const InputError&) {  // reported below
    }
    static_cast<void>(checked(file));
  };
  try_in_child(file.name(), trial, mfmc_trial_limits(file));
  MfmcFindings findings = checked(file);
  try {
    findings.recording = open_as(mfmc_format, file, options, Trial::none);
  } catch (const InputError& error) {
    findings.not_imaged = error.what();
  }
  return findings;
}

}  // namespace echoform
