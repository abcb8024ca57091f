"""Rules that hold over a whole run: names, no network of our own, life without extras."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.runs import NAMES, STEMS, SUBTOPICS, TOPIC, Run, finding, report, verdict

PACKAGE = Path(__file__).resolve().parents[2] / "omh_research"


def test_findings_files_are_named_by_plan_order_and_never_collide(tmp_path: Path) -> None:
    """E6: kebab, `-2` on collision, the same in a resumed run; `_followup` is reserved."""
    names = ("Moskau", "Москау", "Follow up!")
    script = [
        {"role": "researcher", "subtopic": name, "text": finding(NAMES[0]).replace(NAMES[0], name)}
        for name in names
    ]
    gap = finding(NAMES[0], "what is open").replace(NAMES[0], "Moskau")
    script[0]["text"] = gap
    script.append({**script[1], "subtopic": "_followup"})
    bad = {"role": "researcher", "subtopic": "Moskau", "fault": "fail"}
    run = Run(tmp_path, [bad, *script])
    plan = [arg for name in names for arg in ("--subtopic", f"{name}: {name} a; {name} b")]
    assert run.start(*plan).code == 0
    run.step()
    assert sorted(path.name for path in run.finding_path("x").parent.iterdir()) == [
        "follow-up.md", "moskau-2.md",
    ]  # fmt: skip
    run.set_script(script)
    run.step()
    run.step()
    files = {path.name: path.read_text() for path in run.finding_path("x").parent.iterdir()}
    assert sorted(files) == ["_followup.md", "follow-up.md", "moskau-2.md", "moskau.md"]
    assert 'subtopic: "Москау"' in files["moskau-2.md"] and "SUBTOPIC: Moskau" in files["moskau.md"]


def imported_by(path: Path) -> set[str]:
    """Return the modules a file imports anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


ENGINE = ("engine.py", "start.py", "host_protocol.py", "operate.py", "recovery.py", "retrying.py",
          "commit.py", "outcome.py", "machine.py", "status.py", "phases", "store", "documents")  # fmt: skip
NETWORK = ("omh_research.providers", "omh_research.transport", "omh_research.network", "httpx",
           "socket", "urllib.request", "http.client", "requests", "subprocess")  # fmt: skip


def test_the_engine_never_searches_or_fetches() -> None:
    """E19: no module of the engine imports a provider, a transport or a socket."""
    files = [
        file
        for part in ENGINE
        for file in (
            [PACKAGE / part] if part.endswith(".py") else sorted((PACKAGE / part).glob("*.py"))
        )
    ]
    assert len(files) > 35
    for file in files:
        for module in imported_by(file):
            assert not module.startswith(NETWORK), f"{file.name} imports {module}"


def test_a_run_with_a_host_opens_no_connection(tmp_path: Path) -> None:
    """E19: shown at run time too, by the interpreter's own audit events."""
    run = Run(tmp_path)
    hook = tmp_path / "sitecustomize.py"
    hook.write_text(
        "import sys\n"
        "def no(event, args):\n"
        "    if event in ('socket.connect', 'socket.getaddrinfo', 'socket.sendto'):\n"
        "        sys.stderr.write('CONNECTED\\n'); sys.stderr.flush()\n"
        "sys.addaudithook(no)\n"
    )
    environment = {"PYTHONPATH": str(tmp_path), "OMH_OFFLINE": ""}
    texts = [*(finding(name) for name in NAMES), report(), verdict()]
    ids = [*(f"search-0-{stem}" for stem in STEMS), "synthesize-0-0-report", "verify-0-0-report"]
    started = run.child(
        "start", TOPIC, "--delegate", "host", *SUBTOPICS, "--json", environment=environment
    )
    run.slug = started.json["slug"]
    seen = started.err
    for task, text in zip(ids, texts, strict=True):
        ended = run.child("submit", run.slug, task, "--json", stdin=text, environment=environment)
        assert ended.code == 0, ended
        seen += ended.err + run.child("next", run.slug, environment=environment).err
    assert ended.json["status"] == "confirmed" and "CONNECTED" not in seen
    assert run.child("status", environment=environment).code == 0


def test_without_the_web_extra_html_is_read_and_a_pdf_is_one_line(tmp_path: Path) -> None:
    """E43: the standard library reads html; a pdf says how to install what it needs."""
    run = Run(tmp_path)
    docs = run.root / "docs"
    docs.mkdir()
    page = "<p>Spring tides come twice a month, when Sun and Moon pull along one line.</p>"
    (docs / "a.html").write_text(
        f"<html><head><title>Tides</title></head><body>{page * 3}</body></html>"
    )
    for name, topic in (("b.md", "Neap tides"), ("c.md", "Funnel bays"), ("d.md", "Salt marshes")):
        (docs / name).write_text(
            f"# {topic}\n\n{topic} change how high the water stands at the coast.\n"
        )
    (docs / "e.pdf").write_bytes(b"%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n")
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    hidden = "import sys\nfor name in ('trafilatura', 'pypdfium2'):\n    sys.modules[name] = None\n"
    (blocked / "sitecustomize.py").write_text(hidden)
    ended = run.child(
        "run", "When do spring tides come?", "--corpus", str(docs), "--delegate", "extractive",
        environment={"PYTHONPATH": str(blocked)},
    )  # fmt: skip
    assert ended.code in (0, 3) and "Traceback" not in ended.err, ended
    lines = [line for line in ended.err.splitlines() if "pdf" in line.lower()]
    assert len(lines) >= 1 and any("omh-research[web]" in line for line in lines), ended.err
    reports = list((run.base / "research").glob("*-report.md"))
    assert reports and "Sun and Moon pull along one line" in reports[0].read_text()


@pytest.mark.parametrize("name", ["status", "plan", "report"])
def test_schemas_and_roles_are_printed(name: str, tmp_path: Path) -> None:
    """E3, D5: for programs that ask."""
    run = Run(tmp_path)
    from tests.runs import cli

    listed = cli("schema", "--json").json["schemas"]
    assert {"state", "plan", "finding", "report", "event", "task", "verdict"} <= set(listed)
    ended = cli("schema", name)
    assert ended.code == (2 if name == "status" else 0)
    assert run.cli("roles", "researcher").code == 0
