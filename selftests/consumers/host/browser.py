# SPDX-License-Identifier: GPL-2.0-only
"""Controls a page in headless Chromium through the DevTools protocol over two pipes: keys and clicks."""
import base64
import json
import os
import select
import subprocess
import tempfile
import time

KEYS = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35, "Escape": 27,
        "Tab": 9, "Enter": 13}


class Browser:
    def __init__(self, size="1280,900"):
        self.profile = tempfile.TemporaryDirectory()
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()

        def descriptors():
            # Chromium reads descriptor 3 and writes descriptor 4; either may already be an end of one of the pipes.
            read, write = os.dup2(to_browser, 103), os.dup2(from_browser, 104)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
             "--no-first-run", "--disable-extensions", "--disable-background-networking", f"--window-size={size}",
             f"--user-data-dir={self.profile.name}", "about:blank"],
            preexec_fn=descriptors, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env={**os.environ, "HOME": self.profile.name})
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.rest, self.events, self.session = 0, b"", [], None
        target = next(item for item in self.call("Target.getTargets")["targetInfos"] if item["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self):
        os.close(self.output)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        try:
            self.profile.cleanup()
        except OSError:
            pass  # a process that Chromium started still runs

    def message(self, patience):
        deadline = time.monotonic() + patience
        while b"\0" not in self.rest:
            if not select.select([self.input], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            more = os.read(self.input, 1 << 20)
            if not more:
                raise EOFError("the browser has ended")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.output, json.dumps(request).encode() + b"\0")
        while True:
            message = self.message(60)
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self.events.append(message)

    def open(self, url, ready):
        """Waits until the expression `ready` is true."""
        self.call("Page.navigate", url=url)
        self.wait(ready)

    def wait(self, ready):
        """Waits until the expression `ready` is true."""
        deadline = time.monotonic() + 60
        while not self.value(ready):
            if time.monotonic() > deadline:
                raise TimeoutError(f"not true after a minute: {ready}")
            time.sleep(0.05)

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def key(self, key):
        text = {"key": key, "windowsVirtualKeyCode": KEYS.get(key, ord(key[0].upper()))}
        self.call("Input.dispatchKeyEvent", type="keyDown", **text, **({"text": key} if len(key) == 1 else {}),
                  **({"text": "\r"} if key == "Enter" else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **text)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def click(self, selector):
        x, y = self.value(f"(() => {{ const element = document.querySelector({json.dumps(selector)}); "
                          "element.scrollIntoView({ block: 'nearest' }); const r = element.getBoundingClientRect(); "
                          "return [r.x + r.width / 2, r.y + r.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def complaints(self):
        """Console output, exceptions, and the log of the browser itself."""
        self.value("0")
        found = []
        for event in self.events:
            kind, parameters = event.get("method"), event.get("params", {})
            if kind == "Runtime.consoleAPICalled":
                found.append(str([item.get("value") for item in parameters["args"]]))
            elif kind == "Runtime.exceptionThrown":
                found.append(parameters["exceptionDetails"].get("exception", {}).get("description", "exception"))
            elif kind == "Log.entryAdded":
                found.append(parameters["entry"]["text"])
        return found

    def requests(self):
        """Addresses that the page requested."""
        self.value("0")
        return [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]
