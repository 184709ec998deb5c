// Feeds viewers synthetic images through the real web server and publisher, under the command of a test:
//   viewer_page_server PORT   (of the web server; 0: any free one; prints "port N images tcp://HOST:PORT")
// Standard input, a line each: "run" publishes 60 images a second, "stop" pauses, "spot X Z" moves the bright spot (mm),
// "past S" publishes one image as of S seconds ago, "quit" ends. Every command is acknowledged by "ok".
#include <poll.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>

#include "tests/transport_publish/synthetic_stream.hpp"
#include "transport/publish/zeromq_sink.hpp"
#include "transport/web/web_sink.hpp"

using namespace echoform;

int main(int argc, char** argv) try {
  // Standard output is for answers alone: a browser's connection that says nothing is told of in the log.
  spdlog::set_default_logger(spdlog::stderr_logger_mt("viewer_page_server"));
  WebSinkOptions options;
  options.port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 0);
  const auto sink = make_web_sink(options);
  synthetic::Shape shape;
  shape.grid = {{Metres(-0.020), Metres(0.020), 256}, {Metres(0.001), Metres(0.045), 256}, {}};
  synthetic::Stream stream(shape);
  stream.paint_spot(Metres(0.008), Metres(0.030));
  ZeromqSinkOptions publisher_options;
  publisher_options.port = 0;
  const auto publisher = make_zeromq_sink(publisher_options);
  // As a method may name them; metres are shown in mm all the same.
  auto setup = std::make_shared<ImagingSetup>(*stream.setup());
  for (RecipeOutput& output : setup->recipe.outputs) {
    output.description.pixels = {"pressure", "Pa"};
    output.description.x = {"lateral", "m"};
    output.description.z = {"depth", "m"};
  }
  sink->setup_changed(setup);
  publisher->setup_changed(stream.setup());
  std::cout << "port " << sink->port() << " images " << publisher->endpoint() << std::endl;

  const SystemClock clock;
  bool running = false;
  std::uint64_t sequence = 0;
  auto next = std::chrono::steady_clock::now();
  std::string line;
  for (;;) {
    // A line at a time, without a stream's buffer, so that poll() sees what is left.
    pollfd input{0, POLLIN, 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - std::chrono::steady_clock::now()).count();
    if (poll(&input, 1, running ? static_cast<int>(std::max<long>(0, left)) : -1) > 0) {
      char c = 0;
      if (read(0, &c, 1) <= 0) return 0;
      if (c != '\n') {
        line += c;
        continue;
      }
      std::istringstream words(std::exchange(line, {}));
      std::string command;
      double x = 0, z = 0;
      words >> command >> x >> z;
      if (command == "quit") return 0;
      if (command == "run") running = true, next = std::chrono::steady_clock::now();
      if (command == "stop") running = false;
      if (command == "position") stream.slot().position = static_cast<EncoderCount>(x);
      if (command == "nowhere") stream.slot().position.reset();
      if (command == "spot") stream.paint_spot(Metres(x * 1e-3), Metres(z * 1e-3));
      if (command == "past") {
        const auto seconds = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(x));
        sink->publish(stream.frame(++sequence, clock.steady(), clock.wall() - seconds));
      }
      std::cout << "ok" << std::endl;
      continue;
    }
    if (!running) continue;
    next += std::chrono::microseconds(16'667);
    stream.slot().last_byte_time = clock.steady() - std::chrono::milliseconds(4);
    const FinishedFrame frame = stream.frame(++sequence, clock.steady(), clock.wall());
    publisher->publish(frame);
    sink->publish(frame);
  }
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
