// What ONDE files hold, by name: HDF5 groups of classes, whose fields are attributes or datasets "CLASS:FIELD" of theirs. Version
// 0.9.0 of https://github.com/COFREND/ONDE-format, and of 0.9.1 what took other names.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "acquisition/pose.hpp"
#include "base/vector3.hpp"
#include "formats/hdf5_file.hpp"

namespace echoform::formats {

inline constexpr const char* onde_file_type = "ONDE:FILETYPE";
inline constexpr const char* onde_ultrasound = "ONDE_UT";  // the type of a file
inline constexpr const char* onde_version = "ONDE:VERSION";
inline constexpr const char* onde_written_version = "0.9.0";
inline constexpr const char* onde_type = "ONDE:TYPE";  // of a group: its classes, the base first
inline constexpr const char* onde_type_tags = "ONDE:TYPE_TAGS";
inline constexpr const char* onde_label = "ONDE:LABEL";
inline constexpr const char* onde_a_scans = "ONDE_DATASET_UT_ASCAN";
inline constexpr const char* onde_image = "ONDE_DATASET_UT_TSCAN";
inline constexpr const char* onde_data = "ONDE_DATASET:DATA";
/// SHAPE of a rectangle: the specification has names for shapes, and no numbers; MFMC has this one.
inline constexpr int onde_rectangle = 1;

/// A group of the file and where it is, for messages: "FILE: /NAME".
class OndeGroup {
 public:
  OndeGroup(Hdf5Handle group, std::string where) : group_(std::move(group)), where_(std::move(where)) {}

  /// An attribute or dataset of it.
  [[nodiscard]] std::optional<Hdf5Item> find(const char* name) const { return Hdf5Item::find(group_, name, where_); }
  [[nodiscard]] Hdf5Item require(const char* name) const { return Hdf5Item::require(group_, name, where_); }
  /// The one number of a field, finite and within the range. Throws InputError, naming it.
  [[nodiscard]] double number(const char* name, double least, double greatest) const;
  /// The group that a field of one reference leads to.
  [[nodiscard]] OndeGroup follow(const char* name) const;
  [[nodiscard]] std::optional<OndeGroup> follow_if_there(const char* name) const;
  /// Whether ONDE:TYPE names the class; not where there is no such attribute.
  [[nodiscard]] bool is_a(const char* type) const;

  [[nodiscard]] const Hdf5Handle& handle() const { return group_; }
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  Hdf5Handle group_;
  std::string where_;
};

/// Names of all groups of a class, in alphabetical order of their paths.
[[nodiscard]] std::vector<std::string> find_onde_groups(const Hdf5Handle& file, const std::string& file_name, const char* type);

/// A frame of reference within another: place, and axes of length 1 at right angles.
struct OndeFrame {
  Vector3 origin;
  Vector3 x{1.0, 0.0, 0.0};
  Vector3 y{0.0, 1.0, 0.0};
  Vector3 z{0.0, 0.0, 1.0};

  [[nodiscard]] Vector3 turned(const Vector3& v) const { return v.x * x + v.y * y + v.z * z; }
};
/// Seven numbers are x, y, z in metres and a quaternion, its scalar part first, of any length above 0. Throws InputError, naming
/// `where`, for other quaternions.
[[nodiscard]] OndeFrame onde_frame(std::span<const double> numbers, const std::string& where);
[[nodiscard]] std::array<double, 7> onde_numbers(const OndeFrame& frame);
/// `inner`, which is stated in `outer`, in what `outer` is stated in.
[[nodiscard]] OndeFrame within(const OndeFrame& outer, const OndeFrame& inner);
[[nodiscard]] Pose pose_of(const OndeFrame& frame);
[[nodiscard]] OndeFrame frame_of(const Pose& pose);

}  // namespace echoform::formats
