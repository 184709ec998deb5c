// Kinds of surfaces: how the numbers and words of a configuration become a Surface. A new kind is a file of its own and a line in
// surface_kind.cpp, or a call of add_surface_kind() in a program outside of the tree.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "rays/spatial_surface.hpp"
#include "rays/surface.hpp"

namespace echoform {

/// What a surface is described by, as [surface] and [backwall] of the configuration state it.
struct SurfaceDescription {
  std::string where;  ///< "part.toml: [surface]", for messages
  std::string kind;
  std::map<std::string, double, std::less<>> numbers;     ///< SI; angles in degrees
  std::map<std::string, std::string, std::less<>> words;  ///< "side", "file" ...
  /// Planes have no ends of their own: so far to either side of x = 0 they are made, at least.
  Metres reach{0.5};

  bool operator==(const SurfaceDescription&) const = default;
};

struct SurfaceParameter {
  std::string_view name;
  std::string_view unit;  ///< empty and a word: text
  std::string_view meaning;
  double low = 0.0;  ///< of a number
  double high = 0.0;
  std::optional<double> otherwise{};  ///< value where absent; without one it must be stated
  bool word = false;
  bool file = false;  ///< a word that names a file
};

struct SurfaceKind {
  std::string name;
  std::string meaning;
  std::vector<SurfaceParameter> parameters;
  /// Numbers are within their bounds and complete. Throws InputError, beginning with `where`. Absent of a kind that only makes
  /// surfaces in three dimensions.
  std::function<Surface(const SurfaceDescription&)> make{};
  /// What is no curve drawn out along y; null where `make` has it, which is quicker. Absent where that has all.
  std::function<std::shared_ptr<const SpatialSurface>(const SurfaceDescription&)> make_spatial{};
};

/// One of both.
struct MadeSurface {
  std::shared_ptr<const Surface> curve;
  std::shared_ptr<const SpatialSurface> spatial;
};

/// The surface kinds, in the order of registration. add_surface_kind throws InputError if the name is taken.
[[nodiscard]] const std::vector<SurfaceKind>& surface_kinds();
void add_surface_kind(SurfaceKind kind);

/// Checks the description against its kind and makes the surface. Throws InputError for an unknown kind, a parameter that the
/// kind does not have, one that is missing or out of range, and what the kind itself refuses. make_surface() is for those who
/// want a curve: it refuses surfaces in three dimensions.
[[nodiscard]] MadeSurface make_any_surface(SurfaceDescription description);
[[nodiscard]] std::shared_ptr<const Surface> make_surface(SurfaceDescription description);

/// Whether the word "side" of the description is "inside"; it is "outside" if absent. Throws InputError for any other word.
[[nodiscard]] bool side_of(const SurfaceDescription& description);

}  // namespace echoform
