// echoform info: what this build can do on this machine.
#include <H5public.h>
#include <fftw3.h>
#include <fmt/format.h>
#include <google/protobuf/stubs/common.h>
#include <matio.h>
#include <png.h>
#include <spdlog/version.h>
#include <toml++/toml.h>
#include <unistd.h>
#include <zmq.h>
#include <boost/version.hpp>

#include <thread>

#include "apps/command.hpp"
#include "config/configuration.hpp"
#include "config/memory_limit.hpp"
#include "cpu/cpu_backend.hpp"
#include "delay_laws/delay_law.hpp"
#include "delay_laws/view_kind.hpp"
#include "engines/engine_registry.hpp"
#include "formats/dicom.hpp"
#include "formats/formats_markdown.hpp"
#include "formats/frame_writer.hpp"
#include "formats/image_writer.hpp"
#include "formats/recording.hpp"
#include "gpu/bandwidth.hpp"
#include "gpu/cuda_backend.hpp"
#include "gpu/device_group.hpp"
#include "gpu/device_probe.hpp"
#include "jobs/communicator.hpp"
#include "methods/registry.hpp"
#include "rays/surface_kind.hpp"
#include "settings/key_table.hpp"
#include "transport/zeromq/curve_keys.hpp"

namespace echoform {
namespace {

std::string rate(double bytes_per_second) {
  return bytes_per_second > 0.0 ? fmt::format("{:.1f} GB/s", 1e-9 * bytes_per_second) : std::string("not measured");
}

void print_bandwidth(int device) {
  const DeviceBandwidth found = measure_bandwidth(device);
  constexpr std::string_view indent = "               ";
  fmt::print("{}host to device {}, device to host {}, within the device {} (read and written)\n", indent,
             rate(found.host_to_device), rate(found.device_to_host), rate(found.device_to_device));
  if (found.write_combined) {
    fmt::print("{}write-combined pinned memory: yes, host to device {}\n", indent, rate(found.from_write_combined));
  } else if (found.problem.empty()) {
    fmt::print("{}write-combined pinned memory: refused, plain pinned memory takes its place\n", indent);
  }
  if (!found.problem.empty()) fmt::print("{}not everything was measured: {}\n", indent, found.problem);
}

/// What "auto" selects in this build on this machine.
std::string automatic_choice() {
  const BackendDecision decision = decide_backend({});
  return decision.kind == BackendKind::cuda ? std::string("cuda, on GPU 0") : fmt::format("cpu: {}", decision.why_no_gpu);
}

void print_devices() {
  const GpuProbe gpu = probe_devices();
  fmt::print("backends\n");
  fmt::print("  cpu          {} of {} processors, {}\n", usable_processors(), std::thread::hardware_concurrency(),
             to_string(simd_level()));
  fmt::print("  cuda         {}\n", gpu.compiled ? fmt::format("in this build, {}", gpu.runtime) : gpu.status);
  fmt::print("  auto         {}\n", automatic_choice());
  fmt::print("devices\n");
  if (!gpu.compiled) {
    fmt::print("  gpu          not looked for\n");
  } else {
    fmt::print("  gpu          {}{}{}\n", gpu.status, gpu.driver.empty() ? "" : "; driver ", gpu.driver);
  }
  for (std::size_t i = 0; i < gpu.devices.size(); ++i) {
    const GpuDevice& device = gpu.devices[i];
    fmt::print("  gpu {:<8} {}, compute capability {}.{}, {:.1f} GB\n", i, device.name, device.major, device.minor,
               1e-9 * static_cast<double>(device.memory));
    const auto index = static_cast<int>(i);
    if (const std::string reason = why_no_cuda(index); !reason.empty()) {
      fmt::print("               not usable: {}\n", reason);
    } else {
      print_bandwidth(index);
    }
  }
}

void print_libraries() {
  int zmq_major = 0, zmq_minor = 0, zmq_patch = 0;
  zmq_version(&zmq_major, &zmq_minor, &zmq_patch);
  unsigned hdf5_major = 0, hdf5_minor = 0, hdf5_patch = 0;
  H5get_libversion(&hdf5_major, &hdf5_minor, &hdf5_patch);
  int matio_major = 0, matio_minor = 0, matio_patch = 0;
  Mat_GetLibraryVersion(&matio_major, &matio_minor, &matio_patch);
  fmt::print("libraries\n");
  fmt::print("  Boost        {}.{}.{}\n", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100);
  fmt::print("  ZeroMQ       {}.{}.{}, {}\n", zmq_major, zmq_minor, zmq_patch,
             curve_available() ? "with CURVE" : "without CURVE");
  fmt::print("  Protobuf     {}\n", google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION));
  fmt::print("  FFTW         {}\n", fftwf_version);
  fmt::print("  cuFFT        {}\n", cufft_status());
  fmt::print("  cuBLAS       {}\n", cublas_status());
  fmt::print("  NCCL         {}\n", nccl_status());
  fmt::print("  MPI          {}\n", mpi_status());
  fmt::print("  HDF5         {}.{}.{}\n", hdf5_major, hdf5_minor, hdf5_patch);
  fmt::print("  DCMTK        {}\n", formats::dicom_status());
  fmt::print("  matio        {}.{}.{}\n", matio_major, matio_minor, matio_patch);
  fmt::print("  libpng       {}\n", PNG_LIBPNG_VER_STRING);
  fmt::print("  spdlog       {}.{}.{}\n", SPDLOG_VER_MAJOR, SPDLOG_VER_MINOR, SPDLOG_VER_PATCH);
  fmt::print("  fmt          {}.{}.{}\n", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100);
  fmt::print("  CLI11        {}\n", CLI11_VERSION);
  fmt::print("  toml++       {}.{}.{}\n", TOML_LIB_MAJOR, TOML_LIB_MINOR, TOML_LIB_PATCH);
}

void print_limits() {
  const Configuration defaults;
  const AcquisitionLimits most;
  fmt::print("limits\n");
  fmt::print("  a sender     {} elements, {} samples, {:.0f} MB a frame ([input]; at most {}, {}, {:.0f} MB)\n",
             defaults.input.max_elements, defaults.input.max_samples, 1e-6 * static_cast<double>(defaults.input.max_frame_bytes),
             most.elements, most.samples, 1e-6 * static_cast<double>(most.frame_bytes));
  fmt::print("  memory       {:.1f} GB for images and delay tables ([imaging] memory_limit)\n", 1e-9 * default_memory_limit());
}

}  // namespace

Action define_info(CLI::App& options) {
  struct Chosen {
    bool keys = false;
    bool formats = false;
  };
  auto chosen = std::make_shared<Chosen>();
  auto* const keys = options.add_flag("--config-keys", chosen->keys, "Print every configuration key as Markdown instead");
  options.add_flag("--formats", chosen->formats, "Print every format of recordings and images as Markdown instead")
      ->excludes(keys);
  return [chosen] {
    if (chosen->keys) {
      fmt::print("{}", configuration_markdown());
      return 0;
    }
    if (chosen->formats) {
      fmt::print("{}", formats_markdown());
      return 0;
    }
    fmt::print("echoform {}\n", ECHOFORM_VERSION);
    print_devices();
    fmt::print("imaging\n");
    for (std::string_view label = "methods"; const auto& method : methods()) {
      fmt::print("  {:<12} {}: {}\n", label, method->name(), method->meaning());
      label = "";
    }
    fmt::print("  delay laws   {}\n", fmt::join(delay_law_names(), ", "));
    fmt::print("  views        by the modes of their legs, such as LL, LT or TT-T\n");
    for (const ViewKind& kind : view_kinds()) fmt::print("               {}: {}\n", kind.name, kind.meaning);
    std::vector<std::string_view> surfaces;
    for (const SurfaceKind& kind : surface_kinds()) surfaces.push_back(kind.name);
    fmt::print("  surfaces     {}\n", fmt::join(surfaces, ", "));
    fmt::print("  reads        {}\n", fmt::join(recording_extensions(), ", "));
    fmt::print("  writes       {}\n", fmt::join(image_writer_extensions(), ", "));
    fmt::print("  records      {}\n", fmt::join(frame_file_extensions(), ", "));
    print_libraries();
    print_limits();
    return 0;
  };
}

}  // namespace echoform
