// The GPU schedules of Romero-Laorden et al. 2015, "Analisis de la implementacion software de un conformador de senales
// ultrasonicas para tiempo real", as references on the same data and the same GPU: its Table 3 is reproduced beside our figures.
//
//   GPU1     implementation 1: a thread a pixel, all pairs i <= j; samples from global memory, interpolated in the kernel;
//            element places and weights in constant memory
//   GPU1op   implementation 2: the same with samples and pixel coordinates in textures, whose hardware interpolates (with 8 bits
//            of fraction), and element places in shared memory
//   GPU2     implementation 3: kernel one makes a low-resolution image of each transmitter, in blocks of as many threads as the
//            array has elements, from textures; kernel two adds these and takes the envelope
//
// As in the paper: the half matrix was summed by the instrument, 12-bit data in 16 bits; a frame is copied from host memory,
// becomes analytic by cuFFT (its Table 2), is beamformed, and its envelope is copied back; square roots are the fast ones; all
// on one stream with nothing overlapped. Where the paper leaves it open we choose what is faster: I and Q are one complex
// sample (one fetch), pixels of a warp are neighbours in x, low-resolution images are read through the read-only path. Kernel
// one of GPU2 takes j = i .. N: that is what equation (13) says, where its listing has j = 1 .. N.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "benchmarks/statistics.hpp"
#include "benchmarks/turns.hpp"

namespace echoform::benchmarks {

struct PaperCase {
  std::size_t elements = 128;  ///< 1 .. 128
  std::size_t samples = 4096;
  std::size_t pixels = 256;  ///< along x and z
  std::size_t rounds = 16;   ///< as the paper's
};

struct PaperFigure {
  std::string schedule;
  Spread kernel_seconds;        ///< beamforming alone
  Spread frame_seconds;         ///< from pinned memory to the envelope in pinned memory, by the host's clock
  double relative_error = 0.0;  ///< L2, of the envelope against the direct sum in double precision of the same analytic signals
};

/// One that takes turns with the paper's, on the same GPU.
struct OtherSchedule {
  std::string schedule;
  std::function<double()> kernel_seconds;
  std::function<double()> frame_seconds;
};

struct PaperReport {
  PaperCase measured;
  double lookups = 0.0;    ///< a frame, within the A-scan
  Spread hilbert_seconds;  ///< conversion to float and analytic signals by cuFFT
  Spread upload_seconds;
  std::vector<PaperFigure> schedules;  ///< of the paper
  Turns kernels;                       ///< seconds of a frame's kernels, by schedule
  Turns frames;                        ///< seconds of a whole frame, by schedule
};

/// The paper's schedules and `others`, in turn.
[[nodiscard]] PaperReport measure_paper_schedules(const PaperCase& test, const std::vector<OtherSchedule>& others);

/// Table 3 of the paper, seconds a frame, and Table 2. Platforms #1 .. #5.
struct PaperPlatform {
  const char* name;
  double hilbert;  ///< 128 elements
  std::array<std::array<std::array<double, 3>, 3>, 2>
      seconds;  ///< [64 or 128 elements][GPU1, GPU1op, GPU2][256, 512, 1024 pixels]
};
inline constexpr std::array<PaperPlatform, 5> paper_platforms{{
    {"GeForce 540M",
     0.016,
     {{{{{0.369, 0.821, 2.451}, {0.179, 0.488, 1.604}, {0.072, 0.230, 0.851}}},
       {{{1.423, 3.196, 9.554}, {0.662, 1.433, 4.140}, {0.100, 0.330, 1.275}}}}}},
    {"Quadro 2000",
     0.011,
     {{{{{0.343, 0.724, 2.078}, {0.136, 0.436, 1.232}, {0.046, 0.133, 0.479}}},
       {{{0.918, 1.917, 5.559}, {0.425, 0.863, 2.435}, {0.052, 0.190, 0.689}}}}}},
    {"Quadro 4000",
     0.006,
     {{{{{0.325, 0.681, 1.954}, {0.124, 0.340, 0.974}, {0.028, 0.090, 0.355}}},
       {{{0.948, 1.947, 5.593}, {0.444, 0.904, 2.528}, {0.060, 0.139, 0.537}}}}}},
    {"Quadro K2000",
     0.009,
     {{{{{0.339, 0.694, 2.019}, {0.119, 0.381, 1.173}, {0.042, 0.103, 0.420}}},
       {{{1.040, 2.089, 6.083}, {0.484, 0.960, 2.707}, {0.072, 0.168, 0.669}}}}}},
    {"Quadro K5000",
     0.003,
     {{{{{0.312, 0.629, 1.732}, {0.172, 0.316, 0.893}, {0.015, 0.038, 0.140}}},
       {{{0.854, 1.533, 4.190}, {0.415, 0.736, 1.981}, {0.025, 0.060, 0.227}}}}}},
}};

}  // namespace echoform::benchmarks
