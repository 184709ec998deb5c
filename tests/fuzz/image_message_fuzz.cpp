// Images as a subscriber gets them: what is taken has as many pixels as its geometry says, and is taken again.
#include "tests/fuzz/input.hpp"
#include "transport/publish/image_message.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoform;
  static wire::Image image;  // subscribers reuse theirs
  if (const auto fault = parse_image(std::as_bytes(std::span(data, size)), image)) {
    fuzz::require_one_line(*fault);
    return 0;
  }
  const std::uint64_t pixel = image.encoding() == wire::ENVELOPE_FLOAT32 ? 4 : 1;
  const std::uint64_t depth = image.has_y() ? image.y().count() : 1;
  fuzz::require(image.pixels().size() == pixel * image.x().count() * image.z().count() * depth, "pixels as the geometry says");
  const std::string again = image.SerializeAsString();
  wire::Image copy;
  fuzz::require(!parse_image(std::as_bytes(std::span(again)), copy), "an image that was taken is taken again");
  return 0;
}
