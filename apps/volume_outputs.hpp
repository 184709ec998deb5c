// `echoform reconstruct`: the files of its volumes.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/grid.hpp"
#include "formats/image_writer.hpp"
#include "methods/optoacoustic_images.hpp"

namespace echoform {

class VolumeOutputs {
 public:
  VolumeOutputs() = default;
  /// As --output has them; `archive` is what files for archives say of whom they show. Throws InputError for a file twice, and as
  /// make_image_writer().
  explicit VolumeOutputs(const std::vector<std::string>& paths, ArchiveEntry archive = {});

  /// What volumes there will be: with several, files have their names ("mouse.750nm.npy"). Throws InputError as the constructor.
  void name_volumes(const std::vector<std::string>& names);

  [[nodiscard]] std::vector<std::filesystem::path> paths() const;
  /// Bytes that writing a volume of so many voxels takes beside its values.
  [[nodiscard]] std::size_t working_bytes(std::size_t voxels) const;

  /// Volume [z, y, x] number `volume`, into each of its files.
  void write(std::size_t volume, const Grid& grid, std::span<const float> values, const ImageQuantity& quantity,
             const std::string& title) const;

 private:
  struct Output {
    std::filesystem::path path;
    std::size_t volume = 0;
    std::unique_ptr<ImageWriter> writer;
  };
  void add(std::filesystem::path path, std::size_t volume);

  std::vector<Output> outputs_;
  std::vector<std::string> names_;
  ArchiveEntry archive_;
};

}  // namespace echoform
