"""What the README says is so: its commands exist, its configuration loads, its table is current."""

import re
import subprocess
import sys
from pathlib import Path

from omh_research.cli import COMMANDS
from omh_research.settings import Settings, load_settings

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def test_every_command_it_names_is_there_and_every_command_is_named() -> None:
    named = set(re.findall(r"omh-research ([a-z]+)", README))
    assert named <= set(COMMANDS), named - set(COMMANDS)
    missing = {name for name in COMMANDS if not re.search(rf"\b{name}\b", README)}
    assert missing == set()


def test_its_configuration_is_read_and_holds_the_defaults(tmp_path: Path) -> None:
    block = re.search(r"```yaml\n(# \.omh/config\.yaml.*?)```", README, re.S)
    assert block is not None
    (tmp_path / ".omh").mkdir()
    (tmp_path / ".omh" / "config.yaml").write_text(block[1], "utf-8")
    found = load_settings(str(tmp_path), {})
    assert found == Settings(root=str(tmp_path))
    told = set(re.findall(r"^([a-z_]+):", block[1], re.M))
    assert told == set(Settings.__struct_fields__) - {"root", "offline"}


def test_its_table_of_fabrications_names_the_kinds_of_the_battery() -> None:
    script = ROOT / "scripts" / "make_fabrication_table.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True,
                          check=False, encoding="utf-8")  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_names_every_file_and_exit_code_of_the_contract() -> None:
    for code in ("0", "1", "2", "3", "4", "5", "6", "7", "8", "124", "130"):
        assert re.search(rf"(?<!\d){code} [a-z`]", README.split("## Exit codes")[1][:700]), code
    for part in ("-plan.md", "-findings/", "-report.md", "-evidence/", "logs/research-", ".tasks/"):
        assert part in README
