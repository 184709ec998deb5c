// echoform bench: sustained rates against the limits measured in the same run. The benchmarks are in apps/bench.
#include <fmt/format.h>

#include "apps/bench/benchmark.hpp"
#include "apps/command.hpp"
#include "base/errors.hpp"
#include "cpu/cpu_backend.hpp"
#include "formats/atomic_file.hpp"
#include "gpu/cuda_backend.hpp"

namespace echoform {
namespace {

using namespace bench;

std::string names() {
  std::string text;
  for (const Benchmark& benchmark : all_benchmarks()) text += fmt::format("{}, ", benchmark.name);
  return text + "all";
}

bool automatic(const Options& options) {
  return options.backend.empty() || options.backend == "auto";
}

/// True if the benchmarks run on the GPU.
bool on_cuda(const Options& options) {
  if (options.backend == "cpu") return false;
  if (options.backend != "cuda" && !automatic(options)) {
    throw InputError("--backend", fmt::format("\"{}\"", options.backend), "auto, cpu or cuda");
  }
  const std::string reason = why_no_cuda();
  if (!automatic(options) && !reason.empty()) {
    throw RuntimeFault(fmt::format("backend cuda: {}; use cpu or auto", reason));
  }
  return reason.empty();
}

/// The function that measures a benchmark, or null. With `auto`, a benchmark that exists for one backend only runs on that
/// backend.
Measure measure_of(const Benchmark& benchmark, const Options& options, bool cuda) {
  if (cuda) return benchmark.cuda != nullptr || !automatic(options) ? benchmark.cuda : benchmark.cpu;
  return benchmark.cpu;
}

/// Throws where a benchmark that is named alone measures nothing on the chosen backend.
void require_measure(const Benchmark& benchmark, const Options& options, bool cuda) {
  if (measure_of(benchmark, options, cuda) != nullptr) return;
  const std::string place = fmt::format("bench {}", benchmark.name);
  if (cuda) throw InputError(place, "--backend cuda", "cpu or auto: it measures nothing on a GPU");
  if (!automatic(options)) throw InputError(place, "--backend cpu", "cuda or auto: it measures nothing on the CPU");
  throw RuntimeFault(fmt::format("{} needs a GPU: {}", place, why_no_cuda()));
}

int run(const Options& options) {
  const Benchmark* alone = nullptr;
  for (const Benchmark& benchmark : all_benchmarks()) {
    if (benchmark.name == options.name) alone = &benchmark;
  }
  if (alone == nullptr && options.name != "all") throw InputError("bench", fmt::format("\"{}\"", options.name), names());
  const bool cuda = on_cuda(options);
  if (alone != nullptr) require_measure(*alone, options, cuda);
  // The check comes before minutes of measurements.
  if (!options.json_file.empty()) check_output_place(options.json_file);

  json values{
      {"processors", usable_processors()}, {"simd", std::string(to_string(simd_level()))}, {"backend", cuda ? "cuda" : "cpu"}};
  fmt::print("{} processors, {}\n", usable_processors(), to_string(simd_level()));
  int code = 0;
  for (const Benchmark& benchmark : all_benchmarks()) {
    if (alone != nullptr && alone != &benchmark) continue;
    const Measure measure = measure_of(benchmark, options, cuda);
    if (measure == nullptr) continue;
    Outcome outcome;
    {
      LiveLine progress;
      if (alone == nullptr) {
        outcome.attempt(std::string(benchmark.name), [&] { outcome = measure(options, progress); });
      } else {
        outcome = measure(options, progress);
      }
    }
    for (const std::string& line : outcome.lines) fmt::print("{}\n", line);
    values[std::string(benchmark.name)] = outcome.values;
    if (outcome.failed) code = 1;
    std::fflush(stdout);
  }
  if (!options.json_file.empty()) {
    const std::string text = values.dump(2) + '\n';
    write_file(options.json_file, std::as_bytes(std::span(text)));
  }
  return code;
}

}  // namespace

Action define_bench(CLI::App& app) {
  std::string list;
  for (const Benchmark& benchmark : all_benchmarks()) list += fmt::format("{:<10} {}\n", benchmark.name, benchmark.summary);
  app.footer("\n" + list + fmt::format("{:<10} one after the other\n", "all") + app.get_footer());
  auto chosen = std::make_shared<Options>();
  app.add_option("NAME", chosen->name, names())->required()->option_text("REQUIRED");
  app.add_option("--elements", chosen->elements, "Elements of the probe (tfm and cuda 128, else 32); filters: delays (100)")
      ->check(CLI::Range(1, 1024))
      ->option_text("N");
  app.add_option("--samples", chosen->samples, "Samples of an A-scan (tfm and cuda 4096, filters 1000, else 1024)")
      ->check(CLI::Range(64, 65536))
      ->option_text("M");
  app.add_option("--pixels", chosen->pixels, "Pixels of the image along x and z (256; cuda: 256, 512 and 1024)")
      ->check(CLI::Range(1, 8192))
      ->option_text("S");
  app.add_option("--frames", chosen->frames,
                 "Measurements of each figure (tfm and record 5, tfm on cuda 10; frames: 50, cuda 400)")
      ->check(CLI::Range(1, 100000))
      ->option_text("K");
  app.add_option("--threads", chosen->threads, "Threads of the CPU backend; 0: all processors")
      ->check(CLI::Range(0, 1024))
      ->option_text("T (0)");
  app.add_option("--connections", chosen->connections, "stream: connections of the source (1; cuda: 1, 2 and 4)")
      ->check(CLI::Range(1, 8))
      ->option_text("K");
  app.add_option("--hold", chosen->hold,
                 "stream: seconds that a rate must be held; record: of all turns of the pipeline together")
      ->check(CLI::Range(0.5, 3600.0))
      ->option_text("S (10)");
  app.add_flag("--gate", chosen->gate, "frame on cuda: only with the samples cropped to those that the image can reach");
  app.add_option("--accuracy", chosen->accuracy, "Data path on cuda: half (1e-3), float (1e-4) or both")
      ->check(CLI::IsMember({"half", "float", "both"}))
      ->option_text("WORD (both)");
  app.add_option("--part", chosen->part,
                 "tomography on cuda: volumes, live (volumes from pinned memory), ring, all of these, or devices (several GPUs)")
      ->check(CLI::IsMember({"volumes", "live", "ring", "devices", "all"}))
      ->option_text("WORD (all)");
  app.add_option("--backend", chosen->backend, "Where to measure: auto (a GPU where there is one), cpu or cuda")
      ->option_text("WORD (auto)");
  app.add_option("--folder", chosen->folder, "record: where to write (the system's folder for temporary files)")
      ->option_text("DIR");
  app.add_option("--json", chosen->json_file, "Also write every figure as JSON")->option_text("FILE");
  return [chosen] { return run(*chosen); };
}

}  // namespace echoform
