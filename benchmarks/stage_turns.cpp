#include "benchmarks/stage_turns.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/errors.hpp"
#include "cpu/cpu_backend.hpp"

namespace echoform::benchmarks {
namespace {

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Copies past the caches, as the stages write. Ordinary stores would first read every line that they write, and the copy would
/// be no limit. Addresses are aligned to 16 bytes.
void copy_past_caches(std::byte* to, const std::byte* from, std::size_t bytes) {
#if defined(__SSE2__)
  for (; bytes >= 16; bytes -= 16, to += 16, from += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to), _mm_load_si128(reinterpret_cast<const __m128i*>(from)));
  }
  _mm_sfence();
#endif
  std::memcpy(to, from, bytes);
}

}  // namespace

StageTime stage_time(std::string name, Turns turns, double bytes, double copied) {
  const double part = bytes / copied;
  const Spread copy = turns.spread("copy");
  const Spread ratio = turns.ratio("copy", "work");
  return {std::move(name),
          turns.spread("work"),
          bytes,
          {part * copy.median, part * copy.least, part * copy.most},
          {part * ratio.median, part * ratio.least, part * ratio.most},
          std::move(turns)};
}

double stage_bytes(const BlockSpec& input, const BlockSpec& output) {
  const std::size_t row = input.type == ElementType::raw ? shortest_stride(input) : input.columns * sizeof(float);
  // The padding of float rows is not written.
  const std::size_t written = output.type == ElementType::float32 ? output.rows * output.columns * sizeof(float) : output.bytes();
  return static_cast<double>(input.rows * row + written);
}

StageTurns::StageTurns(Backend& backend, ExecutionQueue& queue, const Buffer& source, std::size_t frames,
                       const Progress& progress)
    : backend_(backend),
      queue_(queue),
      source_(source),
      target_(backend.allocate(source.size(), MemoryUse::working)),
      frames_(frames),
      progress_(progress) {}

StageTime StageTurns::measure(const std::string& name, double bytes, const std::function<void()>& work) {
  progress_(name);
  const double copied = 2.0 * static_cast<double>(source_.size());
  Turns turns;
  if (backend_.kind() == BackendKind::cpu) {
    turns = turns_on_cpu(work);
  } else {
#ifdef ECHOFORM_WITH_CUDA
    turns = turns_on_cuda(source_, target_, frames_, queue_, work);
#else
    throw RuntimeFault("this program holds no CUDA code");
#endif
  }
  for (const double seconds : turns.values("copy")) rates_.push_back(copied / seconds);
  return stage_time(name, std::move(turns), bytes, copied);
}

double StageTurns::copy_bytes_per_second() const {
  return spread_of(rates_).median;
}

Turns StageTurns::turns_on_cpu(const std::function<void()>& work) {
  const auto copy = [&] {
    constexpr std::size_t piece = std::size_t{1} << 20;
    const std::size_t bytes = source_.size();
    team_of(queue_).for_each((bytes + piece - 1) / piece, 1, [&](std::size_t first, std::size_t last, std::size_t) {
      const std::size_t end = std::min(last * piece, bytes);
      copy_past_caches(target_.bytes_begin() + first * piece, source_.bytes_begin() + first * piece, end - first * piece);
    });
  };
  Turns turns;
  for (std::size_t frame = 0; frame < frames_ + 2; ++frame) {
    const double working = seconds_of(work);
    const double copying = seconds_of(copy);
    if (frame < 2) continue;
    turns.add("work", working);
    turns.add("copy", copying);
  }
  return turns;
}

}  // namespace echoform::benchmarks
