#include "apps/bench/benchmark.hpp"
#include "base/errors.hpp"
#include "cpu/cpu_backend.hpp"

#ifdef ECHOFORM_WITH_CUDA
#define ECHOFORM_ON_CUDA(measure) measure
#else
#define ECHOFORM_ON_CUDA(measure) nullptr
#endif

namespace echoform::bench {
namespace {

constexpr Benchmark table[] = {
    {"tfm", "the beamformer: against frozen plain loops (cpu), against the device's ceilings (cuda)", tfm_cpu,
     ECHOFORM_ON_CUDA(tfm_cuda)},
    {"compounding", "batches of plane waves of a simulated disk that turns, against the device's ceilings (cuda)",
     compounding_cpu, ECHOFORM_ON_CUDA(compounding_cuda)},
    {"schedules", "cuda: published GPU schedules of the same image on the same data, beside ours", nullptr,
     ECHOFORM_ON_CUDA(schedules_cuda)},
    {"frame", "imaging from memory, every stage; cuda: from pinned memory, transfers included", frame_cpu,
     ECHOFORM_ON_CUDA(frame_cuda)},
    {"views", "immersion through a plane and a cylinder beside published times, and four views at once", views_cpu,
     ECHOFORM_ON_CUDA(views_cuda)},
    {"positions", "immersion through a plane and a cylinder, from 25 positions of the probe in a frame beside one", positions_cpu,
     ECHOFORM_ON_CUDA(positions_cuda)},
    {"hilbert", "half matrix and analytic signals, against the copy of as many bytes", hilbert_cpu,
     ECHOFORM_ON_CUDA(hilbert_cuda)},
    {"decoding", "coded events into firings of single elements, against the copy of as many bytes", decoding_cpu,
     ECHOFORM_ON_CUDA(decoding_cuda)},
    {"scan", "polar scan conversion: against plain loops, against the copy of its bytes (cuda)", scan_cpu,
     ECHOFORM_ON_CUDA(scan_cuda)},
    {"lines",
     "sums along scan lines by delay filter: against plain loops (cpu), the copy of the samples (cuda), the time of the echoes",
     scan_lines, ECHOFORM_ON_CUDA(scan_lines_cuda)},
    {"flow", "wall filters, autocorrelation and velocity of ensembles, against the copy of as many bytes", flow_cpu,
     ECHOFORM_ON_CUDA(flow_cuda)},
    {"tomography", "back-projection onto a volume: against plain loops (cpu); live images from memory, every stage",
     tomography_cpu, ECHOFORM_ON_CUDA(tomography_cuda)},
    {"delays", "tables of delays through a plane, a profile and a cylinder, against the general solver", delays,
     ECHOFORM_ON_CUDA(delays_cuda)},
    {"filters", "fractional delays: signal over error of sums over many delays, beside what their responses predict", filters,
     nullptr},
    {"ingest", "the TCP source against a bare receiver", ingest, nullptr},
    {"micropulse", "the source of a MicroPulse against a bare reader of the same stream", micropulse, nullptr},
    {"openigtlink", "volumes over OpenIGTLink to two clients, against plain writes of as many bytes", openigtlink, nullptr},
    {"stream",
     "the whole pipeline over loopback TCP: against bare sockets, the highest rate held without a drop, latency at 80 % of it, "
     "memory",
     stream_cpu, ECHOFORM_ON_CUDA(stream_cuda)},
    {"record", "recording: MFMC against the disk itself, imaging with a recorder against imaging without", record_cpu,
     ECHOFORM_ON_CUDA(record_cuda)},
};

constexpr double half_accuracy = 1e-3;
constexpr double float_accuracy = 1e-4;

}  // namespace

std::span<const Benchmark> all_benchmarks() {
  return table;
}

std::size_t threads_of(const Options& options) {
  return options.threads != 0 ? options.threads : usable_processors();
}

std::vector<double> accuracies_of(const Options& options) {
  if (options.accuracy == "half") return {half_accuracy};
  if (options.accuracy == "float") return {float_accuracy};
  return {half_accuracy, float_accuracy};
}

std::string_view path_of(double accuracy) {
  return accuracy >= half_accuracy ? "half" : "float";
}

}  // namespace echoform::bench
