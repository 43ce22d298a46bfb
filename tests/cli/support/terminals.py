"""Runs of the command on a terminal."""

import os
import pty
import subprocess
import termios

from command import PATIENCE, CommandTest

UTF8 = {**os.environ, "LC_ALL": "C.UTF-8", "TERM": "xterm"}


class TerminalTest(CommandTest):
    def start_on_terminal(self, *words, columns: int = 0, **how) -> subprocess.Popen:
        """A running command whose standard error is a new terminal; `how` may give it more descriptors of that, by the value None."""
        self.terminal, theirs = pty.openpty()
        self.addCleanup(os.close, self.terminal)
        if columns:
            termios.tcsetwinsize(theirs, (24, columns))
        how = {name: theirs if value is None else value for name, value in how.items()}
        process = self.start(*words, stderr=theirs, env=UTF8, **how)
        os.close(theirs)
        return process

    def shown(self) -> str:
        """What was shown on the terminal when nobody has its other end any more."""
        text = b""
        try:
            while block := os.read(self.terminal, 65536):
                text += block
        except OSError:  # the other end is closed
            pass
        return text.decode()

    def on_terminal(self, *words, **how) -> tuple[str, str]:
        """Runs a command. Returns what it wrote to standard output, if that is no terminal, and what was shown."""
        process = self.start_on_terminal(*words, **how)
        shown = self.shown()
        stdout, _ = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, shown)
        return (stdout or b"").decode(), shown
