#!/usr/bin/env python3
"""Measures the map page in Chromium (docs/benchmarks.md), against a server of its own with demo events:

- a first view with an empty cache: bytes over the wire, and the time to the first marker
- the time from another client's write to the marker on the screen
- the frames a second while the mouse drags a map with 1,000 markers

Usage: Benchmarks/page.py [ROUNDS], EVENTS=100000, HUMON=.build/release/humon. Needs chromium. --url=… measures a server that runs.
"""

import json, os, statistics, sys, time, urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, f"{ROOT}/checks/harness")
from browser import Browser
from sandbox import Failed, run_in_sandbox
from server import HumonServer

EVENTS = int(os.environ.get("EVENTS", 100_000))
MARKERS = 1_000
BERLIN = (52.52, 13.405)
# The times at which the first marker, and the marker of a write, came.
WATCH = """
    window.seen = {};
    new MutationObserver(() => {
        if (document.querySelector("#map .pin, #map .cluster")) window.seen.first ??= performance.now();
        for (const { dataset } of document.querySelectorAll(".pin[data-name^='write ']")) window.seen[dataset.name] ??= Date.now();
    }).observe(document, { childList: true, subtree: true, attributes: true });
"""
LIVE = "document.getElementById('status')?.dataset.state === 'live'"


def spread(values, unit, digits=0):
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{middle:,.{digits}f} {unit} ({low:,.{digits}f} to {high:,.{digits}f}, {len(values)} rounds)"


def ask(url, method, body=None, headers={}):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json", **headers}, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def first_view(browser, url, place):
    browser.page("Network.clearBrowserCache")
    browser.open("about:blank")
    browser.events.clear()
    browser.open(f"{url}/#{place}")
    browser.until(f"window.seen?.first && {LIVE}")
    loaded = [event["params"]["encodedDataLength"] for event in browser.events if event["method"] == "Network.loadingFinished"]
    return browser.evaluate("window.seen.first"), sum(loaded)


def write_to_marker(browser, url, headers, number):
    begin = time.time() * 1000
    lat, lon = BERLIN
    # Each has a marker of its own: pins that would cover one another are one group.
    lat, lon = lat + number // 8 * 0.0005, lon + number % 8 * 0.001
    event = {"name": f"write {number}", "lat": lat, "lon": lon, "started_at": "2037-01-01T20:00:00Z"}
    ask(f"{url}/v1/events", "POST", event, headers)
    browser.until(f"window.seen['write {number}']")
    return browser.evaluate(f"window.seen['write {number}']") - begin


def frames_a_second(browser):
    def mouse(kind, x, y, **more):
        browser.page("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", **more)

    browser.evaluate("""
        window.times = [];
        window.isCounting = true;
        requestAnimationFrame(function next(now) { times.push(now); if (isCounting) requestAnimationFrame(next) })
    """)
    mouse("mousePressed", 500, 400, clickCount=1)
    for step in range(60):
        mouse("mouseMoved", 500 - step, 400 + step, buttons=1)
    frames = browser.evaluate("isCounting = false, times")
    mouse("mouseReleased", 440, 460, clickCount=1)
    return 1000 * (len(frames) - 1) / (frames[-1] - frames[0])


def measure(browser, url, headers, rounds):
    browser.page("Network.enable")
    browser.page("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
    browser.resize(1200, 800)
    for name, place in (("world", "map=2/25/10&when=any"), ("city", "map=11/52.52/13.4&when=any")):
        views = [first_view(browser, url, place) for _ in range(rounds)]
        print(f"first view, {name}: first marker after {spread([time for time, _ in views], 'ms')}, "
              f"{statistics.median(size for _, size in views) / 1000:,.0f} kB")
    browser.open(f"{url}/#map=16/{BERLIN[0]}/{BERLIN[1]}&when=any")
    browser.until(LIVE)
    print(f"from a write to its marker: {spread([write_to_marker(browser, url, headers, n) for n in range(rounds)], 'ms')}")
    # In the ocean, where the demo has no events, 30 pixels from one to the next.
    for number in range(MARKERS):
        lat, lon = -30 + number // 44 * 0.036, -100 + number % 44 * 0.0415
        ask(f"{url}/v1/events", "POST", {"name": "m", "lat": lat, "lon": lon, "started_at": "2037-01-01T20:00:00Z"}, headers)
    browser.resize(1900, 1100)
    browser.open(f"{url}/#map=10/-29.6/-99.1&when=any")
    browser.until(f"document.querySelectorAll('.pin').length >= {MARKERS * 0.99}")
    print(f"dragging {browser.evaluate('document.querySelectorAll(`.pin`).length')} markers: "
          f"{spread([frames_a_second(browser) for _ in range(rounds)], 'frames a second')}")


def main():
    urls = [word.removeprefix("--url=") for word in sys.argv[1:] if word.startswith("--url=")]
    rounds = next((int(word) for word in sys.argv[1:] if word.isdigit()), 20)
    browser = Browser()

    def with_own_server(sandbox):
        server = HumonServer(sandbox, os.environ.get("HUMON", f"{ROOT}/.build/release/humon"))
        server.start()
        sandbox.run([server.humon, "demo", "--events", EVENTS, "--yes"], server.settings)
        token = ask(f"{server.url}/v1/users", "POST", headers={"tb-app-secret": server.secret})["device_token"]
        measure(browser, server.url, {"tb-device-token": token}, rounds)

    try:
        if not urls:
            return run_in_sandbox("page", False, with_own_server)
        # The server takes this request for one of the page, by its Host and Origin.
        request = urllib.request.Request(f"{urls[0]}/session", method="POST", headers={"origin": urls[0]})
        with urllib.request.urlopen(request) as answer:
            cookie = answer.headers["set-cookie"].split(";")[0]
        measure(browser, urls[0], {"cookie": cookie, "origin": urls[0]}, rounds)
    except Failed as failure:
        print(f"FAILED: {failure}")
        return 1
    finally:
        browser.stop()


sys.exit(main())
