#!/usr/bin/env python3
"""Opens pages of `kvbench report` in headless Chromium and checks what a reader would see.

usage: report_browser.py [--screenshots FOLDER] PAGE.html...

At 1280 and 390 pixels width, in light and dark: no console message, no exception, every chart has
marks and a text alternative, nothing is wider than the window; nor on paper, where all numbers are
shown. Prints a line for each problem; exit code: 0 none, 1 problems, 77 Chromium is not installed.
"""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
WIDTHS = (1280, 390)
PAPER_WIDTH = 720
SCHEMES = ("light", "dark")

# What the page says about itself; a chart draws its marks at once, without animation.
INSPECT = """(() => {
  const canvases = [...document.querySelectorAll('canvas[data-chart]')];
  const wide = [...document.querySelectorAll('main *')].filter((element) =>
    !element.closest('.scroll') && !element.closest('caption') &&
    element.getBoundingClientRect().right > window.innerWidth + 1).length;
  return {
    charts: canvases.length,
    drawn: Number(document.documentElement.dataset.charts || 0),
    empty: canvases.filter((c) => !(Number(c.dataset.marks) > 0)).map((c) => c.ariaLabel),
    unnamed: canvases.filter((c) => !c.getAttribute('aria-label') ||
      !document.getElementById(c.getAttribute('aria-describedby'))).length,
    blank: canvases.filter((c) => {
      const pixels = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
      return !pixels.some((value) => value !== 0);
    }).length,
    tables: document.querySelectorAll('table').length,
    width: document.documentElement.scrollWidth, window: window.innerWidth, wide,
    height: document.documentElement.scrollHeight
  };
})()"""


class Browser:
  """Speaks the DevTools protocol over a pipe: JSON messages that end with a zero byte."""

  def __init__(self, program, profile):
    to_child, self.out = os.pipe()
    self.inp, from_child = os.pipe()
    script = f'exec "$0" "$@" 3<&{to_child} 4>&{from_child}'
    self.process = subprocess.Popen(
        ["/bin/bash", "-c", script, program, "--headless=new", "--no-sandbox", "--disable-gpu",
         "--no-first-run", "--disable-dev-shm-usage", "--disable-extensions",
         f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"],
        pass_fds=(to_child, from_child), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(to_child)
    os.close(from_child)
    self.buffer = b""
    self.next_id = 0
    self.events = []
    self.session = None

  def _read(self):
    while b"\0" not in self.buffer:
      part = os.read(self.inp, 1 << 16)
      if not part:
        raise RuntimeError("Chromium ended")
      self.buffer += part
    message, self.buffer = self.buffer.split(b"\0", 1)
    return json.loads(message)

  def call(self, method, **params):
    self.next_id += 1
    message = {"id": self.next_id, "method": method, "params": params}
    if self.session:
      message["sessionId"] = self.session
    data = json.dumps(message).encode() + b"\0"
    while data:
      data = data[os.write(self.out, data):]
    while True:
      answer = self._read()
      if answer.get("id") == self.next_id:
        if "error" in answer:
          raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]
      self.events.append(answer)

  def wait_for(self, method):
    while not any(event.get("method") == method for event in self.events):
      self.events.append(self._read())

  def open_tab(self):
    target = self.call("Target.createTarget", url="about:blank")["targetId"]
    self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Log"):
      self.call(f"{domain}.enable")

  def evaluate(self, expression):
    result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
    if "exceptionDetails" in result:
      raise RuntimeError(json.dumps(result["exceptionDetails"]))
    return result["result"].get("value")

  def close(self):
    try:
      self.session = None
      self.call("Browser.close")
    except (RuntimeError, OSError):
      pass
    self.process.wait(timeout=30)


def messages(events):
  """What the console and the log were told."""
  for event in events:
    params = event.get("params", {})
    if event.get("method") == "Runtime.consoleAPICalled":
      yield " ".join(str(arg.get("value", arg.get("description"))) for arg in params["args"])
    elif event.get("method") == "Runtime.exceptionThrown":
      details = params["exceptionDetails"]
      yield details.get("exception", {}).get("description", details["text"])
    elif event.get("method") == "Log.entryAdded":
      yield params["entry"]["text"]


def check(browser, page, width, scheme, screenshot):
  """The problems of one page at one width in one colour scheme."""
  browser.events.clear()
  browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
               mobile=width < 600)
  browser.call("Emulation.setEmulatedMedia",
               features=[{"name": "prefers-color-scheme", "value": scheme}])
  browser.call("Page.navigate", url="file://" + os.path.abspath(page))
  browser.wait_for("Page.loadEventFired")
  seen = browser.evaluate(INSPECT)
  problems = [f"console: {text}" for text in messages(browser.events)]
  if seen["drawn"] != seen["charts"]:
    problems.append(f"{seen['drawn']} of {seen['charts']} charts are drawn")
  problems += [f"a chart without marks: {label}" for label in seen["empty"]]
  if seen["blank"]:
    problems.append(f"{seen['blank']} charts are blank")
  if seen["unnamed"]:
    problems.append(f"{seen['unnamed']} charts have no text alternative")
  if seen["width"] > seen["window"] or seen["wide"]:
    problems.append(f"{seen['wide']} elements are wider than the window "
                    f"({seen['width']} of {seen['window']} pixels)")
  if seen["tables"] == 0:
    problems.append("no table")
  if screenshot:
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=seen["height"],
                 deviceScaleFactor=1, mobile=width < 600)
    shot = browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
    with open(screenshot, "wb") as file:
      file.write(base64.b64decode(shot["data"]))
  return seen, problems


def check_print(browser, page):
  """The problems of a page on paper, as wide as A4 between its margins."""
  browser.events.clear()
  browser.call("Emulation.setDeviceMetricsOverride", width=PAPER_WIDTH, height=1000,
               deviceScaleFactor=1, mobile=False)
  browser.call("Emulation.setEmulatedMedia", media="print",
               features=[{"name": "prefers-color-scheme", "value": "dark"}])
  browser.call("Page.navigate", url="file://" + os.path.abspath(page))
  browser.wait_for("Page.loadEventFired")
  browser.evaluate("window.dispatchEvent(new Event('beforeprint'))")
  seen = browser.evaluate(INSPECT)
  closed = browser.evaluate(
      "document.querySelectorAll('figure details:not([open]):not(.keys)').length")
  browser.call("Emulation.setEmulatedMedia", media="")
  problems = [f"console: {text}" for text in messages(browser.events)]
  if seen["width"] > PAPER_WIDTH:
    problems.append(f"{seen['width']} pixels wide on {PAPER_WIDTH} of paper")
  if closed:
    problems.append(f"the numbers of {closed} charts are not printed")
  return problems


def main():
  arguments = sys.argv[1:]
  folder = None
  if arguments[:1] == ["--screenshots"]:
    folder = arguments[1]
    arguments = arguments[2:]
  program = shutil.which("chromium") or shutil.which("chromium-browser")
  if program is None:
    print("skipped: Chromium is not installed; to look at the report: apt-get install chromium")
    return SKIP
  if folder:
    os.makedirs(folder, exist_ok=True)
  failed = False
  with tempfile.TemporaryDirectory() as profile:
    browser = Browser(program, profile)
    try:
      browser.open_tab()
      for page in arguments:
        name = os.path.splitext(os.path.basename(page))[0]
        for width in WIDTHS:
          for scheme in SCHEMES:
            screenshot = folder and os.path.join(folder, f"{name}-{width}-{scheme}.png")
            seen, problems = check(browser, page, width, scheme, screenshot)
            print(f"{page} at {width} pixels, {scheme}: {seen['charts']} charts, "
                  f"{seen['tables']} tables, {len(problems)} problems")
            for problem in problems:
              print(f"  {problem}")
            failed = failed or bool(problems)
        problems = check_print(browser, page)
        print(f"{page} printed: {len(problems)} problems")
        for problem in problems:
          print(f"  {problem}")
        failed = failed or bool(problems)
    finally:
      browser.close()
  return 1 if failed else 0


if __name__ == "__main__":
  sys.exit(main())
