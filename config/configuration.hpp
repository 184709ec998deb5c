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
#include "config/sections.hpp"
#include "pipeline/engine.hpp"
#include "pipeline/frame_slot.hpp"

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

/// Along each axis; y is 1 for an image, which lies in a plane.
struct GridPixels {
  std::size_t x = 256;
  std::size_t y = 1;
  std::size_t z = 256;

  constexpr GridPixels() = default;
  constexpr GridPixels(std::size_t nx, std::size_t nz) : x(nx), z(nz) {}
  constexpr GridPixels(std::size_t nx, std::size_t ny, std::size_t nz) : x(nx), y(ny), z(nz) {}

  [[nodiscard]] constexpr std::size_t all() const { return x * y * z; }
  constexpr auto operator<=>(const GridPixels&) const = default;
};

/// "256 x 256", "64 x 32 x 64": as people name them, [nx, nz] or [nx, ny, nz].
[[nodiscard]] std::string text_of(const GridPixels& pixels);

/// Pixel centres, first and last. What is absent follows from aperture and gate: see build_plan().
struct GridSection {
  std::optional<std::array<Metres, 2>> x;
  std::optional<std::array<Metres, 2>> z;
  std::optional<std::array<Metres, 2>> y;  ///< equal ends: a plane
  GridPixels pixels;
};

enum class BackendWish : std::uint8_t { automatic, cpu, cuda };

/// The keys of [imaging] that belong to no method.
struct ImagingSection {
  std::string method = "tfm";  ///< a name of methods/registry.hpp
  BackendWish backend = BackendWish::automatic;
  std::size_t threads = 0;  ///< of the CPU backend; 0: every processor that the process may use
  bool pin_threads = false;
  std::optional<double> memory_limit;  ///< bytes; absent: three quarters of the machine's memory
  int device = 0;                      ///< of the CUDA backend
  Seconds gpu_timeout{5.0};
};

/// Replaces what the recording or the sender states.
struct ProbeSection {
  std::optional<Metres> pitch;      ///< a linear array, centred on x = 0 at z = 0
  std::optional<Metres> radius;     ///< with the pitch: a curvilinear one
  std::optional<Metres> stand_off;  ///< of the aperture's centre above z = 0
  std::optional<double> angle;      ///< degrees, about the aperture's centre
  std::optional<Metres> x;          ///< of the aperture's centre
  std::optional<Metres> element_width;
  std::optional<Metres> element_length;
  bool reverse_normals = false;                 ///< elements face opposite to the normals in the data
  std::optional<std::array<double, 3>> normal;  ///< direction that all elements face; of any length above 0
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
  // Of the probe within a frame (probe_positions.hpp): a list, or a line.
  std::optional<std::vector<std::vector<double>>> positions;  ///< each 3 or 9 numbers
  std::optional<std::size_t> position_count;
  std::optional<Metres> position_step;
  std::array<double, 3> position_direction{1.0, 0.0, 0.0};  ///< of any length above 0
};

struct InputSection {
  std::string listen = "127.0.0.1:17171";
  std::string zeromq;                ///< where ZeroMQ senders connect; empty: nowhere
  Seconds zeromq_idle_timeout{5.0};  ///< without a message of the session in work
  std::string token;                 ///< empty: none required
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

/// The settings that images depend on, without sockets, servers and files that images do not depend on.
struct ImagingSettings {
  std::string file;  ///< the file that was read, for messages; empty for the defaults
  MaterialSection material;
  CouplantSection couplant;
  SurfaceSection surface;
  SurfaceSection backwall;
  GridSection grid;
  ImagingSection imaging;
  ProbeSection probe;
  AcquisitionSection acquisition;
  Sections of_methods;  ///< those of one method, and those that all may read; section() finds one

  /// "scan.toml", or "configuration" where there is no file.
  [[nodiscard]] std::string_view name() const {
    return file.empty() ? std::string_view("configuration") : std::string_view(file);
  }
  /// "scan.toml: [grid] z", for messages about a key.
  [[nodiscard]] std::string place(std::string_view key) const;
};

struct Configuration : ImagingSettings {
  InputSection input;
  ServerSection server;
  CurveSection curve;
};

/// A section that methods have, in a configuration, to read or to change: `section<TfmSection>(configuration).views`.
template <class Section>
[[nodiscard]] const Section& section(const ImagingSettings& settings) {
  return settings.of_methods.get<Section>();
}
template <class Section>
[[nodiscard]] Section& section(ImagingSettings& settings) {
  return settings.of_methods.edit<Section>();
}

/// A file that a key of the configuration names: relative to the folder of the configuration's file.
[[nodiscard]] std::filesystem::path named_file(const ImagingSettings& settings, const std::string& name);

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
