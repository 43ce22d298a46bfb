"""Passwords that are typed on the terminal, which shows nothing of them, and from where else secrets come."""

import fcntl
import os
import pty
import signal
import subprocess
import termios

from command import INTERRUPTED, WRONG_USAGE, CommandTest

ASKS = b"password of store: "
ASKS_AGAIN = b"the same once more: "


class PromptTest(CommandTest):
    def start_with_terminal(self, *words, **how) -> subprocess.Popen:
        """A running command whose terminal is a new one, which none of its standard descriptors is."""
        self.terminal, self.theirs = pty.openpty()
        self.addCleanup(os.close, self.terminal)
        self.addCleanup(os.close, self.theirs)
        self.seen = b""

        def take_terminal():
            os.setsid()
            fcntl.ioctl(self.theirs, termios.TIOCSCTTY, 0)

        return self.start(*words, "--store", "store", preexec_fn=take_terminal, **how)

    def wait_for(self, text: bytes):
        while not self.seen.endswith(text):
            self.assertLess(len(self.seen), 1000, self.seen)
            self.seen += os.read(self.terminal, 1000)

    def type(self, question: bytes, answer: bytes):
        self.wait_for(question)
        self.assertFalse(self.echoes())
        os.write(self.terminal, answer)

    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self.theirs)[3] & termios.ECHO)

    def end(self, process: subprocess.Popen, code: int = 0) -> str:
        run = self.wait(process)
        self.assertEqual(run.code, code, run)
        self.assertTrue(self.echoes())
        return run.stderr

    def init(self):
        process = self.start_with_terminal("init", "--encryption", "password")
        self.type(ASKS, b"word\n")
        self.type(ASKS_AGAIN, b"word\n")
        self.assertEqual(self.end(process), "")


class Prompts(PromptTest):
    def test_make_and_open_a_store(self):
        self.init()
        self.assertNotIn(b"word", self.seen.replace(b"password", b""))
        process = self.start_with_terminal("backup", "-", stdin=subprocess.PIPE)
        process.stdin.write(b"content")
        process.stdin.close()
        process.stdin = None
        self.type(ASKS, b"word\n")
        self.assertEqual(self.end(process), "")
        process = self.start_with_terminal("key", "add")
        self.type(ASKS, b"word\n")
        self.type(b"password of the new key: ", b"other\n")
        self.type(ASKS_AGAIN, b"other\n")
        self.assertEqual(self.end(process), "")
        self.write("other", b"other")
        run = self.run_command("dump", "latest:/stdin", "--store", "store", "--password-file", "other")
        self.assertEqual(run.stdout, "content", run)

    def test_refuse_what_is_wrong(self):
        process = self.start_with_terminal("init", "--encryption", "password")
        self.type(ASKS, b"word\n")
        self.type(ASKS_AGAIN, b"wort\n")
        self.assertIn("the two passwords differ", self.end(process, WRONG_USAGE))
        self.assertFalse((self.folder / "store").exists())
        self.init()
        for answer, told in ((b"\n", "the password is empty"), (b"\x04", "the password is empty"), (b"wort\n", "no key of the store")):
            process = self.start_with_terminal("snapshots")
            self.type(ASKS, answer)
            self.assertIn(told, self.end(process, WRONG_USAGE))

    def test_are_left_out_where_nobody_answers(self):
        self.init()
        self.write("wrong", b"wort")
        for words in (("--json",), ("--restic-json",), ("--password-file", "wrong"), ("--key-file", "wrong")):
            self.end(self.start_with_terminal("snapshots", *words), WRONG_USAGE)
        self.end(self.start_with_terminal("check", "-q"), WRONG_USAGE)
        self.end(self.start_with_terminal("snapshots", env={**os.environ, "CUTPOINT_PASSWORD_FILE": "wrong"}), WRONG_USAGE)
        run = self.run_command("snapshots", "--store", "store", content=b"word\n", start_new_session=True)
        self.assert_refused(
            run, "the store is encrypted: a password or a key file is needed, by --password-file (CUTPOINT_PASSWORD_FILE), "
            "--password-command (CUTPOINT_PASSWORD_COMMAND) or --key-file (CUTPOINT_KEY_FILE)",
        )  # fmt: skip

    def test_restore_the_terminal_when_a_signal_ends_or_stops_them(self):
        self.init()
        for number, code in ((signal.SIGINT, INTERRUPTED), (signal.SIGTERM, INTERRUPTED), (signal.SIGHUP, -signal.SIGHUP),
                             (signal.SIGQUIT, -signal.SIGQUIT)):  # fmt: skip
            process = self.start_with_terminal("snapshots")
            self.wait_for(ASKS)
            self.assertFalse(self.echoes())
            process.send_signal(number)
            self.end(process, code)
        process = self.start_with_terminal("snapshots")
        self.wait_for(ASKS)
        os.write(self.terminal, b"\x03")  # Ctrl-C
        self.end(process, INTERRUPTED)
        process = self.start_with_terminal("snapshots")
        self.wait_for(ASKS)
        process.send_signal(signal.SIGSTOP)  # which nothing can wait for
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGTSTP)  # orphaned groups do not stop, and are asked again
        self.seen = b""
        self.type(ASKS, b"word\n")
        self.end(process)


class Sources(CommandTest):
    """The command line wins over the environment."""

    def test_an_option_takes_the_place_of_all_variables(self):
        self.write("right", b"word")
        self.write("wrong", b"wort")
        self.assert_done(self.run_command("init", "--store", "store", "--encryption", "password", "--password-file", "right"))

        def run(*words, **variables):
            return self.run_command("snapshots", "--store", "store", *words, env={**os.environ, **variables})

        self.assert_done(run("--password-command", "echo word", CUTPOINT_PASSWORD_FILE="wrong", CUTPOINT_KEY_FILE="wrong"))
        self.assert_done(run("--password-file", "right", CUTPOINT_PASSWORD_FILE="wrong", CUTPOINT_PASSWORD_COMMAND="false"))
        self.assert_done(run(CUTPOINT_PASSWORD_FILE="right", CUTPOINT_KEY_FILE=""))
        self.assert_refused(
            run(CUTPOINT_PASSWORD_FILE="right", CUTPOINT_KEY_FILE="right"),
            "--password-file (CUTPOINT_PASSWORD_FILE) and --key-file (CUTPOINT_KEY_FILE) are set: give one of them",
        )
        self.assert_done(self.run_command("snapshots", "--store", "store", "--password-file", "right",
                                          env={**os.environ, "CUTPOINT_STORE": "elsewhere"}))  # fmt: skip

    def test_a_variable_is_named_where_it_does_not_fit(self):
        run = self.run_command("init", "--store", "store", "--encryption", "none", env={**os.environ, "CUTPOINT_KEY_FILE": "key"})
        self.assert_refused(run, "takes no password and no key file, but given is --key-file (CUTPOINT_KEY_FILE)")
        self.assertFalse((self.folder / "store").exists())

    def test_a_secret_that_cannot_be_read_is_wrong_usage(self):
        self.assert_refused(self.run_command("init", "--store", "store", "--encryption", "password", "--password-file", "none"), "none")


class Locations(CommandTest):
    def test_that_are_no_folders_are_refused(self):
        for place in ("s3:bucket", "s3:https://host/bucket", "sftp:user@host:/path", "rest:http://host/", "b2:bucket:path",
                      "rclone:remote:path", "azure:box:/", "gs:bucket:/", "swift:box:/", "https://host/store", "file:///store"):  # fmt: skip
            for words in (("init", "--encryption", "none"), ("snapshots",), ("backup", ".")):
                self.assert_refused(self.run_command(*words, "--store", place), f"{place}: a store is in a folder", f"./{place}")
        self.assert_refused(self.run_command("copy", "--store", "store", "--from-store", "s3:bucket"), "s3:bucket: a store is in a folder")
        self.assertEqual(os.listdir(self.folder), [])
        for place in ("./s3:bucket", "name:2026", "below/http:"):
            self.assert_done(self.run_command("init", "--encryption", "none", "--store", place))
            self.assert_done(self.run_command("snapshots", "--store", place))

    def test_that_have_no_store_are_told_how_to_make_one(self):
        (self.folder / "empty").mkdir()
        for place in ("empty", "none"):
            self.assert_refused(self.run_command("snapshots", "--store", place), f"{place}: ", "'cutpoint init' makes one")
