// One view of a finished frame as an Image message, for every sink that sends images.
//
// Streams of a server called NAME: with one view, NAME (float32 envelope on the acoustic grid) and NAME.display (8 bits on
// the display grid); with several, NAME/VIEW and NAME/VIEW.display for each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/image_sink.hpp"
#include "proto/image.pb.h"

namespace echoform {

struct StreamDescription {
  std::string name;
  std::size_t output = 0;  ///< place among the setup's outputs
  std::string view_name;
  bool display = false;  ///< 8 bits on the display grid; else float32 on the acoustic grid
  Grid grid;
  std::size_t pixel_bytes = 0;  ///< of a whole image
  Meaning pixels;
  ValueScale scale;
  Meaning x;
  Meaning y;
  Meaning z;
  double limit = 0.0;  ///< as OutputDescription has it, and what follows
  std::optional<LineGeometry> lines;
};

/// Which of a view's two images are handed on; at least one.
struct StreamChoice {
  bool envelope = true;
  bool display = true;
};

/// All streams of a setup: its envelopes and displays, in the order of its outputs.
[[nodiscard]] std::vector<StreamDescription> describe_streams(const ImagingSetup& setup, std::string_view name,
                                                              StreamChoice choice = {});

/// Throws InputError (naming `where`) unless `name` is 1 to 64 letters, digits, '-' or '_'.
void validate_stream_name(std::string_view name, std::string_view where);

/// The bytes with which every message of `stream` begins and no other stream's does: tag, length, name. A plain
/// subscription to them selects the stream.
[[nodiscard]] std::string stream_prefix(std::string_view stream);

/// Writes Image messages without a second copy of the pixels: everything else is serialised straight into the caller's
/// memory, then tag, length and pixels are appended, which parsers read as one ordinary message. Reuses its memory: once
/// every stream has been written, it allocates nothing. One caller at a time.
class ImageMessageWriter {
 public:
  /// InputError for a name that is no stream name, or where nothing is chosen.
  explicit ImageMessageWriter(std::string name, StreamChoice choice = {});

  /// Takes a new setup. Call it before the first prepare(). The setup is not kept alive, since large tables of travel times
  /// belong to it.
  void set_setup(const ImagingSetup& setup);
  [[nodiscard]] std::span<const StreamDescription> streams() const { return streams_; }
  /// No message of the present setup is longer.
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

  /// Fills in the message of streams()[index]. Returns its length, or 0 where the frame holds no such image (an engine
  /// without a display image, an envelope that nobody wanted, or buffers of another setup).
  [[nodiscard]] std::size_t prepare(const FinishedFrame& frame, std::size_t index);
  /// Writes what prepare() filled in; `to` has exactly the length that it returned. The frame must still be valid.
  void write(std::span<std::byte> to) const;

 private:
  std::string name_;
  StreamChoice choice_;
  std::vector<StreamDescription> streams_;
  std::size_t capacity_ = 0;
  wire::Image head_;
  std::size_t head_bytes_ = 0;
  std::span<const std::byte> pixels_;
};

/// Properties of the pixels of a parsed message: the scale by which they are shown, except for its end, which is the
/// message's reference; the grid on which they lie; and the meanings of the axes, which are metres along x, y and z unless
/// the message states others.
[[nodiscard]] ValueScale scale_of(const wire::Image& image);
[[nodiscard]] Grid grid_of(const wire::Image& image);
struct AxisMeanings {
  Meaning x;
  Meaning y;
  Meaning z;
};
[[nodiscard]] AxisMeanings meanings_of(const wire::Image& image);

/// Parses a message that a peer sent into `image`, reusing its memory. Returns what is wrong with it, if anything: not an
/// Image, more than 64 KiB besides the pixels, geometry that is not finite or contradicts the number of pixels.
[[nodiscard]] std::optional<std::string> parse_image(std::span<const std::byte> message, wire::Image& image);

}  // namespace echoform
