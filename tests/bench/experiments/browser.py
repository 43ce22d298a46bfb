"""A Chromium without a window, driven over a pair of pipes by its DevTools protocol. Standard library only."""

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-extensions", "--hide-scrollbars", "--remote-debugging-pipe",
]  # fmt: skip
NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 120  # seconds for an answer


def find() -> str | None:
    """The browser of this machine; $CUTPOINT_CHROMIUM where it is set."""
    return os.environ.get("CUTPOINT_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page, with no network. `problems` has what it said on its console and what it asked the network for."""

    def __init__(self, program: str):
        self.folder = tempfile.mkdtemp(prefix="cutpoint-chromium-")
        to_browser, self.sending = os.pipe()
        self.receiving, from_browser = os.pipe()
        moved = 'exec 3<&"$0" 4>&"$1"; shift; exec "$@"'
        command = ["bash", "-c", moved, str(to_browser), str(from_browser), program, *FLAGS, f"--user-data-dir={self.folder}", "about:blank"]
        self.process = subprocess.Popen(command, pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.numbers, self.rest, self.session, self.problems, self.loaded = itertools.count(1), b"", None, [], False
        target = next(t for t in self.ask("Target.getTargets")["targetInfos"] if t["type"] == "page")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
        self.ask("Network.emulateNetworkConditions", **offline)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.sending)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.receiving)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _message(self, until: float) -> dict:
        while b"\0" not in self.rest:
            if not select.select([self.receiving], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            read = os.read(self.receiving, 1 << 20)
            if not read:
                raise RuntimeError("the browser ended")
            self.rest += read
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event: dict) -> None:
        name, what = event.get("method"), event.get("params", {})
        if name == "Page.loadEventFired":
            self.loaded = True
        elif name == "Runtime.exceptionThrown":
            details = what["exceptionDetails"]
            self.problems.append("exception: " + details.get("exception", {}).get("description", details["text"]))
        elif name == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
            self.problems.append(f"console {what['type']}: " + " ".join(str(a.get("value", a.get("description"))) for a in what["args"]))
        elif name == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
            self.problems.append(f"log: {what['entry']['text']}")
        elif name == "Network.requestWillBeSent" and not what["request"]["url"].startswith(("file:", "data:", "blob:", "about:")):
            self.problems.append(f"request off the page: {what['request']['url'][:200]}")

    def ask(self, method: str, **parameters) -> dict:
        """What the browser answers. Raises RuntimeError where it refuses."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters} | ({"sessionId": self.session} if self.session else {})
        os.write(self.sending, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while True:
            answer = self._message(until)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._note(answer)

    def look_at(self, address: str, width: int, height: int, scheme: str) -> None:
        """Opens the page as a window of this width shows it, in `light` or `dark`."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.loaded = False
        self.ask("Page.navigate", url=address)
        until = time.monotonic() + PATIENCE
        while not self.loaded:
            self._note(self._message(until))

    def value(self, script: str):
        """What an expression of JavaScript gives, waited for where it is a promise."""
        answer = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", script))
        return answer["result"].get("value")

    def picture(self, top: float, height: float, width: int) -> bytes:
        """A PNG of a part of the page."""
        clip = {"x": 0, "y": top, "width": width, "height": height, "scale": 1}
        return base64.b64decode(self.ask("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)["data"])
