// Streams as devices of OpenIGTLink, and their images as messages.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "proto/image.pb.h"
#include "transport/openigtlink/image_place.hpp"
#include "transport/openigtlink/messages.hpp"
#include "transport/publish/image_message.hpp"

namespace echoform::openigtlink {

struct Device {
  std::string name;    ///< at most most_device_letters; unique
  std::string stream;  ///< see publish/image_message.hpp
  ImageHead head;      ///< of its images, so long as the setup is the same
};

/// Device names for streams, in the order of the streams. A name is the stream's, shortened where it has more than 20
/// letters: first the server's name is cut, so that view and kind remain, then the rest. Names that would be equal end in
/// ~2, ~3 and so on.
[[nodiscard]] std::vector<std::string> device_names(const std::vector<std::string>& streams, std::string_view server);

/// Devices of a setup's streams; only of those of `views`, where any are named. Arrays of lines and images whose axes are no
/// lengths are left out, since they have no place in space. Images with more than 65535 pixels along an axis are left out
/// too. The log names what is left out.
[[nodiscard]] std::vector<Device> devices_of(const std::vector<StreamDescription>& streams, std::string_view server,
                                             const std::vector<std::string>& views);

/// An image of a device, prepared for messages of both versions. The pixels are not copied.
class PreparedImage {
 public:
  /// Prepares an Image message (publish/image_message.hpp) that this program has made; throws std::logic_error for anything
  /// else. `number` distinguishes it from the device's other images; 0 stands for no image.
  void prepare(std::uint64_t number, std::span<const std::byte> message, const ProbePlace& place);

  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  [[nodiscard]] std::uint64_t timestamp() const noexcept { return timestamp_; }
  [[nodiscard]] const std::optional<Matrix>& probe() const noexcept { return probe_; }

  /// Appends everything before the pixels: header, extended header, image header. `pixels` are those of the message. Their
  /// check sum is computed once for each version, for all clients.
  void put_head(Bytes& to, std::uint16_t version, std::string_view device, std::span<const std::byte> pixels);
  /// Appends everything after the pixels.
  void put_tail(Bytes& to, std::uint16_t version) const;

 private:
  void note_metadata();

  std::uint64_t number_ = 0;
  std::uint64_t timestamp_ = 0;
  std::uint32_t id_ = 0;
  std::optional<Matrix> probe_;
  Bytes head_;
  Metadata metadata_;
  std::array<std::optional<std::uint64_t>, latest_version> sums_;
  wire::Image image_;
};

/// The pixels of an Image message of this program's own.
[[nodiscard]] std::span<const std::byte> pixels_of(std::span<const std::byte> message);

}  // namespace echoform::openigtlink
