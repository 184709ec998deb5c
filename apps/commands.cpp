#include <fmt/format.h>

#include "apps/command.hpp"
#include "formats/formats_markdown.hpp"
#include "formats/frame_writer.hpp"

namespace echoform {

const std::vector<Command>& commands() {
  constexpr SignalEnd in_order = SignalEnd::in_order;
  static const std::string convert_summary =
      fmt::format("a recording in another format: {}", fmt::join(frame_file_extensions(), ", "));
  static const std::string image_details =
      "INPUT is a recording of any format that `inspect` reads. Each --output is written by its extension:\n" +
      image_formats_help() +
      "With several views the view's name goes before the extension, with --from and --to the frame's number before that.\n"
      "A frame that [imaging] memory_limit does not hold is imaged group by group of its A-scans, which are read meanwhile.\n\n"
      "Example:\n  echoform image notch.mat --config examples/contact_aluminium.toml --output notch.npy --output notch.png";
  static const std::vector<Command> all{
      {"demo", "simulated source, imaging and viewers in one go: start here",
       "Prints the address of the viewer page and a line a second; at the end latency, drops and the sustained rate.\n\n"
       "Example:\n  echoform demo --seconds 10 --snapshot demo.png",
       define_demo, in_order},
      {"serve", "the imaging server: frames in over TCP, images out",
       "Binds loopback addresses unless the configuration says otherwise; Ctrl-C ends it in order.\n\n"
       "Example:\n  echoform serve --config examples/serve.toml",
       define_serve, in_order},
      {"simulate", "the simulated FMC source, for a server that runs elsewhere",
       "Frames are synthesised ahead and sent in turn, so that it can send as fast as the server reads.\n\n"
       "Example:\n  echoform simulate --connect 127.0.0.1:17171 --rate 50",
       define_simulate, in_order},
      {"instrument", "a simulated instrument that is connected to and set up as the real one",
       "It answers the instrument's commands and sends what [simulator] describes. Its page is docs/NAME.md.\n\n"
       "Example:\n  echoform instrument micropulse --config examples/micropulse.toml",
       define_instrument, in_order},
      {"replay", "a recording as a live source",
       "INPUT is a recording of any format that `inspect` reads. Without --rate a capture is sent as it came: the same bytes, on "
       "as many\n"
       "connections, at the same times; with it, its whole frames are.\n\n"
       "Example:\n  echoform replay notch.mat --connect 127.0.0.1:17171 --rate 10 --loop",
       define_replay, in_order},
      {"view", "a subscriber: live statistics of the images, gaps counted",
       "Example:\n  echoform view --connect tcp://127.0.0.1:17180 --frames 100 --snapshot last.png", define_view, in_order},
      {"control", "read and change a server's settings while frames run",
       "get prints settings, set changes them together or not at all, reset goes back to what the server started with.\n"
       "Values are written as in the configuration file; KEY= goes back to the default.\n\n"
       "Example:\n  echoform control set output.gain_db=6 'grid.z=[0.002, 0.03]'",
       define_control},
      {"record", "frames over TCP into a recording, without imaging them",
       "A server in the place of `serve`: senders connect to it. The file can be read while it grows, and survives the "
       "program.\n\n"
       "Example:\n  echoform record --output scan.mfmc --frames 100",
       define_record, in_order},
      {"capture", "the bytes of acquisition connections as they come, with times, into a file",
       "A server in the place of `serve`, or with --connect between senders and a server. The file survives the program.\n\n"
       "Example:\n  echoform capture --listen 127.0.0.1:17170 --connect 127.0.0.1:17171 --output scan.efcap",
       define_capture, in_order},
      {"inspect", "what a recording holds, and whether it keeps the rules of its format",
       "Exit code 2 if an .mfmc file breaks a rule of MFMC 2.0, or a capture one of the protocol: a line each says where, what "
       "was\n"
       "found and what is expected.\n\n"
       "Example:\n  echoform inspect scan.mfmc",
       define_inspect},
      {"convert", convert_summary,
       "Samples stay what they are wherever the output has their type. A-scans that the input lacks are 0.\n\n"
       "Example:\n  echoform convert notch.mat notch.mfmc\n  echoform convert scan.mfmc first.mat --frame 0",
       define_convert},
      {"image", "image frames of a recording into files", image_details, define_image},
      {"reconstruct", "a volume of optoacoustic data by optimisation",
       "INPUT is a recording with passive events, [reconstruction] says what is solved and how (docs/reconstruct.md). Outputs "
       "are\n"
       "written as `image` writes them, once the last iteration is done. Ctrl-C ends it after the iteration at work: with\n"
       "--checkpoint, --resume goes on from there with the same bits. `mpirun -n K echoform reconstruct ...` shares it out.\n\n"
       "Example:\n  echoform reconstruct mouse.efcap --config mouse.toml --output mouse.nrrd --output mouse.png --checkpoint "
       "mouse.state --every 5",
       define_reconstruct, SignalEnd::of_a_result_in_order},
      {"plan", "what a set-up will give: resolution, pixels, samples, memory, images a second",
       "Of a probe in a recording, or of the one in [simulator]. What is likely to disappoint stands on lines that begin with\n"
       "\"warning:\". Without --no-measure it images for half a second.\n\n"
       "Example:\n  echoform plan --config examples/immersion_plane.toml --link 1 --link 10",
       define_plan},
      {"bench", "sustained rates against the limits measured in the same run",
       "Example:\n  echoform bench stream --hold 10\n  echoform bench frame --backend cuda --pixels 512 --gate", define_bench},
      {"soak", "source, server and viewers under random faults, for minutes or months",
       "Every count is checked at every reading: the first that does not close, or that no fault explains, ends the run with "
       "code 1.\n"
       "At the end memory, descriptors and threads of the server must not have grown.\n\n"
       "Example:\n  echoform soak --minutes 10 --json soak.json",
       define_soak, in_order},
      {"keygen", "a pair of CURVE keys, for a server or a client",
       "Neither file may exist. The secret key is for its owner alone; the public one goes to the other side "
       "(docs/security.md).\n\n"
       "Example:\n  echoform keygen --output server",
       define_keygen},
      {"info", "version, backends, devices, libraries and limits of this build", "Example:\n  echoform info", define_info},
  };
  return all;
}

}  // namespace echoform
