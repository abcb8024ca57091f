"""The network's figures: providers side by side, one dead, page and PDF reading (Q8, Q9).

Everything is served over loopback. Two things compared are measured in turns within one run.
"""

from __future__ import annotations

import gzip
import http.server
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from omh_research.network.errand import Response
from omh_research.providers.web.reading import read_response
from omh_research.tools import academic
from omh_research.transport import Transport

DATA = Path(os.environ.get("OMH_SHARED_DATA") or Path(__file__).parents[2] / "../shared/data")
DELAYS_S = {"arxiv": 0.7, "openalex": 0.9, "crossref": 1.1, "semanticscholar": 1.5, "pubmed": 0.5}
FEED = (
    '<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>http://arxiv.org/abs/2001.00001</id>'
    "<title>A</title></entry></feed>"
)
ARTICLES = (
    "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>7</PMID><Article><ArticleTitle>P"
    "</ArticleTitle></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>"
)
BODIES = {
    "query": FEED,
    "esearch.fcgi": '{"esearchresult": {"count": "1", "idlist": ["7"]}}',
    "efetch.fcgi": ARTICLES,
    "works": '{"results": [{"id": "https://openalex.org/W1", "title": "O"}]}',
    "search": '{"total": 1, "data": [{"paperId": "s", "title": "S"}]}',
}
CROSSREF = (
    '{"message-type": "work-list", "message": {"items": [{"DOI": "10.5555/a", "title": ["C"]}]}}'
)


LIMIT_S = 1.5


class Slow(http.server.BaseHTTPRequestHandler):
    """Answers `/NAME/...` as that provider, after its delay; one provider may be dead."""

    dead = ""
    scale = 1.0

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        name = path.split("/")[1]
        if name == type(self).dead:
            time.sleep(20)
        else:
            time.sleep(DELAYS_S[name] * type(self).scale)
        body = (CROSSREF if name == "crossref" else BODIES[path.split("/")[-1]]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def providers() -> Iterator[type[Slow]]:
    """Point all five providers at one loopback server, with a state folder of its own."""
    handler = type("Handler", (Slow,), {})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    authority = f"127.0.0.1:{server.server_port}"
    kept = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"OMH_ALLOW_HOSTS": authority, "OMH_STATE_HOME": folder}
        os.environ |= {f"OMH_{n.upper()}_URL": f"http://{authority}/{n}" for n in DELAYS_S}
        try:
            yield handler
        finally:
            os.environ.clear()
            os.environ.update(kept)
            server.shutdown()
            server.server_close()


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def side_by_side(quick: bool) -> list[dict]:
    rounds, scale = (2, 0.6) if quick else (7, 1.0)
    with providers() as handler:
        handler.scale = scale
        transport = Transport()
        academic.search("warm up", ["pubmed"], 5, 20.0, transport=transport)
        ratios = []
        for _ in range(rounds):
            slowest = timed(
                lambda: academic.search("x", ["semanticscholar"], 5, 20.0, transport=transport)
            )
            together = timed(lambda: academic.search("x", None, 5, 20.0, transport=transport))
            ratios.append(together / slowest)
        handler.dead, handler.scale = "crossref", 0.0
        limits = []
        for _ in range(rounds):
            began = time.perf_counter()
            found = academic.search("x", None, 5, LIMIT_S)
            limits.append((time.perf_counter() - began) / LIMIT_S)
            if found["count"] != 4 or len(found["errors"]) != 1:
                raise AssertionError(found["errors"])
    delays = [round(delay * scale, 2) for delay in sorted(DELAYS_S.values())]
    total = sum(delays) + DELAYS_S["pubmed"] * scale
    return [
        {"id": "Q9", "what": "five slow providers together / the slowest alone",
         "ratio": statistics.median(ratios), "target": "<= 1.1", "n": rounds,
         "detail": f"delays {delays} s (one after the other {total:.1f} s)"},
        {"id": "Q9", "what": "one dead provider: time spent / its own time-out",
         "ratio": statistics.median(limits), "target": "<= 1.1", "n": rounds,
         "detail": f"time-out {LIMIT_S} s; the other four answer and are kept"},
    ]  # fmt: skip


def pages(limit: int) -> list[bytes]:
    found = []
    for name in ("article-bench-a", "trafilatura-eval-a"):
        folder = DATA / "html" / name
        found += [gzip.decompress(path.read_bytes()) for path in sorted(folder.glob("*.html.gz"))]
    return found[:: max(1, len(found) // limit)]


def read_ours(body: bytes) -> str:
    url = "http://x.test/a"
    return read_response(
        Response(200, {"content-type": "text/html"}, body, url, url), url
    ).page.text


def page_speed(quick: bool) -> list[dict]:
    bodies = pages(14 if quick else 70)
    if not bodies:
        return [_absent("Q8", "page to Markdown", ">= 1.5")]
    import trafilatura

    def default(body: bytes) -> None:
        trafilatura.extract(body, output_format="markdown", with_metadata=True)

    def bare(body: bytes) -> None:
        trafilatura.extract(body, output_format="markdown")

    spent: dict[str, float] = {"ours": 0.0, "default": 0.0, "bare": 0.0}
    works = {"ours": read_ours, "default": default, "bare": bare}
    for work in works.values():
        work(bodies[0])
    for _ in range(1 if quick else 3):
        for body in bodies:
            for name, work in works.items():
                began = time.process_time()
                work(body)
                spent[name] += time.process_time() - began
    mean_ms = 1000 * spent["ours"] / len(bodies) / (1 if quick else 3)
    return [
        {"id": "Q8", "what": "page to Markdown with metadata: trafilatura's default / ours",
         "ratio": spent["default"] / spent["ours"], "target": ">= 1.5", "n": len(bodies),
         "detail": f"{mean_ms:.1f} ms a page; text, title, author, date, language, state"},
        {"id": "Q8", "what": "the same against trafilatura's default without metadata",
         "ratio": spent["bare"] / spent["ours"], "target": ">= 1", "n": len(bodies),
         "detail": "ours still reads the metadata and the page's state"},
    ]  # fmt: skip


def pdf_speed(quick: bool) -> list[dict]:
    path = DATA / "pdf" / "jabref-thesis-example.pdf"
    if not path.is_file():
        return [_absent("Q8", "PDF to text", "<= 1.1")]
    import pypdfium2

    from omh_research.corpus.pdf_reading import read_pdf

    body = path.read_bytes()

    def bare() -> None:
        document = pypdfium2.PdfDocument(body)
        for page in document:
            page.get_textpage().get_text_range()

    ratios = []
    read_pdf(body, "x")
    for _ in range(5 if quick else 15):
        alone = timed(bare)
        ratios.append(timed(lambda: read_pdf(body, "x")) / alone)
    return [{"id": "Q8", "what": "PDF to text: ours / the bare reader",
             "ratio": statistics.median(ratios), "target": "<= 1.1", "n": len(ratios),
             "detail": path.name}]  # fmt: skip


def door_cost(quick: bool) -> list[dict]:
    import httpx

    rounds = 25 if quick else 200
    with providers() as handler:
        handler.scale = 0.0
        url = os.environ["OMH_CROSSREF_URL"] + "/works"
        transport = Transport()
        transport.get(url)
        ours, bare = [], []
        for _ in range(rounds):
            bare.append(timed(lambda: httpx.get(url, trust_env=False, verify=False)))
            ours.append(timed(lambda: transport.get(url)))
    return [
        {"id": "-", "what": "one guarded request / one bare httpx.get",
         "ratio": statistics.median(ours) / statistics.median(bare), "target": "<= 2",
         "n": rounds, "detail": f"{1000 * statistics.median(ours):.1f} ms on loopback"},
    ]  # fmt: skip


def _absent(row_id: str, what: str, target: str) -> dict:
    return {"id": row_id, "what": what, "ratio": None, "target": target, "n": 0,
            "detail": "the shared data folder is absent"}  # fmt: skip


def run(quick: bool) -> list[dict]:
    """Return the rows of this part."""
    return [*side_by_side(quick), *page_speed(quick), *pdf_speed(quick), *door_cost(quick)]


if __name__ == "__main__":
    print(json.dumps(run("--quick" in sys.argv), indent=1))
