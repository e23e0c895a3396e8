"""Chromium without a window: what it makes of a page, as a picture and as measures of what it laid out."""

from __future__ import annotations

import html
import json
import re
import subprocess
from pathlib import Path
from typing import Any

from lab.machine import install_missing_packages

_PROGRAMS = {"chromium": "chromium"}
_LIMIT_S = 60
_FLAGS = [
    "--headless=new",
    "--no-sandbox",  # tests run as root, where its sandbox cannot start
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
]
_DARK = "--blink-settings=preferredColorScheme=0"
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
_MEASURES = re.compile(r'<script type="application/json" id="measures">(.*?)</script>', re.DOTALL)
_SCRIPT = """
<script>
addEventListener("load", () => {
  const box = node => { const r = node.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
  const all = (selector, make) => [...document.querySelectorAll(selector)].map(make);
  const shape = node => ({class: node.getAttribute("class") || "", box: box(node)});
  const measures = {
    width: innerWidth,
    scroll_width: document.documentElement.scrollWidth,
    height: document.documentElement.scrollHeight,
    pictures: all("svg", box),
    texts: all("svg text", node => ({...shape(node), text: node.textContent})),
    rects: all("svg rect", shape),
    lines: all("svg line", shape),
    tables: all("table", node => ({box: box(node), room: node.parentNode.clientWidth, needs: node.scrollWidth})),
    scripts: document.scripts.length,
    fetched: performance.getEntriesByType("resource").length,
  };
  const out = document.createElement("script");
  out.type = "application/json";
  out.id = "measures";
  out.textContent = JSON.stringify(measures).replaceAll("<", "\\\\u003c");
  document.body.append(out);
});
</script>
"""


class HeadlessChromium:
    """One browser run a call, each with a profile of its own."""

    def __init__(self, directory: Path) -> None:
        install_missing_packages(_PROGRAMS)
        self._directory = directory

    def measures(self, page: str, width: int = 1000, height: int = 900) -> dict[str, Any]:
        """What a copy of `page` with a measuring script says about itself: boxes are left, top, right, bottom."""
        copy = self._directory / "measured.html"
        copy.write_text(_POLICY.sub("", page).replace("</body>", _SCRIPT + "</body>"))
        dom = self._run([f"--window-size={width},{height}", "--virtual-time-budget=5000", "--dump-dom", copy.as_uri()])
        found = _MEASURES.search(dom)
        assert found, f"the measuring script wrote nothing; the page ends with: {dom[-500:]}"
        answer: dict[str, Any] = json.loads(html.unescape(found[1]))
        return answer

    def screenshot(self, page: str, picture: Path, *, width: int = 1000, height: int = 900, dark: bool = False) -> Path:
        """A PNG of the page as it is delivered."""
        file = self._directory / "shown.html"
        file.write_text(page)
        picture.parent.mkdir(parents=True, exist_ok=True)
        scheme = [_DARK] if dark else []
        self._run([*scheme, f"--window-size={width},{height}", f"--screenshot={picture}", file.as_uri()])
        assert picture.is_file(), f"Chromium wrote no {picture}"
        return picture

    def _run(self, arguments: list[str]) -> str:
        profile = f"--user-data-dir={self._directory / 'profile'}"
        done = subprocess.run(
            ["chromium", *_FLAGS, profile, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_LIMIT_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")[-2000:]
        return done.stdout.decode(errors="replace")
