// record_ball FILE.efcap ELEMENTS VIEWS [whole]: a capture of a frame of optoacoustic data, the exact ones of a ball and some
// noise, of the times at which there is sound, or from the pulse of light on.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <span>
#include <vector>

#include "base/errors.hpp"
#include "formats/frame_writer.hpp"
#include "tests/jobs/ball.hpp"

int main(int argc, char** argv) {
  using namespace echoform;
  if (argc != 4 && argc != 5) return 2;
  try {
    Acquisition acquisition = test::turning_arc(std::strtoul(argv[2], nullptr, 10), std::strtoul(argv[3], nullptr, 10));
    if (argc == 5) {
      acquisition.samples += static_cast<std::size_t>(std::lround(acquisition.start_time.value * acquisition.sample_rate.value));
      acquisition.start_time = Seconds(0.0);
    }
    const std::vector<float> frame =
        test::frame_of_balls(acquisition, {{{Metres(0.9e-3), Metres(-0.5e-3), Metres(0.6e-3)}, Metres(1.4e-3), 2.0}}, 0.02);
    const auto writer = make_frame_writer(argv[1], acquisition);
    writer->append(std::as_bytes(std::span(frame)));
    writer->close();
  } catch (const std::exception& error) {
    fmt::print(stderr, "record_ball: {}\n", error.what());
    return 1;
  }
  return 0;
}
