"""What can go wrong, in one family: `except EchoformError` takes all of it."""


class EchoformError(Exception):
    """Anything that this package raises because of a server, a message or a file. Wrong arguments are ValueError."""


class Rejected(EchoformError):
    """The server does not take what was sent. `reason` is its own line; `retry` says that it may take the same in a little while."""

    def __init__(self, reason: str, retry: bool = False):
        super().__init__(reason)
        self.reason = reason
        self.retry = retry


class ConnectionFailed(EchoformError, ConnectionError):
    """No server is there, it is not an Echoform server, or it closed the connection without a reason."""


class TimedOut(EchoformError, TimeoutError):
    """Nothing came within the time that was allowed."""


class MalformedMessage(EchoformError, ValueError):
    """A message is not what it should be, or contradicts itself."""
