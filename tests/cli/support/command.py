"""The command under test, and what its tests share: a folder of their own, runs of the command, the shape of errors."""

import fcntl
import json
import os
import re
import struct
import subprocess
import tempfile
import termios
import time
import unittest
import unittest.mock
from pathlib import Path

# As the build names it; else the release build.
BINARY = os.path.abspath(
    os.environ.get("CUTPOINT_BIN") or Path(__file__).resolve().parents[3] / "build/release/cli/cutpoint"
)

# A sanitizer multiplies memory and time, so that neither says anything of the command.
IS_SANITIZED = bool(os.environ.get("CUTPOINT_SANITIZE"))

# The library that makes reads fail, as the build names it; else that of the release build. No sanitizer bears it.
FAULTY_READS = os.path.abspath(
    os.environ.get("CUTPOINT_FAULTY_READS") or Path(BINARY).parents[1] / "tests/cli/libfaulty_reads.so"
)

# Long enough for a loaded machine; whatever hangs is killed and fails.
PATIENCE = 240 if IS_SANITIZED else 60

DONE = 0
INPUT_FAILED = 1
WRONG_USAGE = 2
INTERRUPTED = 130


class Outcome:
    """What one run came to. Output is text whose bytes survive: those that are no UTF-8 are surrogates."""

    def __init__(self, arguments, code, stdout: bytes, stderr: bytes):
        self.arguments = arguments
        self.code = code
        self.bytes = stdout or b""
        self.stdout = os.fsdecode(self.bytes)
        self.stderr = os.fsdecode(stderr or b"")

    @property
    def lines(self):
        return self.stdout.split("\n")[:-1]

    def json(self):
        return json.loads(self.stdout)

    def __str__(self):
        words = " ".join(ascii(os.fsdecode(word))[1:-1] for word in self.arguments)
        shown = [f"cutpoint {words}", f"exit code {self.code}"]
        for name, text in (("stdout", self.stdout), ("stderr", self.stderr)):
            short = text if len(text) < 2000 else text[:1000] + f" ... {len(text)} characters ... " + text[-500:]
            shown.append(f"{name}: {ascii(short)}")
        return "\n  " + "\n  ".join(shown)


class CommandTest(unittest.TestCase):
    """A test in a new folder, which is the current one of every run and goes at the end."""

    maxDiff = 4000

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cutpoint-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        state = tempfile.TemporaryDirectory(prefix="cutpoint-state-")
        self.addCleanup(state.cleanup)
        environment = unittest.mock.patch.dict(os.environ, CUTPOINT_STATE_DIR=state.name)
        environment.start()
        self.addCleanup(environment.stop)

    def write(self, name, content=b"content\n") -> Path:
        """A file in the folder; folders above it are made."""
        path = self.folder / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def start(self, *arguments, **how) -> subprocess.Popen:
        """A running command; killed at the end of the test if it still runs then."""
        defaults = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": self.folder}
        process = subprocess.Popen([BINARY, *arguments], **{**defaults, **how})
        self.addCleanup(close, process)
        return process

    def wait(self, process: subprocess.Popen) -> Outcome:
        stdout, stderr = process.communicate(timeout=PATIENCE)
        return Outcome(process.args[1:], process.returncode, stdout, stderr)

    def run_command(self, *arguments, content=None, **how) -> Outcome:
        """Runs the command to its end, with `content`, if any, on its standard input."""
        if content is not None:
            how["stdin"] = subprocess.PIPE
        process = self.start(*arguments, **how)
        stdout, stderr = process.communicate(content, timeout=PATIENCE)
        return Outcome(arguments, process.returncode, stdout, stderr)

    def run_shell(self, script: str) -> Outcome:
        """Runs a line of sh, in which $CUTPOINT is the command."""
        process = subprocess.Popen(
            ["sh", "-c", script],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            env={**os.environ, "CUTPOINT": BINARY},
        )
        self.addCleanup(close, process)
        stdout, stderr = process.communicate(timeout=PATIENCE)
        return Outcome([script], process.returncode, stdout, stderr)

    def assert_done(self, run: Outcome):
        self.assertEqual((run.code, run.stderr), (DONE, ""), run)

    def assert_failed(self, run: Outcome, *told, code=INPUT_FAILED):
        """The exit code, and a message on standard error that has each of `told` in it."""
        self.assertEqual(run.code, code, run)
        self.assertTrue(run.stderr.startswith("cutpoint: "), run)
        for words in told:
            self.assertIn(words, run.stderr, run)

    def assert_refused(self, run: Outcome, *told):
        """Wrong usage: nothing on standard output, and a message."""
        self.assertEqual(run.stdout, "", run)
        self.assert_failed(run, *told, code=WRONG_USAGE)


def subcommands(program=BINARY) -> list[str]:
    """As the program's own help has them."""
    text = subprocess.run([program, "--help"], capture_output=True, text=True, check=True, timeout=PATIENCE).stdout
    return re.findall(r"^  (\w+) ", text.split("Subcommands:\n")[1], re.MULTILINE)


def close(process: subprocess.Popen):
    """Ends a process that still runs, and its pipes."""
    process.kill()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            try:
                pipe.close()
            except BrokenPipeError:
                pass
    process.wait()


def open_deep(folder: Path, name: str, count: int, makes: bool = False) -> int:
    """Opens the last of `count` folders of this name, each of which is in the one before, whose path may be longer than any."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(count):
        if makes:
            os.mkdir(name, dir_fd=here)
        here, above = os.open(name, os.O_RDONLY, dir_fd=here), here
        os.close(above)
    return here


def wait_until(holds, what: str):
    """Looks again and again until `holds()`."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {PATIENCE} s: {what}")
        time.sleep(0.002)


def faulty_reads(suffix: str, offset: int = 0) -> dict:
    """The environment of a run for which files whose paths end in `suffix` cannot be read from `offset` on (EIO)."""
    return with_faulty_reads(CUTPOINT_FAULT_SUFFIX=suffix, CUTPOINT_FAULT_OFFSET=str(offset))


def unseekable_reads(suffix: str) -> dict:
    """The environment of a run for which files whose paths end in `suffix` have no offsets to read at (ESPIPE)."""
    return with_faulty_reads(CUTPOINT_STREAM_SUFFIX=suffix)


def with_faulty_reads(**variables) -> dict:
    return {**os.environ, "LD_PRELOAD": FAULTY_READS, **variables}


needs_faulty_reads = unittest.skipUnless(
    os.path.exists(FAULTY_READS) and not IS_SANITIZED, "needs the library that makes reads fail, and no sanitizer"
)


def status_of(process: subprocess.Popen, thread: str | None = None) -> dict:
    """What the kernel tells of a process or of one of its threads: the lines of /proc/PID/status."""
    folder = f"/proc/{process.pid}" if thread is None else f"/proc/{process.pid}/task/{thread}"
    with open(f"{folder}/status", encoding="ascii", errors="replace") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def handles(process: subprocess.Popen, number: int) -> bool:
    """Whether the process has a handler for the signal yet."""
    return process.poll() is None and bool(int(status_of(process)["SigCgt"], 16) >> (number - 1) & 1)


def is_waiting(process: subprocess.Popen) -> bool:
    """Whether all threads of the process sleep, on a pipe say."""
    if process.poll() is not None:
        return False
    try:
        return all(status_of(process, thread)["State"].startswith("S") for thread in os.listdir(f"/proc/{process.pid}/task"))
    except (FileNotFoundError, ProcessLookupError):  # a thread has ended
        return False


def has_read_all(process: subprocess.Popen) -> bool:
    """Whether the process has read all that was written to its standard input, a pipe."""
    return unread_bytes(process.stdin.fileno()) == 0


def unread_bytes(pipe: int) -> int:
    """How many bytes were written to a pipe and not read."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0]
