// Images every frame of a recording into memory of its own, and prints where each image is brightest.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "offline/recording_imager.hpp"
#include "settings/reader.hpp"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: image_recording RECORDING CONFIG.toml\n", stderr);
    return 2;
  }
  try {
    echoform::RecordingImagerOptions options;
    options.messages.warning = [](const std::string& line) { std::fprintf(stderr, "warning: %s\n", line.c_str()); };
    echoform::RecordingImager imager(argv[1], echoform::load_configuration(argv[2]), options);
    std::printf("%s\n", imager.recording().describe().c_str());
    for (std::size_t frame = 0; frame < imager.recording().frames(); ++frame) {
      imager.image(frame);
      for (const std::string& view : imager.views()) {
        const echoform::Grid& grid = imager.description(view).grid;
        std::vector<float> image(grid.pixels());
        imager.copy_envelope(view, image);
        const auto peak = std::max_element(image.begin(), image.end());
        const echoform::Point place = grid.at(static_cast<std::size_t>(peak - image.begin()));
        std::printf("frame %zu, view %s: %.9g at x = %.3f mm, z = %.3f mm\n", frame, view.c_str(), static_cast<double>(*peak),
                    1e3 * place.x.value, 1e3 * place.z.value);
      }
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "image_recording: %s\n", error.what());
    return 2;
  }
  return 0;
}
