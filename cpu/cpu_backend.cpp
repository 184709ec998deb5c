#include "cpu/cpu_backend.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "base/errors.hpp"

namespace echoform {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

class CpuBackend final : public Backend {
 public:
  CpuBackend(std::size_t threads, bool pin) : threads_(threads), pin_(pin) {}

  [[nodiscard]] BackendKind kind() const noexcept override { return BackendKind::cpu; }
  [[nodiscard]] std::size_t threads() const noexcept { return threads_ != 0 ? threads_ : usable_processors(); }

  [[nodiscard]] Buffer allocate(std::size_t bytes, MemoryUse /*use*/) override {
    // Large blocks sit on huge pages where the system grants them: window loads jump from A-scan to A-scan.
    const std::size_t alignment = bytes >= huge_page ? huge_page : 64;
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void* data = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
    if (data == nullptr) throw RuntimeFault(fmt::format("no memory: {:.1f} MB wanted", 1e-6 * static_cast<double>(bytes)));
    if (alignment == huge_page) madvise(data, rounded, MADV_HUGEPAGE);
    std::memset(data, 0, rounded == 0 ? alignment : rounded);
    return {data, bytes, [](void* memory) { std::free(memory); }};
  }

  [[nodiscard]] std::unique_ptr<ExecutionQueue> make_queue() override {
    return std::make_unique<ThreadTeam>(threads_, "echoform-cpu", pin_);
  }

 private:
  std::size_t threads_;
  bool pin_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(std::size_t threads, bool pin) {
  return std::make_unique<CpuBackend>(threads, pin);
}

std::size_t team_size(const Backend& backend) {
  return static_cast<const CpuBackend&>(backend).threads();
}

SimdLevel simd_level() {
  static const SimdLevel level = [] {
    __builtin_cpu_init();
    SimdLevel best = SimdLevel::portable;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) best = SimdLevel::avx2;
    if (best == SimdLevel::avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
      best = SimdLevel::avx512;
    }
    if (const char* wanted = std::getenv("ECHOFORM_SIMD"); wanted != nullptr) {
      for (const SimdLevel lower : {SimdLevel::portable, SimdLevel::avx2, SimdLevel::avx512}) {
        if (to_string(lower) == wanted && lower < best) best = lower;
      }
    }
    return best;
  }();
  return level;
}

std::string_view to_string(SimdLevel level) {
  switch (level) {
    case SimdLevel::portable:
      return "portable";
    case SimdLevel::avx2:
      return "avx2";
    case SimdLevel::avx512:
      return "avx512";
  }
  return "unknown";
}

}  // namespace echoform
