"""A real browser for tests: Chromium over its debugging pipe, no package needed.

`Browser` opens one page, presses keys, reads values, takes pictures and keeps every request that
the page made. Used where Chromium or Chrome is installed; tests skip visibly elsewhere.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, cast

PROGRAM = next(
    (
        found
        for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
        if (found := shutil.which(name))
    ),
    None,
)
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-extensions", "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
_KEYS = {"Tab": 9, "Enter": 13, "Escape": 27}
TIMEOUT_S = 60
# The browser reads commands from descriptor 3 and answers on 4.
_HAND_OVER = (
    "import fcntl, os, sys\n"
    "ends = [fcntl.fcntl(int(n), fcntl.F_DUPFD, 20) for n in sys.argv[1:3]]\n"
    "os.dup2(ends[0], 3)\nos.dup2(ends[1], 4)\n"
    "os.execv(sys.argv[3], sys.argv[3:])\n"
)


class Browser:
    """One headless browser with one page; `requests` holds the address of every request."""

    def __init__(self, folder: Path) -> None:
        assert PROGRAM is not None
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _HAND_OVER, str(to_browser), str(from_browser), PROGRAM,
             *_FLAGS, f"--user-data-dir={folder / 'profile'}"],
            pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)
        self._buffer, self._id, self._session = b"", 0, ""
        self._events: list[dict[str, Any]] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        session, self._session = self._session, ""
        with contextlib.suppress(OSError, AssertionError):
            self.call("Browser.close")
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, 9)
            self._process.wait(15)
        os.close(self._in)
        os.close(self._out)
        self._session = session

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send one command and return its result; events that come before it are kept."""
        self._id += 1
        message: dict[str, Any] = {"id": self._id, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._id:
                assert "error" not in answer, (method, answer["error"])
                return cast(dict[str, Any], answer["result"])

    def _receive(self) -> dict[str, Any]:
        end = time.monotonic() + TIMEOUT_S
        while b"\0" not in self._buffer:
            ready = select.select([self._in], [], [], max(0.0, end - time.monotonic()))[0]
            assert ready, "the browser does not answer"
            data = os.read(self._in, 1 << 20)
            assert data, "the browser has gone"
            self._buffer += data
        raw, _, self._buffer = self._buffer.partition(b"\0")
        message = cast(dict[str, Any], json.loads(raw))
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(message["params"]["request"]["url"])
        if "method" in message:
            self._events.append(message)
        return message

    def open(self, path: Path, *, width: int = 1280, height: int = 900, **media: str) -> None:
        """Open a file at a window size; `media` are CSS media features, with `_` for `-`."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        features = [{"name": k.replace("_", "-"), "value": v} for k, v in media.items()]
        self.call("Emulation.setEmulatedMedia", media="", features=features)
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        self._events.clear()
        self.call("Page.navigate", url=path.as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self._events):
            self._receive()

    def value(self, expression: str) -> Any:
        """Return what a JavaScript expression gives in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """Press and release one key."""
        shared = {"key": key, "code": key, "windowsVirtualKeyCode": _KEYS[key]}
        text = {"text": "\r"} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **shared, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **shared)

    def point_at(self, selector: str) -> None:
        """Move the mouse onto the first element that a selector finds."""
        quoted = json.dumps(selector)
        self.value(f"document.querySelector({quoted}).scrollIntoView({{block:'center'}})")
        box = self.value(
            f"(()=>{{const b=document.querySelector({quoted}).getBoundingClientRect();"
            "return [b.left+b.width/2,b.top+b.height/2]})()"
        )
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """Save what is seen, or the whole page, as PNG."""
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(answer["data"]))

    def printed(self) -> bytes:
        """Return the page as it prints, as PDF."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])
