"""Where the system gives less memory or fewer threads than a program needs (ulimit -v, -u), it ends with code 1 and one line that
says so; no library ends it in the middle."""
import pathlib
import resource
import signal
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from program_case import PROGRAM, ProgramCase  # noqa: E402

PATIENCE = 60
MEGABYTE = 1 << 20
if any(name in pathlib.Path(PROGRAM).read_bytes() for name in (b"__asan_init", b"__tsan_init")):
    print("SKIPPED: sanitizers take more address space than any limit")
    sys.exit(77)


class MemoryLimits(ProgramCase):
    def limited(self, megabytes, level, *arguments):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (megabytes * MEGABYTE,) * 2)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        process = subprocess.Popen([PROGRAM, "--log-level", level, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   preexec_fn=limit)
        for cleanup in (process.stderr.close, process.stdout.close, process.wait, process.kill):
            self.addCleanup(cleanup)
        return process

    def sweep(self, stream, last_line, level, *arguments):
        """From what does not even load the libraries to what is enough, which it is once `last_line` stands on `stream`; how many limits
        between were told."""
        told = 0
        for megabytes in range(100, 1200, 7):
            process = self.limited(megabytes, level, *arguments)
            said, up = "", False
            for line in iter(getattr(process, stream).readline, ""):
                said += line
                up = last_line in line
                if up:
                    process.send_signal(signal.SIGTERM)
                    break
            errors = (said if stream == "stderr" else "") + process.communicate(timeout=PATIENCE)[1]
            if up:
                self.assertEqual(process.returncode, 0, errors)
                return told
            if process.returncode == 127:  # of the loader of libraries, before any of the program
                continue
            with self.subTest(megabytes=megabytes):
                self.assertEqual(process.returncode, 1, errors)
                self.assertRegex(errors, r"\Aechoform: [^\n]*(memory|limit)[^\n]*\n\Z")
            told += 1
        self.fail("it never came up")

    def test_a_server_says_what_it_lacks(self):
        config = self.path / "server.toml"
        doors = "".join(f'{door} = "127.0.0.1:0"\n' for door in ("images", "telemetry", "web", "control"))
        config.write_text(f'[material]\nlongitudinal_velocity = 6320\n[imaging]\nbackend = "cpu"\nthreads = 1\n'
                          f'[input]\nlisten = "127.0.0.1:0"\nzeromq = "127.0.0.1:0"\n[server]\n{doors}')
        self.assertGreater(self.sweep("stdout", "telemetry", "error", "serve", "--config", config), 3)

    def test_a_viewer_says_what_it_lacks(self):
        # Nobody is there: one that is up waits.
        self.assertGreater(self.sweep("stderr", "subscribed to", "info", "view", "--connect", "tcp://127.0.0.1:1", "--latest"), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
