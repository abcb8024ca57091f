"""A model server on loopback that says what a script tells it, with the faults of real ones.

It speaks the OpenAI chat and the Anthropic messages protocol, streamed if asked to be, and as much
of the OpenAI responses and the Gemini protocol as an agent needs to work. A script is a list of steps, used up in order, or a callable that is given the request's body. All requests
are kept.
"""

from __future__ import annotations

import contextlib
import http.server
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Step:
    """One answer: `text` and `calls` (name, arguments as an object or raw text), or a fault."""

    text: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list)
    finish: str = ""
    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    delay_s: float = 0.0
    tokens: tuple[int, int] | None = (10, 5)


def fail(status: int, message: str, **headers: str) -> Step:
    """Return an HTTP error in the providers' form."""
    body = {"error": {"message": message, "type": "error", "code": None}, "type": "error"}
    return Step(
        status=status, body=body, headers={k.replace("_", "-"): v for k, v in headers.items()}
    )


Brain = Callable[[dict[str, Any]], Step]


class LlmServer:
    """The server; use as a context manager."""

    def __init__(self, script: list[Step] | Brain) -> None:
        self.script = script
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self._lock = threading.Lock()
        self._called = 0  # agents tell calls apart by their ids, over a whole session
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                step = server._next(self.path, body, dict(self.headers))
                is_anthropic = "/messages" in self.path
                server._answer(self, step, is_anthropic, bool(body.get("stream")))

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def openai_url(self) -> str:
        return f"{self.root}/v1"

    def __enter__(self) -> LlmServer:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def prompt(self, index: int) -> str:
        """Return all words of one request's messages."""
        body = self.requests[index]
        said = body.get("messages", body.get("input", body.get("contents")))
        return json.dumps([body.get("system", body.get("instructions")), said], ensure_ascii=False)

    def _next(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> Step:
        with self._lock:
            self.requests.append(body)
            self.headers.append(headers)
            self.paths.append(path)
            if callable(self.script):
                return self.script(body)
            if not self.script:
                return fail(400, "the script is over")
            return self.script.pop(0)

    def _answer(
        self,
        handler: http.server.BaseHTTPRequestHandler,
        step: Step,
        is_anthropic: bool,
        is_streamed: bool,
    ) -> None:
        time.sleep(step.delay_s)
        body, kind = step.body, "application/json"
        if body is None:
            with self._lock:
                first, self._called = self._called, self._called + len(step.calls)
            body = _anthropic(step, first) if is_anthropic else _openai(step, first)
            if ":streamGenerateContent" in handler.path:
                body, kind = _gemini_event(step), "text/event-stream"
            elif handler.path.endswith("/responses"):
                body, kind = _responses_events(step, first), "text/event-stream"
            elif is_streamed:
                body = _anthropic_events(body) if is_anthropic else _openai_events(body)
                kind = "text/event-stream"
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"content-type": kind, "content-length": str(len(data)), **step.headers}
        handler.send_response(step.status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        with contextlib.suppress(ConnectionError):  # the client may have gone
            handler.wfile.write(data[: len(data) // 2] if step.cut else data)
        if step.cut:
            handler.close_connection = True


def _openai_events(body: dict[str, Any]) -> bytes:
    choice = body["choices"][0]
    delta = dict(choice["message"])
    for index, call in enumerate(delta.get("tool_calls", [])):
        call["index"] = index
    head = {key: body[key] for key in ("id", "created", "model")}
    head["object"] = "chat.completion.chunk"
    chunks = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]},
        {**head, "choices": [], "usage": body.get("usage")},
    ]
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()


def _responses_events(step: Step, first: int = 0) -> bytes:
    """A call named "space/name" is one of a tool in a namespace."""
    read, written = step.tokens or (0, 0)
    usage = {
        "input_tokens": read, "input_tokens_details": None, "output_tokens": written,
        "output_tokens_details": None, "total_tokens": read + written,
    }  # fmt: skip
    content = [{"type": "output_text", "text": step.text, "annotations": []}]
    items: list[dict[str, Any]] = [
        {"type": "message", "role": "assistant", "id": "m", "content": content}
    ]
    if step.calls:
        items = []
    for n, (name, given) in enumerate(step.calls, first):
        space, _, own = name.rpartition("/")
        call = {"type": "function_call", "id": f"fc_{n}", "call_id": f"call_{n}", "name": own}
        where = {"namespace": space} if space else {}
        items.append({**call, **where, "arguments": json.dumps(given)})
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": "r"}},
        *({"type": "response.output_item.done", "output_index": n, "item": item}
          for n, item in enumerate(items)),
        {"type": "response.completed", "response": {"id": "r", "usage": usage}},
    ]  # fmt: skip
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events).encode()


def _gemini_event(step: Step) -> bytes:
    read, written = step.tokens or (0, 0)
    parts: list[dict[str, Any]] = [{"text": step.text}] if step.text else []
    parts += [{"functionCall": {"name": name, "args": given}} for name, given in step.calls]
    content = {"role": "model", "parts": parts}
    usage = {
        "promptTokenCount": read, "candidatesTokenCount": written, "totalTokenCount": read + written,
    }  # fmt: skip
    candidate = {"index": 0, "content": content, "finishReason": "STOP"}
    body = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}
    return f"data: {json.dumps(body)}\n\n".encode()


def _anthropic_events(body: dict[str, Any]) -> bytes:
    start = {**body, "content": [], "stop_reason": None}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(body["content"]):
        if block["type"] == "text":
            empty = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    end = {"stop_reason": body["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": end, "usage": body["usage"]})
    events.append({"type": "message_stop"})
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events).encode()


def _openai(step: Step, first: int = 0) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": step.text or None}
    if step.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{n}",
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": given if isinstance(given, str) else json.dumps(given),
                },
            }
            for n, (name, given) in enumerate(step.calls, first)
        ]
    finish = step.finish or ("tool_calls" if step.calls else "stop")
    body: dict[str, Any] = {
        "id": "x", "object": "chat.completion", "created": 1, "model": "scripted",
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
    }  # fmt: skip
    if step.tokens:
        read, written = step.tokens
        body["usage"] = {
            "prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written,
        }  # fmt: skip
    return body


def _anthropic(step: Step, first: int = 0) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if step.text:
        content.append({"type": "text", "text": step.text})
    for n, (name, given) in enumerate(step.calls, first):
        content.append({"type": "tool_use", "id": f"toolu_{n}", "name": name, "input": given})
    finish = {"length": "max_tokens", "": "tool_use" if step.calls else "end_turn"}
    read, written = step.tokens or (0, 0)
    return {
        "id": "m", "type": "message", "role": "assistant", "model": "scripted",
        "content": content, "stop_reason": finish.get(step.finish, step.finish),
        "stop_sequence": None, "usage": {"input_tokens": read, "output_tokens": written},
    }  # fmt: skip
