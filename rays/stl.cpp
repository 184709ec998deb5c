// A part of triangles, from an STL file.
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "rays/mesh_field.hpp"
#include "rays/stl_file.hpp"
#include "rays/surface_kind.hpp"

namespace echoform {
namespace {

class MeshSurface final : public SpatialSurface {
 public:
  MeshSurface(const std::string& name, const std::vector<std::array<Vector3, 3>>& triangles)
      : SpatialSurface(name), mesh_(std::make_shared<const TriangleMesh>(name, triangles)) {}

  [[nodiscard]] double signed_distance(Vector3 from) const override { return mesh_->signed_distance(from); }

  [[nodiscard]] SpatialFoot foot(Vector3 from) const override {
    const TriangleMesh::Nearest nearest = mesh_->nearest(from);
    return {nearest.at, mesh_->inwards(nearest.face)};
  }
  [[nodiscard]] const TriangleMesh* mesh() const override { return mesh_.get(); }

  [[nodiscard]] std::unique_ptr<RayField> field(const RayPath& path, std::vector<Point> sources,
                                                SimdLevel /*level*/) const override {
    return make_mesh_field(path, std::move(sources), mesh_);
  }

 private:
  std::shared_ptr<const TriangleMesh> mesh_;
};

/// Meshes in use. Each position of a scan requests the same mesh again, and a file may have half a million triangles.
class MeshesInUse {
 public:
  /// The mesh in use for the same description and the same state of its file; else the result of `make`.
  template <class Make>
  std::shared_ptr<const SpatialSurface> of(SurfaceDescription d, const std::string& file, const Make& make) {
    d.reach = Metres(0.0);  // meshes have their own ends
    std::error_code error;
    const auto changed = std::filesystem::last_write_time(file, error);
    const auto bytes = error ? 0 : std::filesystem::file_size(file, error);
    if (error) return make();
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(meshes_, [](const Entry& entry) { return entry.mesh.expired(); });
      for (const Entry& entry : meshes_) {
        if (entry.changed != changed || entry.bytes != bytes || !(entry.description == d)) continue;
        if (auto mesh = entry.mesh.lock()) return mesh;
      }
    }
    auto mesh = make();
    const std::lock_guard lock(mutex_);
    meshes_.push_back({d, changed, bytes, mesh});
    return mesh;
  }

 private:
  struct Entry {
    SurfaceDescription description;
    std::filesystem::file_time_type changed;
    std::uintmax_t bytes = 0;
    std::weak_ptr<const SpatialSurface> mesh;
  };
  std::mutex mutex_;
  std::vector<Entry> meshes_;
};

std::shared_ptr<const SpatialSurface> read_mesh(const SurfaceDescription& d, const std::string& file) {
  std::vector<std::array<Vector3, 3>> triangles = read_stl(file, d.where + " file", d.numbers.at("scale"));
  const Vector3 shift{d.numbers.at("x"), d.numbers.at("y"), d.numbers.at("z")};
  for (auto& triangle : triangles) {
    for (Vector3& corner : triangle) corner = corner + shift;
  }
  return std::make_shared<const MeshSurface>(fmt::format("{} {}", d.where, file), triangles);
}

std::shared_ptr<const SpatialSurface> make_stl(const SurfaceDescription& d) {
  static MeshesInUse in_use;
  const auto file = d.words.find("file");
  if (file == d.words.end()) {
    throw InputError(fmt::format("{} file", d.where), "no value", "an STL file, which kind = \"stl\" needs");
  }
  return in_use.of(d, file->second, [&] { return read_mesh(d, file->second); });
}

}  // namespace

SurfaceKind stl_kind() {
  SurfaceKind kind;
  kind.name = "stl";
  kind.meaning = "A whole part of triangles from an STL file, binary or ASCII.";
  kind.parameters = {{"x", "m", "Added to the file's x.", -10.0, 10.0, 0.0},
                     {"y", "m", "Added to the file's y.", -10.0, 10.0, 0.0},
                     {"z", "m", "Added to the file's z, which points into the part's depth.", -10.0, 10.0, 0.0},
                     {"scale", "m", "What the file's unit is: 0.001 for mm.", 1e-9, 1e3, 1e-3},
                     {"file", "", "STL file of a closed surface, at most 500000 triangles.", 0.0, 0.0, {}, true, true}};
  kind.make_spatial = make_stl;
  return kind;
}

}  // namespace echoform
