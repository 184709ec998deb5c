#include "frame_queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct slot {
  uint64_t sequence;
  uint64_t time;
  size_t ready;  // shots that are here
  bool ended;    // no more come
  unsigned* transmits;
  uint8_t* payloads;
};

struct frame_queue {
  size_t shots;
  size_t samples;  // of a shot
  size_t capacity;
  struct slot* slots;  // a ring

  pthread_mutex_t mutex;  // guards what follows and the slots but for their payloads, for moments
  pthread_cond_t came;
  size_t first;     // the oldest frame's slot
  size_t occupied;  // slots from there on
  size_t taken;     // shots of the oldest frame
  bool passing;     // the rest of the oldest frame is passed over
  bool begun;       // a frame, whose number is `current`
  uint64_t current;
  bool dropping;  // that frame has no slot
  bool ended;
  struct frame_counts counts;
};

struct frame_queue* frame_queue_make(size_t frames, size_t shots, size_t samples) {
  struct frame_queue* const queue = calloc(1, sizeof *queue);
  if (queue == NULL) return NULL;
  queue->shots = shots;
  queue->samples = samples;
  queue->capacity = frames;
  pthread_mutex_init(&queue->mutex, NULL);
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&queue->came, &attributes);
  pthread_condattr_destroy(&attributes);
  queue->slots = calloc(frames, sizeof *queue->slots);
  bool whole = queue->slots != NULL;
  for (size_t i = 0; whole && i < frames; ++i) {
    queue->slots[i].transmits = calloc(shots, sizeof *queue->slots[i].transmits);
    queue->slots[i].payloads = calloc(shots, 2 * samples);
    whole = queue->slots[i].transmits != NULL && queue->slots[i].payloads != NULL;
  }
  if (whole) return queue;
  frame_queue_free(queue);
  return NULL;
}

void frame_queue_free(struct frame_queue* queue) {
  if (queue == NULL) return;
  for (size_t i = 0; queue->slots != NULL && i < queue->capacity; ++i) {
    free(queue->slots[i].transmits);
    free(queue->slots[i].payloads);
  }
  free(queue->slots);
  pthread_cond_destroy(&queue->came);
  pthread_mutex_destroy(&queue->mutex);
  free(queue);
}

// The slot that the SDK fills: the newest.
static struct slot* newest(struct frame_queue* queue) {
  return &queue->slots[(queue->first + queue->occupied - 1) % queue->capacity];
}

static void end_frame(struct frame_queue* queue) {
  if (!queue->begun || queue->dropping) return;
  // One that is whole has been ended, and may have been sent and its slot used again.
  struct slot* const slot = newest(queue);
  if (queue->occupied == 0 || slot->ended || slot->sequence != queue->current) return;
  slot->ended = true;
  ++queue->counts.incomplete;
}

static void begin_frame(struct frame_queue* queue, uint64_t sequence, uint64_t time) {
  end_frame(queue);
  queue->begun = true;
  queue->current = sequence;
  ++queue->counts.frames;
  queue->dropping = queue->occupied == queue->capacity;
  if (queue->dropping) {
    ++queue->counts.dropped;
    return;
  }
  ++queue->occupied;
  struct slot* const slot = newest(queue);
  slot->sequence = sequence;
  slot->time = time;
  slot->ready = 0;
  slot->ended = false;
}

void frame_queue_put(struct frame_queue* queue, uint64_t sequence, unsigned transmit, uint64_t time, const int16_t* samples) {
  pthread_mutex_lock(&queue->mutex);
  if (!queue->begun || sequence != queue->current) begin_frame(queue, sequence, time);
  struct slot* slot = NULL;
  if (!queue->dropping && queue->occupied > 0 && !newest(queue)->ended) slot = newest(queue);
  const size_t place = slot != NULL ? slot->ready : 0;
  pthread_cond_signal(&queue->came);
  pthread_mutex_unlock(&queue->mutex);
  if (slot == NULL) return;

  // Nobody else touches a shot that is not ready.
  uint8_t* out = slot->payloads + 2 * queue->samples * place;
  for (size_t n = 0; n < queue->samples; ++n) {
    const uint16_t bits = (uint16_t)samples[n];
    out[2 * n] = (uint8_t)bits;
    out[2 * n + 1] = (uint8_t)(bits >> 8);
  }
  slot->transmits[place] = transmit;

  pthread_mutex_lock(&queue->mutex);
  ++slot->ready;
  slot->ended = slot->ready == queue->shots;
  pthread_cond_signal(&queue->came);
  pthread_mutex_unlock(&queue->mutex);
}

void frame_queue_end(struct frame_queue* queue) {
  pthread_mutex_lock(&queue->mutex);
  end_frame(queue);
  queue->ended = true;
  pthread_cond_signal(&queue->came);
  pthread_mutex_unlock(&queue->mutex);
}

// What there is to take now, the mutex held.
static enum taken look(struct frame_queue* queue, struct queued_shot* shot) {
  while (queue->occupied > 0) {
    const struct slot* const slot = &queue->slots[queue->first];
    if (queue->passing) queue->taken = slot->ready;
    if (queue->taken < slot->ready) {
      const size_t place = queue->taken++;
      *shot = (struct queued_shot){.sequence = slot->sequence,
                                   .transmit = slot->transmits[place],
                                   .time = slot->time,
                                   .payload = slot->payloads + 2 * queue->samples * place};
      return TAKEN_SHOT;
    }
    if (!slot->ended) return TAKEN_NOTHING;
    queue->first = (queue->first + 1) % queue->capacity;
    --queue->occupied;
    queue->taken = 0;
    queue->passing = false;
  }
  return queue->ended ? TAKEN_END : TAKEN_NOTHING;
}

enum taken frame_queue_take(struct frame_queue* queue, struct queued_shot* shot) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += 100000000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_mutex_lock(&queue->mutex);
  enum taken found = look(queue, shot);
  while (found == TAKEN_NOTHING && pthread_cond_timedwait(&queue->came, &queue->mutex, &until) == 0) found = look(queue, shot);
  pthread_mutex_unlock(&queue->mutex);
  return found;
}

void frame_queue_give_up_frame(struct frame_queue* queue) {
  pthread_mutex_lock(&queue->mutex);
  if (queue->taken > 0 && !queue->passing) {
    queue->passing = true;
    ++queue->counts.given_up;
  }
  pthread_mutex_unlock(&queue->mutex);
}

struct frame_counts frame_queue_counts(struct frame_queue* queue) {
  pthread_mutex_lock(&queue->mutex);
  const struct frame_counts counts = queue->counts;
  pthread_mutex_unlock(&queue->mutex);
  return counts;
}
