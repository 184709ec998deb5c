#include "wire.h"

#include <string.h>

static uint32_t crc32c(uint32_t crc, const uint8_t* bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78U : 0U);
  }
  return crc;
}

static uint32_t checksum(const uint8_t* prefix, const uint8_t* header, size_t header_bytes) {
  return ~crc32c(crc32c(0xFFFFFFFFU, prefix, 20), header, header_bytes);
}

static void put_little(uint8_t* out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get_little(const uint8_t* in, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value |= (uint64_t)in[i] << (8 * i);
  return value;
}

// Puts the prefix before a header that stands behind room for it; the size of both.
static size_t finish(uint8_t* message, uint16_t type, size_t header_bytes, uint64_t payload_bytes) {
  memcpy(message, "EFRM", 4);
  put_little(message + 4, 1, 2);
  put_little(message + 6, type, 2);
  put_little(message + 8, header_bytes, 4);
  put_little(message + 12, payload_bytes, 8);
  put_little(message + 20, checksum(message, message + WIRE_PREFIX, header_bytes), 4);
  return WIRE_PREFIX + header_bytes;
}

// Fields of Protocol Buffers: each returns where the next goes.
static uint8_t* varint(uint8_t* out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *out++ = (uint8_t)(value | 0x80);
  *out++ = (uint8_t)value;
  return out;
}

static uint8_t* integer(uint8_t* out, unsigned field, uint64_t value) {
  return varint(varint(out, 8 * field), value);
}

static uint8_t* plain_real(uint8_t* out, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  put_little(out, bits, 8);
  return out + 8;
}

static uint8_t* real(uint8_t* out, unsigned field, double value) {
  return plain_real(varint(out, 8 * field + 1), value);
}

static uint8_t* text(uint8_t* out, unsigned field, const char* words) {
  const size_t whole = strlen(words);
  const size_t bytes = whole < WIRE_MOST_TEXT ? whole : WIRE_MOST_TEXT;
  out = varint(varint(out, 8 * field + 2), bytes);
  memcpy(out, words, bytes);
  return out + bytes;
}

static size_t probe(uint8_t* out, const struct wire_acquisition* acquisition) {
  uint8_t* at = varint(varint(out, 8 * 1 + 2), 8U * acquisition->elements);
  for (unsigned element = 0; element < acquisition->elements; ++element) {
    at = plain_real(at, (element - 0.5 * (acquisition->elements - 1)) * acquisition->pitch);
  }
  at = real(at, 7, acquisition->element_width);
  at = real(at, 9, acquisition->centre_frequency);
  at = real(at, 10, acquisition->bandwidth);
  return (size_t)(at - out);
}

size_t wire_hello(uint8_t out[WIRE_MOST_HELLO], const struct wire_acquisition* acquisition, uint64_t session, const char* sender,
                  const char* token) {
  enum { MATRIX_FULL = 1, ENCODING_INT16 = 1 };
  uint8_t of_probe[8 * WIRE_MOST_ELEMENTS + 64];
  const size_t probe_bytes = probe(of_probe, acquisition);
  uint8_t* const header = out + WIRE_PREFIX;
  uint8_t* at = integer(header, 1, session);
  at = text(at, 4, sender);
  at = text(at, 5, token);
  at = varint(varint(at, 8 * 6 + 2), probe_bytes);
  memcpy(at, of_probe, probe_bytes);
  at += probe_bytes;
  at = integer(at, 7, MATRIX_FULL);
  at = integer(at, 8, ENCODING_INT16);
  at = integer(at, 9, acquisition->samples);
  at = real(at, 10, acquisition->sample_rate);
  at = real(at, 11, acquisition->start_time);
  at = real(at, 13, acquisition->sample_scale);
  return finish(out, WIRE_HELLO, (size_t)(at - header), 0);
}

size_t wire_shot(uint8_t out[WIRE_MOST_SHOT], uint64_t sequence, unsigned transmit, uint64_t time, size_t payload_bytes) {
  uint8_t* const header = out + WIRE_PREFIX;
  uint8_t* at = integer(header, 1, sequence);
  at = integer(at, 2, transmit);
  at = integer(at, 3, time);
  return finish(out, WIRE_SHOT, (size_t)(at - header), payload_bytes);
}

size_t wire_end(uint8_t out[WIRE_PREFIX]) {
  return finish(out, WIRE_END, 0, 0);
}

bool wire_answer_prefix(const uint8_t prefix[WIRE_PREFIX], int* type, size_t* header_bytes) {
  *type = (int)get_little(prefix + 6, 2);
  *header_bytes = (size_t)get_little(prefix + 8, 4);
  return memcmp(prefix, "EFRM", 4) == 0 && get_little(prefix + 4, 2) == 1 && (*type == WIRE_ACCEPT || *type == WIRE_REJECT) &&
         *header_bytes <= WIRE_MOST_ANSWER && get_little(prefix + 12, 8) == 0;
}

bool wire_answer_sound(const uint8_t prefix[WIRE_PREFIX], const uint8_t* header, size_t header_bytes) {
  return get_little(prefix + 20, 4) == checksum(prefix, header, header_bytes);
}

static bool get_varint(const uint8_t** at, const uint8_t* end, uint64_t* value) {
  *value = 0;
  for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
    const uint8_t byte = *(*at)++;
    *value |= (uint64_t)(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool wire_read_answer(int type, const uint8_t* header, size_t header_bytes, struct wire_answer* answer) {
  const unsigned text_field = type == WIRE_ACCEPT ? 2 : 1;
  *answer = (struct wire_answer){.retry = false};
  const uint8_t* at = header;
  const uint8_t* const end = header + header_bytes;
  while (at < end) {
    uint64_t tag, value;
    if (!get_varint(&at, end, &tag)) return false;
    switch (tag & 7) {
      case 0:
        if (!get_varint(&at, end, &value)) return false;
        if (type == WIRE_REJECT && tag >> 3 == 2) answer->retry = value != 0;
        break;
      case 1:
        if (end - at < 8) return false;
        at += 8;
        break;
      case 2:
        if (!get_varint(&at, end, &value) || value > (uint64_t)(end - at)) return false;
        if (tag >> 3 == text_field) {
          const size_t bytes = value < sizeof answer->text - 1 ? (size_t)value : sizeof answer->text - 1;
          for (size_t i = 0; i < bytes; ++i) answer->text[i] = (char)(at[i] < 0x20 ? ' ' : at[i]);
          answer->text[bytes] = '\0';
        }
        at += value;
        break;
      default:
        return false;
    }
  }
  return true;
}
