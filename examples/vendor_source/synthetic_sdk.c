#include "synthetic_sdk.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static const double pi = 3.14159265358979323846;
static const double velocity = 6320.0;                        // m/s: longitudinal waves in aluminium
static const double reflector_x = 3e-3, reflector_z = 15e-3;  // m: where the image is to show it
static const double amplitude = 1000.0;
static const int64_t second = 1000000000;

struct sdk_device {
  struct sdk_settings settings;
  int16_t* frame;  // [element][receiver][sample]
  sdk_callback callback;
  void* user;
  pthread_t thread;
  bool started;
  atomic_bool stopping;
  atomic_bool finished;
  atomic_uint_fast64_t late;
};

static int64_t nanoseconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * second + now.tv_nsec;
}

static void sleep_until(int64_t time) {
  const struct timespec until = {.tv_sec = (time_t)(time / second), .tv_nsec = (long)(time % second)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) continue;
}

// Seconds from an element to the reflector.
static double leg(const struct sdk_settings* settings, unsigned element) {
  const double x = ((double)element - 0.5 * (settings->elements - 1)) * settings->pitch;
  return hypot(x - reflector_x, reflector_z) / velocity;
}

static void synthesise(struct sdk_device* device) {
  const struct sdk_settings* const settings = &device->settings;
  int16_t* sample = device->frame;
  for (unsigned from = 0; from < settings->elements; ++from) {
    for (unsigned to = 0; to < settings->elements; ++to) {
      const double arrival = leg(settings, from) + leg(settings, to);
      for (unsigned n = 0; n < settings->samples; ++n) {
        const double t = n / settings->sample_rate - arrival;
        const double width = 0.4 / settings->frequency;
        *sample++ = (int16_t)lrint(amplitude * exp(-0.5 * (t / width) * (t / width)) * cos(2.0 * pi * settings->frequency * t));
      }
    }
  }
}

static void* fire(void* argument) {
  struct sdk_device* const device = argument;
  const struct sdk_settings* const settings = &device->settings;
  const int64_t period = (int64_t)(1e9 / settings->frames_per_second);
  const size_t shot_samples = (size_t)settings->elements * settings->samples;
  int64_t begin = nanoseconds(CLOCK_MONOTONIC);
  for (uint64_t frame = 0; settings->frames == 0 || frame < settings->frames; ++frame) {
    for (unsigned element = 0; element < settings->elements; ++element) {
      sleep_until(begin + period * element / settings->elements);
      if (atomic_load(&device->stopping)) return NULL;
      const struct sdk_shot shot = {.frame = frame,
                                    .element = element,
                                    .time = (uint64_t)nanoseconds(CLOCK_REALTIME),
                                    .samples = device->frame + element * shot_samples};
      device->callback(device->user, &shot);
    }
    begin += period;
    if (nanoseconds(CLOCK_MONOTONIC) > begin + period) {
      atomic_fetch_add(&device->late, 1);
      begin = nanoseconds(CLOCK_MONOTONIC);
    }
  }
  atomic_store(&device->finished, true);
  return NULL;
}

struct sdk_device* sdk_open(const struct sdk_settings* settings) {
  struct sdk_device* const device = calloc(1, sizeof *device);
  if (device == NULL) return NULL;
  device->settings = *settings;
  device->frame = calloc((size_t)settings->elements * settings->elements, settings->samples * sizeof *device->frame);
  if (device->frame == NULL) {
    free(device);
    return NULL;
  }
  synthesise(device);
  return device;
}

bool sdk_start(struct sdk_device* device, sdk_callback callback, void* user) {
  device->callback = callback;
  device->user = user;
  device->started = pthread_create(&device->thread, NULL, fire, device) == 0;
  return device->started;
}

bool sdk_finished(const struct sdk_device* device) {
  return atomic_load(&device->finished);
}

void sdk_stop(struct sdk_device* device) {
  if (!device->started) return;
  atomic_store(&device->stopping, true);
  pthread_join(device->thread, NULL);
  device->started = false;
}

uint64_t sdk_late_frames(const struct sdk_device* device) {
  return atomic_load(&device->late);
}

void sdk_close(struct sdk_device* device) {
  if (device == NULL) return;
  sdk_stop(device);
  free(device->frame);
  free(device);
}
