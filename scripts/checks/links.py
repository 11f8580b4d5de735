"""Checks that links lead somewhere: those between pages of a built site, and those between files of the repository.

    python scripts/checks/links.py [FOLDER of the site]

In HTML every relative href and src must be a file of the site, and the part behind "#" an id or a name in it. In
Markdown outside docs/ every relative link must be a file; links of docs/ are links of the site. Exit status 1 if
a link is broken.
"""

from __future__ import annotations

import argparse
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[2]
MARKDOWN = ("*.md", "ocp_dyn/**/*.md", "problems/**/*.md", "scripts/*.md")
LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)")
FENCE = re.compile(r"^(```+|~~~+).*?^\1", re.MULTILINE | re.DOTALL)


class Page(HTMLParser):
    """Targets of the links of a page, and the places in it that links may name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[tuple[int, str]] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value is not None:
                self.links.append((self.getpos()[0], value))
            elif value and (name == "id" or (name == "name" and tag == "a")):
                self.places.add(value)


def is_local(link: str) -> bool:
    """Whether a link is a path or a place in the page, not an address or data."""
    parts = urlsplit(link)
    return not parts.scheme and not parts.netloc


def broken_in_site(site: Path) -> list[str]:
    """Broken links of all pages of a built site, as texts "page:line: link: fault"."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        for line, link in page.links:
            if not is_local(link):
                continue
            parts = urlsplit(link)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            fault = ""
            if not target.is_file():
                fault = "no such file"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places | {"top"}:
                fault = "no such place in the page"
            if fault:
                found.append(f"{path.relative_to(site.resolve())}:{line}: {link}: {fault}")
    return found


def broken_in_markdown(root: Path) -> list[str]:
    """Broken relative links of the repository's Markdown files outside docs/, as texts "file: link: no such file"."""
    found = []
    for path in sorted({path for pattern in MARKDOWN for path in root.glob(pattern)}):
        for link in LINK.findall(FENCE.sub("", path.read_text(encoding="utf-8"))):
            if is_local(link) and not (path.parent / unquote(urlsplit(link).path)).exists():
                found.append(f"{path.relative_to(root)}: {link}: no such file")
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", nargs="?", type=Path, metavar="FOLDER", help="a built site; only Markdown without it")
    site = parser.parse_args(arguments).site
    if site and not (site / "index.html").is_file():
        parser.error(f"{site} has no index.html; build the site by scripts/docs")
    broken = broken_in_markdown(ROOT) + (broken_in_site(site) if site else [])
    print(*broken, sep="\n", end="\n" if broken else "")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
