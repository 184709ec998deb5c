// An instrument whose SDK calls back with samples, as a source of frames for an Echoform server: docs/vendor_source.md. What is
// the instrument's own stands in on_shot(), acquisition_of() and main().
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "connection.h"
#include "frame_queue.h"
#include "synthetic_sdk.h"
#include "wire.h"

static atomic_bool interrupted;

static void interrupt(int number) {
  (void)number;
  atomic_store(&interrupted, true);
}

struct source {
  const char* host;
  const char* port;
  struct sdk_settings settings;
  struct sdk_device* device;
  struct frame_queue* queue;
  struct connection connection;
  bool started;      // the device has been
  uint64_t session;  // of the last Hello
  uint64_t sent;     // whole frames
  size_t of_frame;   // shots of the last frame that have been taken
  uint64_t said;     // drops
  time_t said_at;
  bool ended;  // the queue has been
};

// On the SDK's thread: a copy, or a count, and nothing that waits.
static void on_shot(void* user, const struct sdk_shot* shot) {
  frame_queue_put(user, shot->frame, shot->element, shot->time, shot->samples);
}

static struct wire_acquisition acquisition_of(const struct sdk_settings* settings) {
  return (struct wire_acquisition){.elements = settings->elements,
                                   .pitch = settings->pitch,
                                   .element_width = 0.9 * settings->pitch,
                                   .centre_frequency = settings->frequency,
                                   .bandwidth = 0.6 * settings->frequency,
                                   .samples = settings->samples,
                                   .sample_rate = settings->sample_rate,
                                   .start_time = 0.0,
                                   .sample_scale = 1.0};
}

// Ends the queue once the device has, and says what is dropped, once a second at most. Whether it is to end.
static bool look_after(void* user) {
  struct source* const source = user;
  if (!source->ended && source->started && sdk_finished(source->device)) {
    source->ended = true;
    frame_queue_end(source->queue);
    fprintf(stderr, "the instrument has made its last frame\n");
  }
  const uint64_t dropped = frame_queue_counts(source->queue).dropped;
  const time_t now = time(NULL);
  if (dropped != source->said && now != source->said_at) {
    fprintf(stderr, "%llu frames dropped so far: the server is slower than the instrument\n", (unsigned long long)dropped);
    source->said = dropped;
    source->said_at = now;
  }
  return atomic_load(&interrupted);
}

static bool send_shot(struct source* source, const struct queued_shot* shot) {
  const size_t bytes = 2U * source->settings.elements * source->settings.samples;
  uint8_t message[WIRE_MOST_SHOT];
  const size_t size = wire_shot(message, shot->sequence, shot->transmit, shot->time, bytes);
  return connection_send(&source->connection, message, size, shot->payload, bytes);
}

// Until all is sent, or it fails for the connection's reason.
static bool send_frames(struct source* source) {
  uint64_t sequence = 0;
  source->of_frame = 0;
  for (;;) {
    if (look_after(source)) return connection_finish(&source->connection);
    struct queued_shot shot;
    const enum taken taken = frame_queue_take(source->queue, &shot);
    if (taken == TAKEN_END) return connection_finish(&source->connection);
    if (taken == TAKEN_SHOT) {
      if (shot.sequence != sequence) source->of_frame = 0;
      sequence = shot.sequence;
      ++source->of_frame;
    }
    if (!connection_well(&source->connection)) break;
    if (taken == TAKEN_NOTHING) continue;
    if (!send_shot(source, &shot)) break;
    if (source->of_frame != source->settings.elements) continue;
    source->of_frame = 0;
    ++source->sent;
  }
  // The rest of a frame that was begun is of no use to the next connection.
  if (source->of_frame != 0) frame_queue_give_up_frame(source->queue);
  return false;
}

// A connection from its beginning to its end; false for its reason.
static bool connect_and_send(struct source* source) {
  if (!connection_open(&source->connection, source->host, source->port)) return false;
  uint8_t hello[WIRE_MOST_HELLO];
  char server[512];
  const struct wire_acquisition acquisition = acquisition_of(&source->settings);
  const char* const token = getenv("ECHOFORM_TOKEN");
  const size_t bytes = wire_hello(hello, &acquisition, ++source->session, "vendor_source", token != NULL ? token : "");
  if (!connection_greet(&source->connection, hello, bytes, server)) return false;
  fprintf(stderr, "connected to %s\n", server);
  // What it makes before somebody listens would only be dropped.
  if (!source->started && !sdk_start(source->device, on_shot, source->queue)) {
    snprintf(source->connection.reason, sizeof source->connection.reason, "the instrument does not start");
    source->connection.retry = false;
    return false;
  }
  source->started = true;
  return send_frames(source);
}

// Connects again where that is worth while: after 50 ms, then twice as long each time, up to a second. Until something is
// accepted it gives up after half a minute.
static bool serve(struct source* source) {
  const long shortest = 50, longest = 1000;
  const time_t begin = time(NULL);
  long pause = shortest;
  for (;;) {
    const uint64_t before = source->sent;
    const bool done = connect_and_send(source);
    connection_close(&source->connection);
    if (done || atomic_load(&interrupted)) return true;
    fprintf(stderr, "%s:%s: %s\n", source->host, source->port, source->connection.reason);
    if (!source->connection.retry || (!source->started && time(NULL) - begin > 30)) return false;
    if (source->sent != before) pause = shortest;
    const struct timespec time = {.tv_sec = pause / 1000, .tv_nsec = pause % 1000 * 1000000};
    nanosleep(&time, NULL);
    pause = 2 * pause < longest ? 2 * pause : longest;
    look_after(source);
  }
}

static int usage(void) {
  fprintf(stderr,
          "vendor_source [--connect HOST:PORT] [--rate FRAMES_PER_SECOND] [--frames N] [--queue FRAMES]\n"
          "  127.0.0.1:17171, 25, 0 (until Ctrl-C), 8; the server's token is read from ECHOFORM_TOKEN\n");
  return 2;
}

// "HOST:PORT" or "[IPV6]:PORT", cut in place.
static bool cut_address(char* address, struct source* source) {
  char* const colon = strrchr(address, ':');
  if (colon == NULL || colon == address || colon[1] == '\0') return false;
  *colon = '\0';
  source->port = colon + 1;
  source->host = address;
  if (*address != '[' || colon[-1] != ']') return true;
  colon[-1] = '\0';
  source->host = address + 1;
  return true;
}

static bool read_number(const char* word, double low, double high, double* value) {
  char* end = NULL;
  *value = strtod(word, &end);
  return end != word && *end == '\0' && *value >= low && *value <= high;
}

int main(int argc, char** argv) {
  char place[256] = "127.0.0.1:17171";
  double rate = 25.0, frames = 0.0, room = 8.0;
  for (int i = 1; i < argc; i += 2) {
    const char* const value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(argv[i], "--connect") == 0 && strlen(value) < sizeof place) {
      strcpy(place, value);
    } else if (!(strcmp(argv[i], "--rate") == 0 && read_number(value, 0.01, 1e5, &rate)) &&
               !(strcmp(argv[i], "--frames") == 0 && read_number(value, 0.0, 1e15, &frames)) &&
               !(strcmp(argv[i], "--queue") == 0 && read_number(value, 1.0, 4096.0, &room))) {
      return usage();
    }
  }
  // Frames as those of `echoform demo`: 2 MiB each.
  struct source source = {.settings = {.elements = 32,
                                       .pitch = 0.6e-3,
                                       .frequency = 5e6,
                                       .samples = 1024,
                                       .sample_rate = 40e6,
                                       .frames_per_second = rate,
                                       .frames = (uint64_t)frames},
                          .connection = {.socket = -1, .pause = look_after}};
  if (!cut_address(place, &source)) return usage();
  source.connection.user = &source;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  source.session = (uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec ^ (uint64_t)(uintptr_t)&source << 20;

  const struct sigaction action = {.sa_handler = interrupt};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  source.device = sdk_open(&source.settings);
  source.queue =
      frame_queue_make((size_t)room, source.settings.elements, (size_t)source.settings.elements * source.settings.samples);
  bool good = false;
  if (source.device == NULL || source.queue == NULL) {
    fprintf(stderr, "no memory for %g frames\n", room);
  } else {
    good = serve(&source);
    sdk_stop(source.device);
    const struct frame_counts counts = frame_queue_counts(source.queue);
    printf("%llu frames: %llu sent, %llu dropped, %llu incomplete, %llu given up; %llu fired late\n",
           (unsigned long long)counts.frames, (unsigned long long)source.sent, (unsigned long long)counts.dropped,
           (unsigned long long)counts.incomplete, (unsigned long long)counts.given_up,
           (unsigned long long)sdk_late_frames(source.device));
  }
  sdk_close(source.device);
  frame_queue_free(source.queue);
  return good ? 0 : 1;
}
