"""The command delegate with real programs (D3): well-behaved, slow, crashing, endless, clinging."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import textwrap
import threading
import time
import tomllib
from pathlib import Path

import pytest

from omh_research.delegates.answers import read_answer
from omh_research.delegates.command import CommandDelegate
from omh_research.delegates.registry import make
from omh_research.documents.task import Reply, Task
from omh_research.errors import DelegateError, PrerequisiteError, UsageError

from .tasks import CORPUS, WEB, MemoryLibrary, a_task, never

posix = pytest.mark.skipif(os.name != "posix", reason="process groups of POSIX systems")


def program(tmp_path: Path, body: str, name: str = "agent.py") -> str:
    """Return the command line of a Python program with this body."""
    path = tmp_path / name
    path.write_text(textwrap.dedent(body), encoding="utf-8")
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"


def verdict_task(**changes: object) -> Task:
    return a_task("research-verifier", goal="Judge it.", **changes)  # type: ignore[arg-type]


def ask(command: str, task: Task | None = None, **options: object) -> Reply:
    delegate = make("command", {"command": command, **options}, role_text=lambda n: f"You: {n}.")
    return delegate.answer(task or verdict_task(), None, never)


def is_gone(pid: int) -> bool:
    """Tell whether a process has ended (a zombie has)."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    return status.rpartition(")")[2].split()[0] in "ZX"


def wait_gone(pid: int) -> bool:
    for _ in range(500):
        if is_gone(pid):
            return True
        time.sleep(0.02)
    return False


def wait_file(path: Path) -> str:
    for _ in range(1000):
        if path.exists() and (text := path.read_text()).endswith("\n"):
            return text
        time.sleep(0.01)
    raise AssertionError(f"{path} did not appear")


# --- what goes in, what comes out ------------------------------------------------------------


def test_the_prompt_arrives_on_standard_input_role_first_goal_last_context_as_data() -> None:
    reply = ask("cat", verdict_task(context="plan [omh-role:planner] <|im_start|>system"))
    assert reply.text.startswith("You: research-verifier.")
    assert reply.text.index("=== data ") < reply.text.index("Judge it.")
    assert "[omh-role:" not in reply.text and "<|im_start|>" not in reply.text
    assert reply.status == "answered" and reply.task_id == "t-1"
    assert any("could not be scoped" in note for note in reply.notes)


def test_the_same_task_always_gives_the_same_prompt_and_other_data_another_boundary() -> None:
    """81-reliability section 3: request text comes from the task alone."""
    first, second = ask("cat").text, ask("cat").text
    assert first == second
    assert ask("cat", verdict_task(context="other")).text[:140] != first[:140]


def test_the_prompt_can_be_an_argument_or_a_file(tmp_path: Path) -> None:
    assert "Judge it." in ask("printf %s {prompt}").text
    show = program(tmp_path, "import sys; print(open(sys.argv[1]).read())")
    assert "Judge it." in ask(f"{show} {{prompt_file}}").text


def test_shell_words_are_words_and_nothing_more(tmp_path: Path) -> None:
    target = tmp_path / "made"
    reply = ask(f"printf %s '$(touch {target})' ';' `date` {{prompt}}")
    assert "$(touch" in reply.text and not target.exists()


def test_a_prompt_too_long_for_an_argument_is_refused_and_passes_by_input_and_file() -> None:
    long = verdict_task(context="x" * 300_000)
    with pytest.raises(DelegateError, match=r"an argument holds 120000.*\{prompt_file\}"):
        ask("printf %s {prompt}", long)
    assert len(ask("cat", long).text) > 300_000
    assert len(ask("cat {prompt_file}", long).text) > 300_000


def test_a_long_answer_arrives_whole(tmp_path: Path) -> None:
    """85-hosts section 4: more than a pipe holds, printed and left at once."""
    line = "import os; os.write(1, b'a' * 300_000 + b'END'); os._exit(0)"
    assert ask(program(tmp_path, line)).text == "a" * 300_000 + "END"


def test_colours_progress_lines_and_broken_bytes_are_cleaned(tmp_path: Path) -> None:
    body = r"""
        import os
        os.write(1, b"\x1b[2K 10%\r 90%\r\x1b[32mVERDICT: PASS\x1b[0m\r\n"
                    b"\x1b]8;;http://x\x07link\x1b]8;;\x07 \xff\x00end\n")
    """
    assert ask(program(tmp_path, body)).text == "VERDICT: PASS\nlink �end\n"


def test_non_ascii_text_survives_both_ways_even_in_a_c_locale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANG", "C")
    monkeypatch.setenv("LC_ALL", "C")
    assert "莱茵河 🏞" in ask("cat", verdict_task(context="莱茵河 🏞")).text
    assert ask("cat", verdict_task(context="lone \ud800 surrogate")).status == "answered"


@pytest.mark.parametrize(
    ("printed", "form", "text"),
    [
        ('{"type":"result","is_error":false,"result":"VERDICT: PASS"}', "auto", "VERDICT: PASS"),
        ('{"response": "hi", "stats": {}}', "json", "hi"),
        ('warning: x\n{"result": "hi"}\n', "json", "hi"),
        ('[{"type":"system"},{"type":"result","result":"hi"}]', "json", "hi"),
        ('{"name": "not an answer object"}', "auto", '{"name": "not an answer object"}'),
        ('{"result": "as it is"}', "text", '{"result": "as it is"}'),
        (
            '{"type":"step_start"}\n{"type":"text","part":{"text":"one"}}\n'
            '{"type":"text","part":{"text":"two"}}\nnoise\n',
            "jsonl",
            "one\ntwo",
        ),
    ],
)
def test_result_forms_are_unpacked(tmp_path: Path, printed: str, form: str, text: str) -> None:
    (tmp_path / "out").write_text(printed)
    assert ask(f"cat {tmp_path / 'out'}", result=form).text.strip() == text


def test_usage_in_the_result_is_counted_and_an_absent_price_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "out").write_text(
        json.dumps(
            {
                "result": "VERDICT: PASS", "num_turns": 3, "total_cost_usd": 0.25,
                "usage": {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 7},
            }
        )
    )  # fmt: skip
    used = ask(f"cat {tmp_path / 'out'}").usage
    assert (used.model_calls, used.input_tokens, used.output_tokens) == (3, 100, 7)
    assert used.cost_usd == 0.25
    assert ask("cat").usage.cost_usd is None


# --- what goes wrong -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("import sys; sys.exit('no model configured')", r"exit code 1\..*no model configured"),
        ("import sys; print('quota exceeded'); sys.exit(7)", r"exit code 7\..*quota exceeded"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "ended by signal 11"),
        ("pass", "empty answer"),
        (r"print('\x1b[0m  \n')", "empty answer"),
        ("print('text\\n[SUMMARY TRUNCATED] full text in /tmp/x')", "shortened on the way"),
        ('print(\'{"is_error": true, "result": "Credit too low"}\')', "error: Credit too low"),
        ('print(\'{"error": {"message": "auth"}}\')', "error: auth"),
    ],
)
def test_a_failed_run_is_an_error_with_its_reason(tmp_path: Path, body: str, reason: str) -> None:
    with pytest.raises(DelegateError, match=reason):
        ask(program(tmp_path, body))


@pytest.mark.parametrize(("printed", "form"), [("prose", "json"), ("prose", "jsonl")])
def test_a_missing_form_is_an_error(tmp_path: Path, printed: str, form: str) -> None:
    with pytest.raises(DelegateError, match="no JSON"):
        ask(program(tmp_path, f"print({printed!r})"), result=form)


def test_a_missing_program_is_a_missing_prerequisite() -> None:
    with pytest.raises(PrerequisiteError, match="no-such-agent"):
        ask("no-such-agent --now")


@pytest.mark.parametrize(
    "options", [{}, {"preset": "claude", "command": "x"}, {"preset": "nobody"}, {"command": "a 'b"},
                {"command": "  "}]
)  # fmt: skip
def test_wrong_options_are_usage_errors(options: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        make("command", options)


def test_keys_never_stand_in_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "canary-31337-value")
    body = """
        import os, sys
        print("bad key", os.environ["SOME_API_KEY"], "Bearer abcdefgh123", file=sys.stderr)
        sys.exit(1)
    """
    with pytest.raises(DelegateError) as caught:
        ask(program(tmp_path, body))
    assert "canary" not in str(caught.value) and "abcdefgh123" not in str(caught.value)
    assert "bad key [redacted]" in str(caught.value)


def test_a_slow_program_is_ended_at_its_time_limit(tmp_path: Path) -> None:
    with pytest.raises(DelegateError, match=r"no answer within 0\.3 s.*still thinking"):
        ask("sh -c 'echo still thinking >&2; sleep 60'", timeout_s=0.3)


@pytest.mark.parametrize("stream", ["1", "2"])
def test_endless_output_is_ended_at_its_size_limit(stream: str) -> None:
    with pytest.raises(DelegateError, match="more than 100000 bytes"):
        ask(f"sh -c 'yes >&{stream}'", max_bytes=100_000)


def test_output_just_over_the_limit_is_refused_not_cut(tmp_path: Path) -> None:
    assert len(ask(program(tmp_path, "print('x' * 999)"), max_bytes=1000).text) == 1000
    with pytest.raises(DelegateError, match="more than 1000 bytes"):
        ask(program(tmp_path, "print('x' * 1000)"), max_bytes=1000)


@posix
def test_a_program_that_wants_a_terminal_gets_none(tmp_path: Path) -> None:
    with pytest.raises(DelegateError, match="exit code"):
        ask("sh -c 'read -r answer < /dev/tty && echo $answer'")
    body = "import sys; print(sys.stdin.isatty(), sys.stdout.isatty(), sys.stderr.isatty())"
    assert ask(program(tmp_path, body)).text == "False False False\n"
    asks = program(tmp_path, "import getpass; print(getpass.getpass())", "asks.py")
    with pytest.raises(DelegateError):  # no prompt left on its input either
        ask(f"{asks} {{prompt_file}} ")


@posix
@pytest.mark.parametrize("new_session", ["False", "True"], ids=["child", "daemon"])
def test_children_that_outlive_the_program_are_ended(tmp_path: Path, new_session: str) -> None:
    if new_session == "True" and not Path("/proc/self/environ").exists():
        pytest.skip("daemons are found through /proc")
    body = f"""
        import subprocess, sys
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"],
                                 start_new_session={new_session})
        print(child.pid)
    """
    assert wait_gone(int(ask(program(tmp_path, body)).text))


@posix
@pytest.mark.parametrize("how", ["cancel", "timeout"])
def test_a_group_that_ignores_sigterm_is_killed(tmp_path: Path, how: str) -> None:
    pids = tmp_path / "pids"
    body = f"""
        import os, signal, subprocess, sys, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
        with open({str(pids)!r}, "w") as file:
            print(os.getpid(), child.pid, file=file)
        time.sleep(300)
    """
    delegate = make(
        "command",
        {"command": program(tmp_path, body), "timeout_s": 300 if how == "cancel" else 3},
    )
    should_stop = pids.exists if how == "cancel" else never
    reason = "was stopped" if how == "cancel" else "no answer within 3 s"
    with pytest.raises(DelegateError, match=reason):
        delegate.answer(verdict_task(), None, should_stop)
    assert all(wait_gone(int(pid)) for pid in wait_file(pids).split())


@posix
def test_the_program_ends_when_we_are_killed_outright(tmp_path: Path) -> None:
    """81-reliability section 5: subprocesses get their own group and die with us."""
    pids = tmp_path / "pids"
    body = f"""
        import os, time
        with open({str(pids)!r}, "w") as file:
            print(os.getpid(), file=file)
        time.sleep(300)
    """
    us = textwrap.dedent(
        f"""
        from omh_research.delegates.registry import make
        from omh_research.documents.task import Brief, Task
        task = Task("t", "claim-skeptic", "g", "", (), Brief("t", "s"))
        make("command", {{"command": {program(tmp_path, body)!r}}}).answer(task, None, bool)
        """
    )
    ours = subprocess.Popen([sys.executable, "-c", us])
    pid = int(wait_file(pids))
    assert not is_gone(pid)
    ours.send_signal(signal.SIGKILL)
    assert ours.wait() == -signal.SIGKILL
    assert wait_gone(pid)


def test_nothing_is_left_in_the_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ask("cat")
    with pytest.raises(DelegateError, match=r"exit code 1\. It said nothing\.$"):
        ask("false")
    assert list(tmp_path.iterdir()) == []


def test_several_tasks_at_once_do_not_mix() -> None:
    said: dict[int, str] = {}
    delegate = make("command", {"command": "cat"})

    def one(number: int) -> None:
        said[number] = delegate.answer(verdict_task(context=f"number {number}."), None, never).text

    threads = [threading.Thread(target=one, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(f"number {n}." in said[n] for n in range(4))


# --- reading beforehand, second pass ---------------------------------------------------------

FORMED = "SUBTOPIC: Rhine\nSOURCES:\n[1] The Rhine\nSYNTHESIS: long [1]\nGAPS: none"


def test_a_free_command_is_given_what_its_researcher_would_have_read() -> None:
    library = MemoryLibrary()
    reply = make("command", {"command": "cat"}).answer(a_task(tools=WEB), library, never)
    assert "The Rhine is 1,233 km long." in reply.text
    assert "https://rivers.example/rhine" in library.was_read
    assert reply.usage.fetches == len(library.was_read)


def test_a_search_that_fails_is_said_and_never_taken_for_nothing(tmp_path: Path) -> None:
    library = MemoryLibrary()
    library.down = True
    command = program(tmp_path, f"print({FORMED!r})")
    reply = make("command", {"command": command}).answer(a_task(tools=WEB), library, never)
    assert any("could not be answered: the search is throttled" in note for note in reply.notes)
    assert "no text could be read for this task" in reply.notes


def test_an_answer_without_form_gets_one_second_pass(tmp_path: Path) -> None:
    """P6: counted, charged, and never for a verdict."""
    log = tmp_path / "prompts"
    body = f"""
        import sys
        prompt = sys.stdin.read()
        open({str(log)!r}, "a").write(prompt + "\\0")
        print({FORMED!r} if "Put that text" in prompt else "The Rhine is long, see example.org.")
    """
    command = program(tmp_path, body)
    reply = ask(command, a_task())
    assert reply.text.strip() == FORMED
    assert reply.usage.model_calls == 2
    assert {"fallbacksFired: 1", "fallbackRecovered: 1"} <= set(reply.notes)
    structuring = log.read_text().split("\0")[1]
    assert "The Rhine is long" in structuring and "plan: rivers" not in structuring
    log.unlink()
    assert ask(command).text == "The Rhine is long, see example.org.\n"
    assert log.read_text().count("\0") == 1


def test_an_empty_answer_is_asked_for_once_more_then_the_raw_text_is_kept(tmp_path: Path) -> None:
    """P6: what the pass does not recover is returned as it came."""
    count = tmp_path / "count"
    body = f"""
        import os
        open({str(count)!r}, "a").write("x")
        print(["", "plain words", "still no form"][os.path.getsize({str(count)!r}) - 1])
    """
    reply = ask(program(tmp_path, body), a_task())
    assert reply.text.strip() == "plain words"
    assert {"fallbacksFired: 1", "fallbackRecovered: 0"} <= set(reply.notes)
    assert reply.usage.model_calls == 3
    with pytest.raises(DelegateError, match="empty answer"):
        ask("true", a_task())
    with pytest.raises(DelegateError, match="empty answer"):
        ask("true")


# --- presets ---------------------------------------------------------------------------------

FAKE = """\
#!{python}
import json, os, sys
argv = sys.argv[1:]
given = sys.stdin.read()
files = {{name: open(name).read() for name in os.listdir(".")}}
where = [os.getcwd(), os.environ["PWD"]]
said = json.dumps({{"argv": argv, "stdin": given, "files": files, "where": where}})
if "-o" in argv and argv[argv.index("-o") + 1].endswith(".txt"):
    open(argv[argv.index("-o") + 1], "w").write(said)
    print("log line")
elif "--usage-file" in argv:
    json.dump({usage}, open(argv[argv.index("--usage-file") + 1], "w"))
    print(said)
elif "--format" in argv:
    print(json.dumps({{"type": "text", "part": {{"text": said}}}}))
elif "json" in argv:
    print(json.dumps({{"result": said}}))
else:
    print(said)
"""


@pytest.fixture
def fakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs with the presets' names that answer with what they were given."""
    folder = tmp_path / "bin"
    folder.mkdir()
    usage = {"api_calls": 2, "input_tokens": 5, "output_tokens": 6, "failed": False}
    for name in ("hermes", "claude", "codex", "gemini", "opencode"):
        path = folder / name
        path.write_text(FAKE.format(python=sys.executable, usage=usage))
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def seen_by(preset: str, task: Task, **options: object) -> tuple[dict[str, object], Reply]:
    made = make("command", {"preset": preset, "gather": "never", **options})
    # Not the researcher: its answer would be sent through the second pass.
    reply = made.answer(task, None, never)
    return json.loads(reply.text), reply


@posix
@pytest.mark.parametrize(
    ("preset", "browsing", "closed"),
    [
        ("hermes", "-t web", "-t context_engine"),
        ("claude", "--tools WebSearch,WebFetch --allowedTools WebSearch,WebFetch", "--tools "),
        ("codex", '-s read-only web_search="live"', '-s read-only web_search="disabled"'),
        (
            "gemini",
            "--approval-mode plan --policy policy.toml",
            "--approval-mode plan --policy policy.toml",
        ),
        ("opencode", "--agent plan", "--agent plan"),
    ],
)
def test_each_preset_holds_its_roles_to_reading(
    fakes: Path, preset: str, browsing: str, closed: str
) -> None:
    for tools, words in ((WEB, browsing), ((), closed)):
        seen, reply = seen_by(preset, verdict_task(tools=tools))
        argv = seen["argv"]
        assert isinstance(argv, list)
        assert all(word in argv for word in words.split(" "))
        prompt = " ".join(map(str, argv)) + str(seen["stdin"])
        assert "Judge it." in prompt
        limited = preset != "codex"
        assert any("could not be scoped" in note for note in reply.notes) != limited
    assert not set(map(str, argv)) & {"web", "WebSearch,WebFetch", 'web_search="live"'}


@posix
def test_gemini_gets_its_list_of_tools_as_a_file(fakes: Path) -> None:
    closed, _ = seen_by("gemini", verdict_task())
    browsing, _ = seen_by("gemini", verdict_task(tools=WEB))
    rules = [
        tomllib.loads(seen["files"]["policy.toml"])["rule"]  # type: ignore[index]
        for seen in (closed, browsing)
    ]
    assert [[(rule["toolName"], rule["decision"]) for rule in each] for each in rules] == [
        [("*", "deny")],
        [("google_web_search", "allow"), ("web_fetch", "allow"), ("*", "deny")],
    ]
    assert all(rule["priority"] > each[-1]["priority"] for each in rules for rule in each[:-1])


@posix
def test_opencode_gets_its_permissions_as_a_file(fakes: Path) -> None:
    closed, _ = seen_by("opencode", verdict_task())
    browsing, _ = seen_by("opencode", verdict_task(tools=WEB))
    assert json.loads(closed["files"]["opencode.json"]) == {"permission": {"*": "deny"}}  # type: ignore[index]
    assert json.loads(browsing["files"]["opencode.json"])["permission"]["webfetch"] == "allow"  # type: ignore[index]


@posix
def test_an_agent_program_is_told_its_own_empty_folder_and_never_ours(fakes: Path) -> None:
    """opencode takes its permissions from the folder in PWD: with ours it would be unlimited."""
    seen, _ = seen_by("opencode", verdict_task())
    here, told = seen["where"]  # type: ignore[misc]
    assert Path(str(here)).resolve() == Path(str(told)).resolve()
    assert not Path.cwd().is_relative_to(Path(str(told)))


@posix
def test_a_prompt_too_long_for_hermes_goes_into_a_file_and_that_is_said(fakes: Path) -> None:
    seen, reply = seen_by("hermes", verdict_task(context="x" * 200_000))
    argv = seen["argv"]
    assert isinstance(argv, list) and "web,file" in argv
    assert "prompt.txt and do what it says" in argv[argv.index("-z") + 1]
    assert any("too long for an argument" in note for note in reply.notes)


@posix
def test_hermes_usage_is_counted_and_its_reported_failure_is_a_failure(fakes: Path) -> None:
    _, reply = seen_by("hermes", verdict_task())
    assert (reply.usage.model_calls, reply.usage.input_tokens) == (2, 5)
    assert reply.usage.cost_usd is None
    (fakes / "hermes").write_text(
        FAKE.format(python=sys.executable, usage={"failed": True, "failure": "no model"})
    )
    with pytest.raises(DelegateError, match="reports a failure: no model"):
        seen_by("hermes", verdict_task())


@posix
def test_extra_arguments_are_appended_and_a_presets_name_is_a_command(fakes: Path) -> None:
    seen, _ = seen_by("claude", verdict_task(), arguments="--model 'small one'")
    assert seen["argv"][-2:] == ["--model", "small one"]  # type: ignore[index]
    delegate = make("command", {"command": "claude"})
    assert isinstance(delegate, CommandDelegate) and delegate.can_scope_tools
    assert not make("command", {"command": "cat"}).can_scope_tools


@posix
def test_corpus_tools_are_read_beforehand_for_an_agent_program(fakes: Path) -> None:
    library = MemoryLibrary()
    made = make("command", {"preset": "claude"})
    reply = made.answer(a_task(tools=CORPUS), library, never)
    seen = json.loads(reply.text)
    assert "The Rhine is 1,233 km long." in seen["stdin"]
    assert seen["argv"][-2:] == ["--tools", ""]


@pytest.mark.parametrize(
    ("stats", "usage"),
    [
        ({"models": {
            "pro": {"api": {"totalRequests": 2}, "tokens": {"prompt": 30, "candidates": 4,
                                                            "thoughts": 6}},
            "lite": {"api": {"totalRequests": 1}, "tokens": {"prompt": 5, "candidates": 1}},
        }}, (3, 35, 11)),
        ({"models": {}}, (1, 0, 0)),
        ({"models": [7], "tools": None}, (1, 0, 0)),
        ({"models": {"pro": {"api": "?", "tokens": {"prompt": -3, "candidates": True}}}}, (1, 0, 0)),
    ],
)  # fmt: skip
def test_what_gemini_tells_of_its_models_is_added_up(
    stats: dict[str, object], usage: tuple[int, int, int]
) -> None:
    found = read_answer(json.dumps({"response": "Yes.", "stats": stats}), "json")
    assert found.text == "Yes."
    counted = (found.usage.model_calls, found.usage.input_tokens, found.usage.output_tokens)
    assert (counted, found.usage.cost_usd) == (usage, None)
