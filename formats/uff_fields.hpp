// What the objects of USTB's files hold: https://github.com/runngezhang/ustb (+uff/write_object.m). An object is a group whose
// attribute `class` names what it is; its members are groups and datasets by name. Arrays of objects are groups of theirs,
// numbered. Axes are MATLAB's, so that C has them in reverse. Complex numbers are a group of two datasets, real and imag.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/hdf5_file.hpp"
#include "formats/uff_waves.hpp"

namespace echoform::formats {

inline constexpr const char* uff_channel_data = "uff.channel_data";
inline constexpr std::size_t uff_geometry_fields = 7;  ///< x, y, z, theta, phi, width, height of an element

/// A group of the file and where it is, for messages: "FILE: /channel_data".
class UffObject {
 public:
  UffObject(Hdf5Handle group, std::string where) : group_(std::move(group)), where_(std::move(where)) {}

  /// The object of that name in this one; nothing where there is none.
  [[nodiscard]] std::optional<UffObject> find(const std::string& name) const;
  /// As find(); throws InputError where there is none.
  [[nodiscard]] UffObject object(const std::string& name) const;
  /// Its class; empty where it states none.
  [[nodiscard]] std::string class_name() const;
  /// The one value; nothing where it is absent or empty. Throws InputError for several, and for what is no number.
  [[nodiscard]] std::optional<double> number(const char* name) const;
  /// The same, which may be infinite.
  [[nodiscard]] std::optional<double> number_or_infinity(const char* name) const;
  /// As number(); throws InputError where it is absent, or not above 0.
  [[nodiscard]] double positive(const char* name) const;
  /// The objects of an array, in their order, or this one alone, if it has one of `members` as they have. At most `most`; `what`
  /// they are is for messages.
  [[nodiscard]] std::vector<UffObject> elements(std::initializer_list<const char*> members, std::size_t most,
                                                std::string_view what) &&;

  [[nodiscard]] const Hdf5Handle& handle() const { return group_; }
  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] std::string where(const std::string& name) const { return where_ + "/" + name; }

 private:
  Hdf5Handle group_;
  std::string where_;
};

/// Names of the objects of a file's root that are of class `uff_class`, by name.
[[nodiscard]] std::vector<std::string> uff_objects_of(const Hdf5Handle& file, const std::string& uff_class,
                                                      const std::string& where);

/// A point of class uff.point.
[[nodiscard]] UffPoint read_uff_point(const UffObject& point);

}  // namespace echoform::formats
