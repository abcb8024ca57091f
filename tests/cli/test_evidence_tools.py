"""The tools as commands: the seed's contract to the letter (spec 20-evidence-tools)."""

from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from omh_research.cli.evidence import tools
from omh_research.tools.caps import DEFAULT_CAPS
from omh_research.tools.comparison import COMPARISON_KEYS

TEXT = "Example runs on macOS and Windows with a desktop installer."
CITED = {
    "sources": [{"id": "s1", "url": "https://example.org/", "title": "Example", "text": TEXT}],
    "claims": [
        {
            "text": "Example runs on macOS and Windows.",
            "citations": [{"source": "s1", "quote": TEXT}],
        }
    ],
}


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)

    def run(*args: str, stdin: Any = None) -> Result:
        text = stdin if isinstance(stdin, (str, bytes)) or stdin is None else json.dumps(stdin)
        return CliRunner().invoke(tools, list(args), input=text)

    return run


def data(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.stderr
    envelope = json.loads(result.stdout_bytes.decode("utf-8"))
    assert list(envelope) == ["ok", "data"]
    assert envelope["ok"] is True
    found = envelope["data"]
    assert isinstance(found, dict)
    return found


def error(result: Result) -> str:
    assert result.exit_code == 1
    assert result.stdout == ""
    envelope = json.loads(result.stderr)
    assert list(envelope) == ["ok", "error"]
    assert envelope["ok"] is False
    reason = envelope["error"]
    assert isinstance(reason, str) and reason
    return reason


def test_every_tool_answers_on_stdout_from_stdin_or_file(call: Any, tmp_path: Path) -> None:
    assert (
        data(call("caps", "--op", "plan", stdin={"subquestions": ["a b", "c d"], "depth": 0}))[
            "allowed"
        ]
        is True
    )
    assert (
        data(call("caps", "--op", "account", stdin={"steps": [{"step": "x", "fetches": 3}]}))[
            "totals"
        ]["fetches"]
        == 3
    )
    kept = data(
        call(
            "compress", "--max-chars", "500", stdin={"query": "macOS", "sources": CITED["sources"]}
        )
    )["kept"]
    assert kept[0]["chunk"] in TEXT
    assert data(call("citations", stdin=CITED))["summary"]["supported"] == 1
    (tmp_path / "in.json").write_text("\ufeff" + json.dumps(CITED), encoding="utf-8")
    assert (
        data(call("citations", "--op", "references", "--input", "in.json"))["references"][0]["ref"]
        == 1
    )


def test_a_lone_double_dash_before_the_options_is_ignored(call: Any) -> None:
    """T25: the way the seed's runner calls."""
    assert data(call("citations", "--", "--op", "verify", stdin=CITED))["summary"]["claims"] == 1


def test_out_is_the_same_envelope_in_a_private_atomic_file(call: Any, tmp_path: Path) -> None:
    result = call(
        "citations", "--out", "out.json", stdin={**CITED, "claims": [{"text": "é 中 \U0001f600"}]}
    )
    data(result)
    raw = (tmp_path / "out.json").read_bytes()
    assert raw == result.stdout_bytes
    assert "中".encode() in raw
    assert sorted(os.listdir(tmp_path)) == ["out.json"]


@pytest.mark.parametrize(
    ("args", "stdin"),
    [
        (["citations"], '{"a":'), (["citations"], "[1]"), (["citations"], ""), (["citations"], b"\xff\xfe{}"),
        (["citations"], "[" * 200_000), (["citations"], {"sources": 1}), (["citations", "--bogus"], "{}"),
        (["citations", "--op", "nope"], "{}"), (["citations", "--input", "absent.json"], None),
        (["citations", "--input", "."], None), (["citations", "--ledger", "absent.jsonl"], CITED),
        (["caps", "--op", "plan"], {"caps": {"bogus": 1}}), (["caps", "--op", "account", "--plan", "p.json"], None),
        (["caps", "--op", "plan", "--plan", "p.json", "--fetch-ledger", "f.jsonl"], None),
        (["compress"], {"sources": "x"}), (["compress", "--max-chars", "many"], "{}"),
        (["academic", "--op", "search"], None), (["academic", "--query", "x", "--limit", "y"], None), (["nosuch"], None),
    ],
)  # fmt: skip
def test_a_failure_is_an_envelope_on_stderr_and_no_file(
    call: Any, tmp_path: Path, args: list[str], stdin: Any
) -> None:
    """Exit 1, `{"ok": false, "error"}` on stderr, no output file."""
    assert "Traceback" not in error(call(*args, "--out", "out.json", stdin=stdin))
    assert not (tmp_path / "out.json").exists()
    error(call(*args, stdin=stdin))


@pytest.mark.parametrize(
    "out", ["../x.json", "a/../x.json", "", ".", "sub/", "absent/x.json", "..\\x.json"]
)
def test_out_refuses_what_leaves_its_place(call: Any, tmp_path: Path, out: str) -> None:
    """T25: `--out` refuses `..`, and nothing is written anywhere."""
    beside = sorted(os.listdir(tmp_path.parent))
    error(call("citations", "--out", out, stdin=CITED))
    assert os.listdir(tmp_path) == [] and sorted(os.listdir(tmp_path.parent)) == beside


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_out_refuses_links_and_special_files(call: Any, tmp_path: Path) -> None:
    """T25: a link at the place, or on the way to it, is left alone."""
    target = tmp_path / "target.json"
    target.write_text("kept", encoding="utf-8")
    (tmp_path / "link.json").symlink_to(target)
    (tmp_path / "real").mkdir()
    (tmp_path / "folder").symlink_to(tmp_path / "real")
    os.mkfifo(tmp_path / "pipe")
    for out in (
        "link.json",
        "folder/x.json",
        "pipe",
        "real",
        str(tmp_path / "link.json"),
        str(tmp_path / "folder" / "x.json"),
    ):
        error(call("citations", "--out", out, stdin=CITED))
    assert target.read_text("utf-8") == "kept"
    assert os.listdir(tmp_path / "real") == []
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_an_old_output_stays_when_a_new_run_fails(call: Any, tmp_path: Path) -> None:
    data(call("citations", "--out", "out.json", stdin=CITED))
    before = (tmp_path / "out.json").read_bytes()
    error(call("citations", "--out", "out.json", stdin="{"))
    assert (tmp_path / "out.json").read_bytes() == before


def test_a_ledger_beside_the_input_fills_gaps_and_resumes(call: Any, tmp_path: Path) -> None:
    """T16: sibling evidence_ledger.jsonl; `--ledger` resumes from its quotes."""
    row = {"schema_version": 1, "source_id": "s1", "published_at": "2020-02-02", "quote": TEXT}
    (tmp_path / "evidence_ledger.jsonl").write_text(json.dumps(row) + '\n{"torn', encoding="utf-8")
    (tmp_path / "in.json").write_text(json.dumps(CITED), encoding="utf-8")
    assert data(call("citations", "--input", "in.json"))["references"][0]["date"] == "2020-02-02"
    bare = {**CITED, "sources": [{"id": "s1", "url": "https://example.org/"}]}
    assert data(call("citations", stdin=bare))["abstain"] is True
    resumed = data(call("citations", "--ledger", "evidence_ledger.jsonl", stdin=bare))
    assert resumed["evidence_rows"][0]["basis"] == "ledger_quotes"
    (tmp_path / "evidence_ledger.jsonl").write_text(
        "{bad}\n" + json.dumps(row) + "\n", encoding="utf-8"
    )
    assert "line 1" in error(call("citations", "--input", "in.json"))


def test_account_reads_a_saved_plan_and_ledger(call: Any, tmp_path: Path) -> None:
    """T4."""
    data(call("caps", "--op", "plan", "--out", "caps_plan.json", stdin={"subquestions": ["a b"]}))
    (tmp_path / "fetch_ledger.jsonl").write_text(
        '{"kind":"fetch","canonical_url":"https://a.org/","status":"ok"}\n{"kind":"search","query":"q"}\n',
        encoding="utf-8",
    )
    found = data(
        call(
            "caps",
            "--op",
            "account",
            "--plan",
            "caps_plan.json",
            "--fetch-ledger",
            "fetch_ledger.jsonl",
        )
    )
    assert found["totals"]["fetches"] == 1


def test_lone_surrogates_come_back_as_escapes(call: Any) -> None:
    result = call("citations", stdin='{"claims":[{"text":"a\\ud800b"}]}')
    assert data(result)["claims"][0]["text"] == "a\ud800b"


def strict(text: str) -> Any:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400"])
def test_numbers_that_are_no_json_never_come_out(call: Any, number: str) -> None:
    """T2: NaN counts as 0; the output is JSON that every reader takes."""
    planned = call(
        "caps", "--op", "plan", stdin=f'{{"subquestions":[{number},"a b"],"depth":{number}}}'
    )
    assert strict(planned.stdout)["data"]["dropped"]["invalid"] == [None]
    assert strict(planned.stdout)["data"]["depth"] == 0
    text = f'{{"query":"a","sources":[{{"id":{number},"title":{number},"text":"a b c"}}]}}'
    kept = strict(call("compress", stdin=text).stdout)["data"]["kept"][0]
    assert (kept["source"], kept["title"]) == (None, None)


@pytest.mark.parametrize(
    "text",
    [
        '{"claims":[],"claims":[{"text":"x"}]}',
        '{"sources":[{"id":"s1","text":"a","text":"b"}]}',
        '{"claims":[{"text":"x","citations":[{"source":"a","source":"b"}]}]}',
    ],
)
def test_a_name_given_twice_is_refused(call: Any, text: str) -> None:
    """81-reliability 3: of two values one would vanish silently."""
    assert "stands twice" in error(call("citations", stdin=text))


def test_errors_name_the_place_and_the_type(call: Any) -> None:
    claims = [{"text": "a", "citations": []}, {"text": "b", "citations": {"source": "s1"}}]
    assert "claims[1].citations must be a list, not dict" in error(
        call("citations", stdin={"claims": claims})
    )
    assert "sources[0].url must be text, not list" in error(
        call("citations", stdin={"sources": [{"url": []}]})
    )


@pytest.mark.skipif(os.name == "nt", reason="no /dev there")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_a_closed_stream_ends_in_words(tmp_path: Path, closed: str) -> None:
    """No traceback, with stdin, stdout or stderr closed by the caller."""
    program = f"{shlex.quote(sys.executable)} -m omh_research tools citations"
    (tmp_path / "in.json").write_text(json.dumps(CITED), encoding="utf-8")
    shell = f"{program} {'' if closed == '<&-' else '--input in.json'} {closed}"
    done = subprocess.run(["sh", "-c", shell], cwd=tmp_path, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    if closed == "<&-":
        assert done.returncode == 1
        assert "stdin is closed" in json.loads(done.stderr)["error"]
    else:
        assert done.returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="no /dev there")
def test_a_pipe_can_be_named(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "omh_research", "tools", "citations", "--input", "/dev/stdin"]
    done = subprocess.run(
        program, input=json.dumps(CITED), cwd=tmp_path, capture_output=True, text=True
    )
    assert json.loads(done.stdout)["data"]["summary"]["supported"] == 1


ODD = st.sampled_from(
    ["null", "true", "0", "-1", "3.7", "1e400", "NaN", "-Infinity", "9" * 400, '""', '"x"', '"\\ud800"', '"\\u0000"',
     '"a\\nb|c"', "[]", "{}", "[[1]]", '{"a":1}', '"2024-05-01"', '"https://e.org/a"', '"10.1234/abc"', '"s1"', '"12"',
     '"The treaty was signed in 1951 by six members."', '"条约于1951年签署。"', '"javascript:alert(1)"']
)  # fmt: skip


def listed(item: Any) -> Any:
    return ODD | st.lists(item | ODD, max_size=3).map(lambda found: f"[{','.join(found)}]")


def named(fields: dict[str, Any]) -> Any:
    return st.fixed_dictionaries({}, optional=fields).map(
        lambda found: "{" + ",".join(f'"{name}":{value}' for name, value in found.items()) + "}"
    )


def of(names: str) -> dict[str, Any]:
    return dict.fromkeys(names.split(), ODD)


SOURCE = named(of("id url title date accessed_at limitations doi text"))
CLAIM = named({**of("text"), "citations": listed(named(of("source url quote doi")))})
ROW = named(of(" ".join(COMPARISON_KEYS)))
CAPS = ODD | named(of(" ".join(DEFAULT_CAPS)))
PAYLOADS = st.one_of(
    st.tuples(
        st.just(("caps", "--op", "plan")),
        named({**of("depth"), "subquestions": listed(ODD), "caps": CAPS}),
    ),
    st.tuples(
        st.just(("caps", "--op", "account")),
        named({"steps": listed(named(of("step fetches model_calls cost_usd"))), "caps": CAPS}),
    ),
    st.tuples(
        st.just(("compress",)),
        named({**of("query max_chars max_per_source min_score"), "sources": listed(SOURCE)}),
    ),
    st.tuples(
        st.sampled_from([("citations",), ("citations", "--op", "references")]),
        named({"sources": listed(SOURCE), "claims": listed(CLAIM), "comparison": listed(ROW)}),
    ),
)


@given(PAYLOADS)
@settings(max_examples=400, deadline=None)
def test_any_payload_ends_in_one_envelope(payload: tuple[tuple[str, ...], str]) -> None:
    """The seed's contract for input of any shape: data on stdout or a reason on stderr."""
    args, text = payload
    result = CliRunner().invoke(tools, list(args), input=text)
    assert isinstance(result.exception, (SystemExit, type(None)))
    if result.exit_code == 0:
        assert strict(result.stdout_bytes.decode("utf-8"))["ok"] is True
    else:
        assert result.exit_code == 1
        assert result.stdout == ""
        assert strict(result.stderr)["error"]
