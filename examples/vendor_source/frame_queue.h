// Frames between the thread of an SDK and that of a socket. The SDK's never waits: a frame for which there is no room when its
// first shot comes is dropped whole, and counted.
#ifndef FRAME_QUEUE_H
#define FRAME_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frame_queue;

// As it is to be sent.
struct queued_shot {
  uint64_t sequence;       // of its frame
  unsigned transmit;       // within the frame
  uint64_t time;           // ns since 1970 UTC
  const uint8_t* payload;  // int16, little-endian
};

struct frame_counts {
  uint64_t frames;      // that the SDK has begun
  uint64_t dropped;     // of them, since there was no room
  uint64_t incomplete;  // of which the SDK left out shots; they are sent as far as they came
  uint64_t given_up;    // that were being sent when the connection broke
};

// Room for `frames` frames of `shots` shots of `samples` samples each, taken now; NULL where memory is lacking.
struct frame_queue* frame_queue_make(size_t frames, size_t shots, size_t samples);
void frame_queue_free(struct frame_queue* queue);

// For the SDK's thread: copies the shot, unless its frame is dropped. Shots of a frame come together.
void frame_queue_put(struct frame_queue* queue, uint64_t sequence, unsigned transmit, uint64_t time, const int16_t* samples);
// No more is put.
void frame_queue_end(struct frame_queue* queue);

enum taken { TAKEN_SHOT, TAKEN_NOTHING, TAKEN_END };
// For the sender's thread: the next shot, which stays as it is until the next call; waits for it a tenth of a second at most. A
// frame makes room once the shot behind its last is asked for.
enum taken frame_queue_take(struct frame_queue* queue, struct queued_shot* shot);
// The rest of the frame whose shot was taken last is passed over.
void frame_queue_give_up_frame(struct frame_queue* queue);
struct frame_counts frame_queue_counts(struct frame_queue* queue);

#endif
