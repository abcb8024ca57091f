"""Stored replies: durable before anything else, never overwritten (E20, E39)."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omh_research.documents.source import Fetch, HeldText
from omh_research.documents.task import Reply, Usage
from omh_research.errors import DamagedFileError, StorageError, UsageError
from omh_research.project import Project
from omh_research.store.mailbox import Mailbox
from tests.store.fault_os import faulty_disk
from tests.store.parts import SLUG, a_project

TASK = "search-0-moon-and-sun"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return a_project(tmp_path)


@pytest.fixture
def mailbox(project: Project) -> Mailbox:
    return Mailbox(project.layout, SLUG)


def test_a_reply_is_found_again_by_another_process(project: Project, mailbox: Mailbox) -> None:
    """E20: everything of it, under its task id."""
    reply = Reply(
        task_id=TASK,
        text="SUBTOPIC: Moon — 月\n",
        usage=Usage(model_calls=2, cost_usd=None),
        notes=("n",),
        received_at="2026-11-30T12:00:00Z",
        texts=(HeldText("https://a.example", "0" * 64, text="t"),),
        fetches=(Fetch("fetch", "ok", "2026-11-30T12:00:00Z"),),
    )
    assert mailbox.get(TASK) is None
    assert mailbox.put(reply) is True
    assert Mailbox(project.layout, SLUG).get(TASK) == reply
    assert mailbox.count() == 1


def test_a_reply_is_durable_when_put_returns(
    mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E20, E1: two syncs; the first reply of a run also makes its folder durable."""
    with faulty_disk(monkeypatch) as fake:
        mailbox.put(Reply(task_id=TASK, text="a"))
        assert fake.count("fsync") == 3
        mailbox.put(Reply(task_id="search-0-coasts", text="b"))
        assert fake.count("fsync") == 5


def test_the_same_text_twice_is_quiet_another_is_refused(mailbox: Mailbox) -> None:
    """E39, D2."""
    mailbox.put(Reply(task_id=TASK, text="a"))
    assert mailbox.put(Reply(task_id=TASK, text="a", received_at="later")) is False
    for other in (Reply(task_id=TASK, text="b"), Reply(task_id=TASK, status="failed", reason="x")):
        with pytest.raises(UsageError):
            mailbox.put(other)
    held = mailbox.get(TASK)
    assert held is not None and (held.text, held.received_at) == ("a", "")


def test_an_answer_may_follow_a_failure(mailbox: Mailbox) -> None:
    mailbox.put(Reply(task_id=TASK, status="failed", reason="time-out"))
    assert mailbox.put(Reply(task_id=TASK, text="late but good")) is True
    held = mailbox.get(TASK)
    assert held is not None and held.status == "answered"


def test_o5_what_an_ended_call_cost_is_kept_in_the_sum(mailbox: Mailbox) -> None:
    """A call that a cap ended is asked again; both are paid, an unknown price stays unknown."""
    ended = Usage(model_calls=2, input_tokens=70, cost_usd=0.5)
    mailbox.put(Reply(TASK, status="failed", reason="cap", usage=ended, stopped_by="cap"))
    assert mailbox.put(Reply(TASK, text="a", usage=Usage(1, 3, 30, 4, 0.25))) is True
    held = mailbox.get(TASK)
    assert held is not None and (held.text, held.stopped_by) == ("a", "")
    assert held.usage == Usage(3, 3, 100, 4, 0.75)
    other = "search-0-coasts"
    mailbox.put(Reply(other, status="failed", usage=Usage(model_calls=1), stopped_by="cap"))
    mailbox.put(Reply(other, text="b", usage=Usage(model_calls=1, cost_usd=0.25)))
    held = mailbox.get(other)
    assert held is not None and (held.usage.model_calls, held.usage.cost_usd) == (2, None)


@pytest.mark.parametrize("task_id", ["../x", "a/b", "", ".", "a\n", "A", "a b", "x" * 201, "a..b"])
def test_a_task_id_never_leads_out_of_the_folder(
    project: Project, mailbox: Mailbox, task_id: str
) -> None:
    """E7."""
    for act in (lambda: mailbox.get(task_id), lambda: mailbox.put(Reply(task_id=task_id))):
        with pytest.raises(UsageError):
            act()
    assert not Path(project.layout.tasks_dir(SLUG)).exists()


@pytest.mark.parametrize("damage", [b"", b"{}", b"[]", b"\0" * 50, b'{"task_id": 1}', b"{"])
def test_a_damaged_reply_is_said_not_asked_again(
    project: Project, mailbox: Mailbox, damage: bytes
) -> None:
    """E3: a paid-for answer is never silently dropped."""
    mailbox.put(Reply(task_id=TASK, text="a"))
    path = Path(project.layout.reply(SLUG, TASK))
    path.write_bytes(damage)
    with pytest.raises(DamagedFileError) as caught:
        mailbox.get(TASK)
    assert TASK in str(caught.value) and path.read_bytes() == damage


def test_a_reply_under_another_tasks_name_is_damaged(project: Project, mailbox: Mailbox) -> None:
    mailbox.put(Reply(task_id=TASK, text="a"))
    folder = Path(project.layout.tasks_dir(SLUG))
    (folder / f"{TASK}.json").rename(folder / "other.json")
    with pytest.raises(DamagedFileError):
        mailbox.get("other")


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=80))
def test_any_text_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """E20, E22: verbatim, control characters included."""
    mailbox = Mailbox(a_project(tmp_path_factory.mktemp("m")).layout, SLUG)
    mailbox.put(Reply(task_id=TASK, text=text))
    held = mailbox.get(TASK)
    assert held is not None and held.text == text


def test_half_a_character_costs_that_character_only(mailbox: Mailbox) -> None:
    """86 #25: a lone surrogate is no text; the answer around it was paid for and is kept."""
    reply = Reply(task_id=TASK, text="before \ud83d after", reason="\udc00")
    mailbox.put(reply)
    held = mailbox.get(TASK)
    assert held is not None and held.text == "before ? after"
    assert mailbox.put(reply) is False


def test_the_file_is_plain_json(project: Project, mailbox: Mailbox) -> None:
    mailbox.put(Reply(task_id=TASK, text="Küste\u2028"))
    data = Path(project.layout.reply(SLUG, TASK)).read_bytes()
    assert json.loads(data)["text"] == "Küste\u2028"


def test_e20_an_answer_in_hand_fits_when_the_disk_has_filled_up(
    mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ENOSPC while storing: the held space is given back and the answer is stored in it."""
    with mailbox.reserving(), faulty_disk(monkeypatch) as fake:
        fake.fail("write", 1, errno.ENOSPC)
        assert mailbox.put(Reply(TASK, text="paid for")) is True
        assert fake.count("write") == 2
    held = mailbox.get(TASK)
    assert held is not None and held.text == "paid for"


@pytest.mark.parametrize(("code", "tries"), [(errno.EIO, 1), (errno.ENOSPC, 2)])
def test_e20_an_answer_that_cannot_be_kept_is_named(
    project: Project, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch, code: int, tries: int
) -> None:
    """81 section 2: said, never swallowed; the held space is given back but once."""
    with mailbox.reserving(), faulty_disk(monkeypatch) as fake:
        fake.fail("write", 1, code, onwards=True)
        for more in (0, 1):
            with pytest.raises(StorageError, match=f"{TASK} came and cannot be stored"):
                mailbox.put(Reply(TASK, text="paid for"))
            assert fake.count("write") == tries + more
    assert list(Path(project.layout.tasks_dir(SLUG)).iterdir()) == [], "and nothing is left behind"
