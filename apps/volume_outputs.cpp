#include "apps/volume_outputs.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "base/errors.hpp"

namespace echoform {

VolumeOutputs::VolumeOutputs(const std::vector<std::string>& paths, ArchiveEntry archive) : archive_(std::move(archive)) {
  for (const std::string& path : paths) add(path, 0);
}

void VolumeOutputs::name_volumes(const std::vector<std::string>& names) {
  names_ = names;
  if (names.size() < 2) return;
  for (const Output& stated : std::exchange(outputs_, {})) {
    for (std::size_t k = 0; k < names.size(); ++k) add(with_view_name(stated.path, names[k]), k);
  }
}

std::vector<std::filesystem::path> VolumeOutputs::paths() const {
  std::vector<std::filesystem::path> paths;
  for (const Output& output : outputs_) paths.push_back(output.path);
  return paths;
}

std::size_t VolumeOutputs::working_bytes(std::size_t voxels) const {
  std::size_t most = 0;
  for (const Output& output : outputs_) {
    most = std::max(most, output.writer->working_bytes() + (output.writer->draws() ? voxels * sizeof(float) : 0));
  }
  return most;
}

void VolumeOutputs::write(std::size_t volume, const Grid& grid, std::span<const float> values, const ImageQuantity& quantity,
                          const std::string& title) const {
  ImageFile file;
  file.grid = grid;
  file.view = names_[volume];
  file.pixels = quantity.pixels;
  file.scale = quantity.scale;
  file.title = title;
  file.archive = &archive_;
  file.envelope = values;
  for (const Output& output : outputs_) {
    if (output.volume != volume) continue;
    output.writer->write(file);
    spdlog::info("wrote {}", output.path.string());
  }
}

void VolumeOutputs::add(std::filesystem::path path, std::size_t volume) {
  for (const Output& other : outputs_) {
    if (other.path.lexically_normal() == path.lexically_normal())
      throw InputError("--output", fmt::format("{} twice", path.string()), "each file once");
  }
  auto writer = make_image_writer(path);
  outputs_.push_back({std::move(path), volume, std::move(writer)});
}

}  // namespace echoform
