// A made-up vendor's SDK: what such libraries have in common, and nothing of Echoform. Replace it by the instrument's own.
#ifndef SYNTHETIC_SDK_H
#define SYNTHETIC_SDK_H

#include <stdbool.h>
#include <stdint.h>

struct sdk_settings {
  unsigned elements;         // of a linear array in contact; each fires in turn, all receive
  double pitch;              // m
  double frequency;          // Hz, of the pulse
  unsigned samples;          // of an A-scan
  double sample_rate;        // Hz
  double frames_per_second;  // at which it fires, whoever keeps up
  uint64_t frames;           // after which it stops by itself; 0: it goes on
};

// What a callback gets to see, for as long as it runs: the SDK uses its memory again.
struct sdk_shot {
  uint64_t frame;          // counts up from 0
  unsigned element;        // that fired
  uint64_t time;           // ns since 1970 UTC
  const int16_t* samples;  // [receiver][sample]
};

// On the SDK's own thread. One that takes long holds the instrument up.
typedef void (*sdk_callback)(void* user, const struct sdk_shot* shot);

struct sdk_device;

// NULL where memory is lacking.
struct sdk_device* sdk_open(const struct sdk_settings* settings);
bool sdk_start(struct sdk_device* device, sdk_callback callback, void* user);
// Whether all frames that were asked for have been handed over.
bool sdk_finished(const struct sdk_device* device);
// No callback runs any more once it returns.
void sdk_stop(struct sdk_device* device);
// Frames that it fired so late, since callbacks had held it up, that its schedule began anew.
uint64_t sdk_late_frames(const struct sdk_device* device);
void sdk_close(struct sdk_device* device);

#endif
