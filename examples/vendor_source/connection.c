#include "connection.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static bool fail(struct connection* connection, bool retry, const char* what, const char* why) {
  snprintf(connection->reason, sizeof connection->reason, "%s%s%s", what, *why ? ": " : "", why);
  connection->retry = retry;
  connection->closed = false;
  return false;
}

static bool await(struct connection* connection, short events) {
  for (;;) {
    struct pollfd place = {.fd = connection->socket, .events = events};
    const int ready = poll(&place, 1, 100);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return fail(connection, true, "poll", strerror(errno));
    if (connection->pause(connection->user)) return fail(connection, false, "it is to end", "");
  }
}

bool connection_open(struct connection* connection, const char* host, const char* port) {
  struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  struct addrinfo* found = NULL;
  const int failure = getaddrinfo(host, port, &hints, &found);
  if (failure != 0) return fail(connection, failure == EAI_AGAIN, host, gai_strerror(failure));
  int error = 0;
  for (const struct addrinfo* place = found; place != NULL; place = place->ai_next) {
    connection->socket = socket(place->ai_family, place->ai_socktype, place->ai_protocol);
    if (connection->socket < 0 || fcntl(connection->socket, F_SETFL, O_NONBLOCK) != 0) {
      error = errno;
    } else if (connect(connection->socket, place->ai_addr, place->ai_addrlen) == 0) {
      error = 0;
    } else if (errno != EINPROGRESS) {
      error = errno;
    } else if (await(connection, POLLOUT)) {
      socklen_t size = sizeof error;
      getsockopt(connection->socket, SOL_SOCKET, SO_ERROR, &error, &size);
    } else {
      freeaddrinfo(found);
      return false;
    }
    if (connection->socket >= 0 && error == 0) break;
    connection_close(connection);
  }
  freeaddrinfo(found);
  if (connection->socket < 0) return fail(connection, true, "cannot connect", strerror(error));
  const int one = 1;
  setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return true;
}

static bool receive(struct connection* connection, uint8_t* place, size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = recv(connection->socket, place, bytes, 0);
    if (got > 0) {
      place += got;
      bytes -= (size_t)got;
    } else if (got == 0) {
      fail(connection, true, "the server closed the connection", "");
      connection->closed = true;
      return false;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!await(connection, POLLIN)) return false;
    } else if (errno != EINTR) {
      return fail(connection, true, "the connection broke", strerror(errno));
    }
  }
  return true;
}

// What the server says, with its type; 0: nothing that can be understood, and the reason stands.
static int read_answer(struct connection* connection, struct wire_answer* answer) {
  uint8_t prefix[WIRE_PREFIX], header[WIRE_MOST_ANSWER];
  int type = 0;
  size_t bytes = 0;
  if (!receive(connection, prefix, sizeof prefix)) return 0;
  const bool sized = wire_answer_prefix(prefix, &type, &bytes);
  if (sized && !receive(connection, header, bytes)) return 0;
  if (!sized || !wire_answer_sound(prefix, header, bytes) || !wire_read_answer(type, header, bytes, answer)) {
    fail(connection, false, "the answer is none of an Echoform server", "");
    return 0;
  }
  if (type == WIRE_REJECT) fail(connection, answer->retry, "refused", answer->text);
  return type;
}

// A server that will not read on says why, if it can.
static bool broken(struct connection* connection, const char* why) {
  struct wire_answer answer;
  if (read_answer(connection, &answer) != WIRE_REJECT) fail(connection, true, "the connection broke", why);
  return false;
}

bool connection_send(struct connection* connection, const uint8_t* message, size_t bytes, const uint8_t* payload,
                     size_t payload_bytes) {
  struct iovec parts[2] = {{(void*)(uintptr_t)message, bytes}, {(void*)(uintptr_t)payload, payload_bytes}};
  while (parts[0].iov_len + parts[1].iov_len > 0) {
    const struct msghdr both = {.msg_iov = parts, .msg_iovlen = 2};
    const ssize_t sent = sendmsg(connection->socket, &both, MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) return broken(connection, strerror(errno));
      if (!await(connection, POLLOUT)) return false;
      continue;
    }
    size_t left = (size_t)sent;
    // No payload is no place to count on from.
    for (int i = 0; i < 2 && left > 0; ++i) {
      const size_t of_part = left < parts[i].iov_len ? left : parts[i].iov_len;
      parts[i].iov_base = (uint8_t*)parts[i].iov_base + of_part;
      parts[i].iov_len -= of_part;
      left -= of_part;
    }
  }
  return true;
}

bool connection_greet(struct connection* connection, const uint8_t* hello, size_t bytes, char server[512]) {
  if (!connection_send(connection, hello, bytes, NULL, 0)) return false;
  struct wire_answer answer;
  if (read_answer(connection, &answer) != WIRE_ACCEPT) return false;
  memcpy(server, answer.text, sizeof answer.text);
  return true;
}

bool connection_well(struct connection* connection) {
  struct pollfd place = {.fd = connection->socket, .events = POLLIN};
  return poll(&place, 1, 0) <= 0 || broken(connection, "the server closed it");
}

bool connection_finish(struct connection* connection) {
  uint8_t end[WIRE_PREFIX];
  if (!connection_send(connection, end, wire_end(end), NULL, 0)) return false;
  shutdown(connection->socket, SHUT_WR);
  struct wire_answer answer;
  // To be closed is what was asked for.
  return read_answer(connection, &answer) == 0 && connection->closed;
}

void connection_close(struct connection* connection) {
  if (connection->socket >= 0) close(connection->socket);
  connection->socket = -1;
}
