"""A report as PDF (spec O6): the HTML export, printed by a browser that is installed.

Job: find Chromium, Chrome or Edge and let it print our own file, offline. A browser sets every
script (Chinese, Arabic, Hindi) right, which no light PDF library does. Refuses to fetch anything.
Importers: export.registry.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile

from omh_research.errors import OmhError, PrerequisiteError
from omh_research.export.html_form import to_html
from omh_research.export.view import ReportView

BROWSERS = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge",
    "microsoft-edge",
)  # fmt: skip
TIMEOUT_S = 120
_FLAGS = (
    "--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-quic",
    "--no-pdf-header-footer", "--host-resolver-rules=MAP * ~NOTFOUND",
)  # fmt: skip


def to_pdf(view: ReportView) -> bytes:
    """Return the PDF's bytes.

    Raises:
        PrerequisiteError: no browser was found. OmhError: the browser failed.
    """
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        raise PrerequisiteError(
            "The pdf export needs Chromium, Chrome or Edge on PATH.",
            hint="Or export to html or docx and print that.",
        )
    with tempfile.TemporaryDirectory(prefix="omh-pdf-") as folder:
        page, made = os.path.join(folder, "report.html"), os.path.join(folder, "report.pdf")
        with open(page, "w", encoding="utf-8") as stream:
            stream.write(to_html(view))
        command = [browser, *_FLAGS, f"--user-data-dir={folder}/profile", f"--print-to-pdf={made}"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.append("--no-sandbox")
        try:
            subprocess.run(
                [*command, "file://" + page],
                check=True,
                timeout=TIMEOUT_S,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            with open(made, "rb") as stream_in:
                return stream_in.read()
        except (OSError, subprocess.SubprocessError) as error:
            raise OmhError(f"The browser made no PDF: {type(error).__name__}.") from error
