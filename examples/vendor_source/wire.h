// Messages of proto/WIRE.md as bytes, for who sends full matrices of a linear array in contact.
#ifndef WIRE_H
#define WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WIRE_HELLO = 1, WIRE_ACCEPT = 2, WIRE_REJECT = 3, WIRE_SHOT = 4, WIRE_END = 5 };
enum {
  WIRE_PREFIX = 24,
  WIRE_MOST_ELEMENTS = 1024,
  WIRE_MOST_TEXT = 256,                             // of the texts of a Hello
  WIRE_MOST_HELLO = 8 * WIRE_MOST_ELEMENTS + 1024,  // with prefix
  WIRE_MOST_SHOT = 64,                              // with prefix, without payload
  WIRE_MOST_ANSWER = 4096                           // of a header
};

// What frames are. Samples are int16.
struct wire_acquisition {
  unsigned elements;
  double pitch;             // m
  double element_width;     // m; 0: unknown
  double centre_frequency;  // Hz; 0: unknown
  double bandwidth;         // Hz at -6 dB; 0: unknown
  unsigned samples;         // of an A-scan
  double sample_rate;       // Hz
  double start_time;        // s of sample 0 after the pulse's emission
  double sample_scale;      // amplitude of one unit
};

// Each writes a message without its payload and returns its size. `session` is a random number, new for each connection here.
// Texts have at most WIRE_MOST_TEXT bytes, and are cut.
size_t wire_hello(uint8_t out[WIRE_MOST_HELLO], const struct wire_acquisition* acquisition, uint64_t session, const char* sender,
                  const char* token);
size_t wire_shot(uint8_t out[WIRE_MOST_SHOT], uint64_t sequence, unsigned transmit, uint64_t time, size_t payload_bytes);
size_t wire_end(uint8_t out[WIRE_PREFIX]);

// Of a prefix that a server sent: the message's type, and the size of its header. False where it is no Accept and no Reject.
bool wire_answer_prefix(const uint8_t prefix[WIRE_PREFIX], int* type, size_t* header_bytes);
// Whether the checksum is right.
bool wire_answer_sound(const uint8_t prefix[WIRE_PREFIX], const uint8_t* header, size_t header_bytes);
struct wire_answer {
  char text[512];  // of an Accept the server's name, of a Reject the reason; cut, and without control characters
  bool retry;      // of a Reject
};
bool wire_read_answer(int type, const uint8_t* header, size_t header_bytes, struct wire_answer* answer);

#endif
