// A TCP connection to a server, whose every wait is cut into tenths of a second: between them `pause` is called, which may say
// that it is to end.
#ifndef CONNECTION_H
#define CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire.h"

// True: give up waiting.
typedef bool (*connection_pause)(void* user);

struct connection {
  int socket;  // -1: none
  connection_pause pause;
  void* user;
  char reason[640];  // why the last call failed, for people
  bool retry;        // whether to try again is worth while
  bool closed;       // whether it failed since the server closed the connection
};

// Each returns false with a reason where it fails, or was told to give up.
bool connection_open(struct connection* connection, const char* host, const char* port);
// Sends a Hello and waits for the Accept, as long as that takes: the server plans meanwhile. The server's name.
bool connection_greet(struct connection* connection, const uint8_t* hello, size_t bytes, char server[512]);
// A message and its payload. For as long as the server holds its sender back it waits.
bool connection_send(struct connection* connection, const uint8_t* message, size_t bytes, const uint8_t* payload,
                     size_t payload_bytes);
// Whether the server still listens: between Accept and End it says nothing unless something is wrong.
bool connection_well(struct connection* connection);
// Says End, and waits until the server has read everything.
bool connection_finish(struct connection* connection);
void connection_close(struct connection* connection);

#endif
