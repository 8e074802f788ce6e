#!/usr/bin/env python3
"""Is the report a page that every browser shows as it should: without errors, network or scripts, light and dark, wide and narrow?

Expectation, written before the runs: in headless Chromium no page writes to the console, asks for anything but itself, runs a
script, or is wider than its window, at 1200 and at 390 pixels, in light and in dark; every text has a contrast of 4.5 to its
ground; the iteration and the colour of the rollouts are chosen by keyboard alone; the page of 10,000 iterations has less than
2 MB and is written within 15 s; hostile texts stay texts; TensorBoard reads every number of metrics.jsonl back.

    FOLDER/bin/python3 validation/report/run.py [--run FOLDER] [--out FOLDER]     (FOLDER: what install.sh made)

Trains the short quickstart with two seeds, or takes the run that is named. Writes results.md beside this file and
screenshots to the out folder.
"""
import argparse
import json
import os
import resource
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)
from made_up import folder_of, hostile, stretched  # noqa: E402  (the folders above are known only now)
from playwright.sync_api import sync_playwright  # noqa: E402
from training import PROGRAM, conclude_by, processor, train  # noqa: E402

SCHEMES, WIDTHS = ("light", "dark"), (1200, 390)

# Every text against the first ground behind it that is not transparent. Texts of figures have their colour in `fill`.
CONTRAST = """() => {
  const parse = c => { const m = c.match(/[0-9.]+/g).map(Number); return m.length > 3 && m[3] === 0 ? null : m; };
  const light = c => { const [r, g, b] = c.slice(0, 3).map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
                       return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c) return c; } return [255, 255, 255]; };
  let worst = [99, ''];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n; n = walk.nextNode();) {
    const e = n.parentElement;
    if (!n.data.trim() || !e.checkVisibility() || e.tagName === 'title') continue;
    const style = getComputedStyle(e), a = light(parse(e.closest('svg') ? style.fill : style.color)), b = light(ground(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < worst[0]) worst = [ratio, n.data.trim().slice(0, 40)];
  }
  return worst;
}"""


def report(folders, out, *options):
    """Writes a report; how long it took, and what it printed as JSON."""
    began = time.time()
    done = subprocess.run([PROGRAM, "report", *folders, "--out", out, "--json", *options], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"report {folders} ended with {done.returncode}\n{done.stderr}")
    return time.time() - began, json.loads(done.stdout)


class Visitor:
    """Opens pages and notes all that goes wrong."""

    def __init__(self, browser, shots):
        self.browser, self.shots, self.faults, self.contrast, self.pages = browser, shots, [], (99, ""), 0

    def fault(self, name, text):
        self.faults.append(f"{name}: {text}")

    def open(self, path, name, scheme, width):
        context = self.browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, device_scale_factor=2 if width < 600 else 1)
        page = context.new_page()
        url = "file://" + os.path.abspath(path)
        page.on("console", lambda message: self.fault(name, f"console: {message.text}"))
        page.on("pageerror", lambda error: self.fault(name, f"error: {error}"))
        page.on("request", lambda request: request.url == url or self.fault(name, f"asked for {request.url[:80]}"))
        page.goto(url)
        self.pages += 1
        return page

    def look(self, path, name):
        for scheme in SCHEMES:
            for width in WIDTHS:
                label = f"{name}, {scheme}, {width}"
                page = self.open(path, label, scheme, width)
                wide = page.evaluate("document.documentElement.scrollWidth")
                if wide > width:
                    self.fault(label, f"is {wide} pixels wide")
                ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
                if (ground == "rgb(255, 255, 255)") != (scheme == "light"):
                    self.fault(label, f"has the ground {ground}")
                if page.title() == "taken" or page.evaluate("document.scripts.length") or page.evaluate("document.images.length"):
                    self.fault(label, "was taken over by a text")
                for colour in ("pick-p", "pick-a"):
                    if page.locator("." + colour).count():
                        page.locator("." + colour).first.check()
                    self.contrast = min(self.contrast, tuple(page.evaluate(CONTRAST)))
                page.screenshot(path=os.path.join(self.shots, f"{name}-{scheme}-{width}.png"), full_page=True)
                page.context.close()

    def keyboard(self, path):
        """From the top with the tab key to the choice of iterations, then with arrows through it and through the colours."""
        page = self.open(path, "keyboard", "light", 1200)
        focused = "document.activeElement.className"

        def tab_to(wanted):
            for _ in range(200):
                page.keyboard.press("Tab")
                if wanted in page.evaluate(focused):
                    return True
            return False

        visible = "[...document.querySelectorAll('.iteration')].filter(e => e.checkVisibility()).map(e => e.className)"
        before = page.evaluate(visible)
        if not tab_to("pick-"):
            return self.fault("keyboard", "the tab key does not reach the iterations")
        page.keyboard.press("ArrowLeft")
        after = page.evaluate(visible)
        if len(before) != 1 or len(after) != 1 or before == after:
            self.fault("keyboard", f"an arrow leads from {before} to {after}")
        tab_to("pick-p")
        grounds = []
        for _ in range(3):
            grounds.append(page.evaluate("[...document.querySelectorAll('pre i')].filter(e => e.checkVisibility())"
                                         ".map(e => getComputedStyle(e).backgroundColor).join()"))
            page.keyboard.press("ArrowRight")
        if len(set(grounds)) != 3:
            self.fault("keyboard", "the three colourings look alike")
        page.context.close()


def tensorboard_faults(folder, path):
    """Every number of metrics.jsonl against what TensorBoard's own reader finds."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    events = EventAccumulator(os.path.dirname(path), size_guidance={"scalars": 0, "tensors": 0})
    events.Reload()
    found = {}
    for tag in events.Tags()["scalars"]:
        for event in events.Scalars(tag):
            found[tag.split("/", 1)[1], event.step] = (event.value, event.wall_time)
    faults, numbers = [], 0
    with open(os.path.join(folder, "metrics.jsonl"), encoding="utf-8") as file:
        for row in map(json.loads, file):
            for name, value in row.items():
                if isinstance(value, str) or name in ("schema", "iteration", "time_unix"):
                    continue
                numbers += 1
                single = struct.unpack("f", struct.pack("f", value))[0]
                if found.get((name, row["iteration"])) != (single, row["time_unix"]):
                    faults.append(f"{name} of iteration {row['iteration']}: {value} became {found.get((name, row['iteration']))}")
    if len(found) != numbers:
        faults.append(f"{len(found)} scalars for {numbers} numbers")
    return faults, numbers


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", help="a finished run folder, in place of training two")
    parser.add_argument("--browser", default="/usr/bin/chromium")
    parser.add_argument("--out", default=os.path.join(HERE, "out"))
    arguments = parser.parse_args()
    out = arguments.out
    os.makedirs(out, exist_ok=True)
    real = [arguments.run] if arguments.run else [os.path.join(out, f"seed-{seed}") for seed in (1, 2)]
    if not arguments.run:
        for seed, folder in enumerate(real, 1):
            train("quickstart/short/quickstart.toml", folder, 2, 600, f"run.seed={seed}")
    rows, rollouts = lines_of(os.path.join(real[0], "metrics.jsonl")), lines_of(os.path.join(real[0], "rollouts.jsonl"))
    made = {"one run": real[:1]}
    if len(real) > 1:
        made["two seeds"] = real
    made["1 iteration"] = [folder_of(os.path.join(out, "one"), rows[:2], rollouts[:8], "one iteration")]
    made["200 iterations"] = [folder_of(os.path.join(out, "medium"), stretched(rows, 200, 1), rollouts, "two hundred")]
    made["10,000 iterations"] = [folder_of(os.path.join(out, "long"), stretched(rows, 10_000, 2), rollouts, "ten thousand")]
    made["two runs"] = [made["200 iterations"][0], made["10,000 iterations"][0]]
    made["hostile texts"] = [hostile(os.path.join(out, "hostile"), rows, rollouts)]

    table, verdicts, seconds, size = [], [], {}, {}
    pages = {}
    for name, folders in made.items():
        folder = os.path.join(out, "report-" + name.replace(" ", "-").replace(",", ""))
        seconds[name], told = report(folders, folder)
        pages[name], size[name] = told["page"], os.path.getsize(told["page"]) / 1e6
        table.append(f"| {name} | {size[name]:.2f} | {seconds[name]:.1f} | {len(told['figures'])} | {len(told['alarms'])} |")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=arguments.browser, args=["--no-sandbox"])
        version = browser.version
        visitor = Visitor(browser, out)
        for name, path in pages.items():
            visitor.look(path, name.replace(" ", "-").replace(",", ""))
        visitor.keyboard(pages["one run"])
        browser.close()
    _, told = report(real[:1], os.path.join(out, "report-events"), "--tensorboard")
    scalars, numbers = tensorboard_faults(real[0], told["tensorboard"][0])

    contrast, where = visitor.contrast
    verdicts = [
        (f"{visitor.pages} pages: no word on the console, no request, no script, no page too wide, keyboard alone",
         "none" if not visitor.faults else "; ".join(visitor.faults[:5]), not visitor.faults),
        ("contrast of every text at least 4.5", f"{contrast:.2f} (\"{where}\")", contrast >= 4.5),
        ("10,000 iterations: less than 2 MB within 15 s", f"{size['10,000 iterations']:.2f} MB, {seconds['10,000 iterations']:.1f} s",
         size["10,000 iterations"] < 2 and seconds["10,000 iterations"] < 15),
        (f"TensorBoard reads {numbers} numbers back", "all" if not scalars else "; ".join(scalars[:3]), not scalars),
    ]
    text = ["# The report in a browser", "",
            f"`validation/report/run.py`, {time.strftime('%Y-%m-%d')}, Chromium {version}, {processor()}. The largest peak of memory "
            f"of the program was {peak:.0f} MiB.", "", "| page | MB | seconds to write | figures | alarms |", "|---|---|---|---|---|", *table]
    conclude_by(os.path.join(HERE, "results.md"), text, verdicts)


if __name__ == "__main__":
    main()
