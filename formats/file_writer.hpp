// What writers of frames have in common: the file that they write, which counts its frames.
#pragma once

#include <cstdint>
#include <memory>

#include "formats/frame_writer.hpp"

namespace echoform::formats {

/// `File` has a member `frames`, those that are whole. Forcing to the disk does nothing: such files appear at their end.
template <class File>
class FileWriter : public FrameWriter {
 public:
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void flush() override {}
  [[nodiscard]] std::uint64_t frames() const noexcept override { return file_->frames; }

 protected:
  FileWriter() = default;
  ~FileWriter() override = default;

  std::unique_ptr<File> file_;
};

}  // namespace echoform::formats
