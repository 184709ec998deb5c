// Everything that a user may set in a TOML file. Values are SI and checked; what is absent keeps the default given here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acquisition/acquisition.hpp"
#include "pipeline/engine.hpp"
#include "pipeline/frame_slot.hpp"
#include "simulators/fmc_simulator.hpp"
#include "stages/beamform/apodization_options.hpp"
#include "stages/beamform/interpolation.hpp"
#include "stages/compression/compression_options.hpp"
#include "stages/scan_conversion/scan_interpolation.hpp"

namespace echoform {

/// Replaces what the recording or the sender states.
struct MaterialSection {
  std::optional<MetresPerSecond> longitudinal_velocity;
  std::optional<MetresPerSecond> shear_velocity;
};

/// What lies between the elements and the part: water, or a wedge.
struct CouplantSection {
  std::optional<MetresPerSecond> velocity;
};

/// [surface] or [backwall]: a kind of rays/surface_kind.hpp and its parameters. Names of files are resolved.
struct SurfaceSection {
  std::string kind;  ///< empty: no such surface
  std::map<std::string, double, std::less<>> numbers;
  std::map<std::string, std::string, std::less<>> words;
};

/// Pixel centres, first and last. What is absent follows from aperture and gate: see build_plan().
struct GridSection {
  std::optional<std::array<Metres, 2>> x;
  std::optional<std::array<Metres, 2>> z;
  Metres y;
  std::array<std::size_t, 2> pixels{256, 256};  ///< nx, nz
};

enum class BackendWish : std::uint8_t { automatic, cpu, cuda };

enum class CropWish : std::uint8_t {
  live,    ///< live runs are cropped to the gate, recordings are not
  always,  ///< recordings too
  never,
};

/// Of rays through and off surfaces.
enum class TravelTimes : std::uint8_t {
  exact,         ///< a ray for every element and pixel
  interpolated,  ///< between fewer rays, where the times of a pair stay within a hundredth of the probe's period
};

struct ImagingSection {
  std::string delay_law = "contact";
  TravelTimes travel_times = TravelTimes::exact;
  std::vector<std::string> views{"LL"};
  Interpolation interpolation = Interpolation::linear;
  BackendWish backend = BackendWish::automatic;
  std::size_t threads = 0;  ///< of the CPU backend; 0: every processor that the process may use
  bool pin_threads = false;
  CropWish crop = CropWish::live;
  std::size_t guard = 64;              ///< samples on either side of the gate; methods/tfm/gate.hpp says why
  std::optional<double> memory_limit;  ///< bytes; absent: three quarters of the machine's memory
  double accuracy = 1e-3;              ///< ImagingPlan::accuracy
  int device = 0;                      ///< of the CUDA backend
  Seconds gpu_timeout{5.0};
};

struct DisplaySection {
  std::optional<std::array<Metres, 2>> x;
  std::optional<std::array<Metres, 2>> z;
  std::optional<std::array<std::size_t, 2>> pixels;
  ScanInterpolation interpolation = ScanInterpolation::bilinear;
  double cubic_alpha = -0.5;
};

/// Replaces what the recording or the sender states.
struct ProbeSection {
  std::optional<Metres> pitch;      ///< a linear array, centred on x = 0 at z = 0
  std::optional<Metres> stand_off;  ///< of the aperture's centre above z = 0
  std::optional<double> angle;      ///< degrees, about the aperture's centre
  std::optional<Metres> x;          ///< of the aperture's centre
  std::optional<Metres> element_width;
  std::optional<Metres> element_length;
  std::optional<Hertz> centre_frequency;
  std::optional<Hertz> bandwidth;
  std::optional<std::vector<std::size_t>> dead_elements;
};

/// Replaces what the recording or the sender states.
struct AcquisitionSection {
  std::optional<Hertz> sample_rate;
  std::optional<Seconds> start_time;
  std::optional<Seconds> time_offset;
  std::optional<double> sample_scale;
  std::optional<MatrixKind> matrix;  ///< half or half_summed, for half matrices whose sender does not know
};

struct InputSection {
  std::string listen = "127.0.0.1:17171";
  std::string zeromq;                ///< where ZeroMQ senders connect; empty: nowhere
  Seconds zeromq_idle_timeout{5.0};  ///< without a message of the session in work
  std::string token;                 ///< empty: none asked for
  DropPolicy drop_policy = DropPolicy::block_sender;
  std::size_t slots = 4;
  Seconds incomplete_timeout{1.0};
  Seconds hello_timeout{5.0};
  Seconds stall_timeout{10.0};     ///< within a message; 0: never
  Seconds message_timeout{60.0};   ///< for the whole of a message; 0: never
  Seconds idle_timeout{0.0};       ///< between messages; 0: never
  Seconds planning_timeout{60.0};  ///< of a stream or a live change; 0: never
  Seconds release_after{5.0};      ///< without a sender; 0: never
  std::size_t io_threads = 1;
  std::size_t max_connections = 16;
  std::size_t max_elements = 256;
  std::size_t max_samples = 65536;
  std::size_t max_frame_bytes = std::size_t{1} << 28;
};

struct ServerSection {
  std::string name = "echoform";
  std::string images = "127.0.0.1:17180";
  std::string telemetry = "127.0.0.1:17181";
  std::string control = "127.0.0.1:17182";  ///< empty: closed
  std::string web = "127.0.0.1:8080";
  std::vector<std::string> web_host_names;
  std::size_t max_web_connections = 64;
  std::size_t max_viewers = 16;
  std::size_t max_subscribers = 32;  ///< of each of the publishers
  std::string token;                 ///< of the web server; empty: none asked for
  std::string tls_certificate;       ///< of the web server; both empty: plain HTTP
  std::string tls_key;
  std::size_t subscriber_bytes = std::size_t{16} << 20;
  Seconds telemetry_interval{1.0};
};

/// CURVE on the server's ZeroMQ sockets. Paths are relative to the configuration's file.
struct CurveSection {
  std::string secret_key_file;  ///< empty: no CURVE
  std::string client_keys;      ///< file or folder; empty: every client that knows the server's public key
};

/// What the recorder does with a frame while all its buffers wait for the disk.
enum class WhenBehind : std::uint8_t {
  skip,  ///< leaves it out of the recording, and counts it
  wait,  ///< holds the pipeline back until there is room
};

/// Raw frames into files, while they are imaged.
struct RecorderSection {
  std::string folder;  ///< empty: no recorder
  std::string file = "{name}-{time}.mfmc";
  bool at_start = true;
  std::uint64_t frames_per_file = 0;  ///< 0: no limit; likewise below
  std::uint64_t bytes_per_file = 0;
  std::size_t keep_files = 0;
  std::uint64_t min_free_bytes = std::uint64_t{1} << 30;
  std::size_t waiting_frames = 8;
  WhenBehind when_behind = WhenBehind::skip;
  Seconds flush_interval{0.0};  ///< 0: the system writes when it likes
};

/// The simulated source. Where points, holes or backwall are given, they alone are the part; else it is the demo's, so far as it
/// lies between [surface] and [backwall].
struct SimulatorSection {
  SimulatorConfiguration source;                         ///< its scene and placement follow from other sections
  std::optional<MetresPerSecond> longitudinal_velocity;  ///< absent: that of [material]
  std::optional<MetresPerSecond> shear_velocity;         ///< likewise
  std::optional<std::vector<std::string>> modes;         ///< absent: L; with a couplant or [backwall] L and T
  std::optional<std::size_t> skips;                      ///< absent: 2 if a view skips to and fro on one side, else 1
  std::optional<std::vector<PointScatterer>> points;
  std::optional<std::vector<SideDrilledHole>> holes;
  std::optional<Metres> backwall;
};

struct Configuration {
  std::string file;  ///< where it came from, for messages; empty for the defaults
  MaterialSection material;
  CouplantSection couplant;
  SurfaceSection surface;
  SurfaceSection backwall;
  GridSection grid;
  ImagingSection imaging;
  Apodization apodization;
  Compression output;
  DisplaySection display;
  ProbeSection probe;
  AcquisitionSection acquisition;
  InputSection input;
  ServerSection server;
  CurveSection curve;
  RecorderSection recorder;
  SimulatorSection simulator;

  /// "scan.toml", or "configuration" where there is no file.
  [[nodiscard]] std::string_view name() const {
    return file.empty() ? std::string_view("configuration") : std::string_view(file);
  }
};

/// A file that a key of the configuration names: relative to the folder of the configuration's file.
[[nodiscard]] std::filesystem::path named_file(const Configuration& configuration, const std::string& name);

/// Reads a TOML file. Throws InputError (one line: file and line, key, what was found, what is expected) for a file that
/// cannot be read, is not TOML, names an unknown section or key (the nearest known one is named), repeats a key, or holds
/// a value that is mistyped, not finite, out of range or of the wrong length.
[[nodiscard]] Configuration load_configuration(const std::filesystem::path& path);

/// The same from text; `name` stands for the file in messages.
[[nodiscard]] Configuration parse_configuration(std::string_view text, std::string_view name);

/// Every section and key with type, unit, default, range and one line of help, as Markdown: docs/configuration.md.
[[nodiscard]] std::string configuration_markdown();

/// The backend that a configuration asks for.
[[nodiscard]] BackendChoice backend_choice(const ImagingSection& imaging);

/// HOST:PORT taken apart. Throws InputError (naming `where`) unless the host is not empty and the port is 0 .. 65535.
/// IPv6 hosts are in brackets: "[::1]:17171".
struct HostPort {
  std::string host;
  std::uint16_t port = 0;
};
[[nodiscard]] HostPort parse_host_port(std::string_view text, std::string_view where);

}  // namespace echoform
