// Triangles from STL files, binary and ASCII (3D Systems 1989, StereoLithography Interface Specification).
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/vector3.hpp"

namespace echoform {

inline constexpr std::size_t most_stl_triangles = 500'000;

/// The corners of its triangles in the file's numbers times `scale`, in the file's order; normals are not read, since corners
/// tell them. Throws InputError, naming `key` for a file that cannot be read, else `path`: for what is no STL file, one that is
/// cut off, numbers that are none, and more than most_stl_triangles.
[[nodiscard]] std::vector<std::array<Vector3, 3>> read_stl(const std::string& path, const std::string& key, double scale);

/// The same of a file's bytes.
[[nodiscard]] std::vector<std::array<Vector3, 3>> parse_stl(std::string_view bytes, const std::string& path, double scale);

}  // namespace echoform
