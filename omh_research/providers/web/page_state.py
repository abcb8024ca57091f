"""Is this page what was asked for?

Job: tell a read page from "not found" pages sent with status 200, bot walls, login forms and empty
shells, so that none of them is ever called content (spec D6b, issue 5.2). Refuses to call a page
with much text anything but ok: an article about error 404 is an article. Importers: providers.web.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from omh_research.lazy_re import lazy_re

SHORT_CHARS = 1_500
"""A page whose main text is longer is never a mere notice."""

_TINY_CHARS = 400
_NOT_FOUND = lazy_re(
    r"\b(?:error\s*)?404\b|(?:page|file|article|content|document|url|site|product)\s+"
    r"(?:(?:was|is|could|can|cannot|can't)\s*)?(?:not|no longer)\s+(?:be\s+)?"
    r"(?:found|available|exists?)|not\s+found|page\s+(?:does\s?n[o']t|does not)\s+exist|"
    r"nicht\s+gefunden|existiert\s+nicht|page\s+introuvable|n['’]existe\s+(?:pas|plus)|"
    r"no\s+(?:se\s+)?(?:ha\s+)?(?:sido\s+)?encontrad[ao]|no\s+encontramos|no\s+existe|"
    r"não\s+(?:foi\s+)?encontrad[ao]|non\s+(?:è\s+stata\s+)?trovata|niet\s+gevonden|"
    r"nie\s+znaleziono|не\s+найден[ао]?|hittades\s+inte|ikke\s+funnet|"
    r"找不到|不存在|未找到|無法找到|已(?:被)?删除|見つかりません|찾을\s*수\s*없|غير\s+موجود",
    re.IGNORECASE,
)
_BOT_MARKS = (
    "cf-chl-", "cf_chl_", "cf-error-details", "challenge-platform", "/cdn-cgi/challenge",
    "px-captcha", "captcha-delivery.com", "_incapsula_resource", "incapsula incident",
    "awswafcookiedomainlist", "gokuprops", "anomaly-modal", "distil_r_captcha", "ddos-guard",
    "perimeterx", "g-recaptcha", "h-captcha", "hcaptcha.com", "cf-turnstile", "akamai-block",
    "sucuri_cloudproxy", "_pxappid", "kasada",
)  # fmt: skip
_BOT_WORDS = lazy_re(
    r"just a moment|attention required|are you (?:a )?(?:robot|human)|"
    r"verify (?:that )?you(?:'re| are)(?: a)? (?:human|not a (?:ro)?bot)|"
    r"(?:checking|verifying) (?:if the site|your browser|you)|"
    r"unusual (?:traffic|activity)|enable javascript and cookies|security check|"
    r"complete the (?:captcha|security)|press (?:&|and) hold|human verification|"
    r"access (?:to this page has been )?denied|you have been blocked|request blocked|"
    r"pardon our interruption|bot (?:detection|protection)|prove (?:that )?you'?re (?:human|not)|"
    r"人机验证|安全验证|访问验证|请完成验证|ロボットではありません",
    re.IGNORECASE,
)
_LOGIN_WORDS = lazy_re(
    r"\b(?:log|sign)[\s-]?(?:in|on)\b|\blogin\b|anmelden|einloggen|connexion|se connecter|"
    r"iniciar sesi[oó]n|acceder|entrar|accedi|inloggen|zaloguj|войти|авторизац|登录|登入|ログイン|"
    r"로그인|تسجيل الدخول|(?:subscribe|register) to (?:continue|read)|members? only",
    re.IGNORECASE,
)
_LOGIN_PATH = lazy_re(r"/(?:log-?in|sign-?in|sso|auth(?:orize)?|account/login|wp-login)", re.I)
_NEEDS_SCRIPT = lazy_re(
    r"(?:enable|requires?|turn on|activate|without)\s+java\s?script|javascript\s+(?:is\s+)?"
    r"(?:required|disabled|aktivieren)|you need to enable javascript|activ[ae]r? javascript",
    re.IGNORECASE,
)
_PASSWORD = lazy_re(r"<input\b[^<>]{0,300}\btype\s*=\s*[\"']?password", re.IGNORECASE)
_HEADING = lazy_re(r"<h1\b[^<>]{0,300}>([^<]{1,200})", re.IGNORECASE)


class Verdict(NamedTuple):
    """A page state (spec D6b) and why."""

    state: str
    detail: str = ""


def state_of_status(status: int, headers: Mapping[str, str], markup: str) -> Verdict | None:
    """Return the state that an HTTP status settles, None for success (200 and its kin)."""
    if 200 <= status < 300:
        return None
    detail = f"HTTP {status}"
    if status in (404, 410):
        return Verdict("not_found", detail)
    if status in (401, 402, 407):
        return Verdict("login", detail)
    walled = "cf-mitigated" in headers or _is_bot_wall(markup, "", markup[:4000])
    if status in (403, 406, 418, 429, 503) and walled:
        return Verdict("bot_wall", f"{detail} with a bot check")
    if status in (403, 406, 451):
        return Verdict("refused", f"{detail}: the site refuses us")
    return Verdict("error", detail)


def state_of_page(markup: str, title: str, text: str, urls: tuple[str, str]) -> Verdict:
    """Return the state of a page that came with a good status.

    `text` is its main text, `urls` the address asked for and the one that answered.
    """
    bare = text.strip()
    if len(bare) > SHORT_CHARS:
        return Verdict("ok")
    if _is_bot_wall(markup, title, bare):
        return Verdict("bot_wall", "the page is a bot check")
    heading = _HEADING.search(markup)
    names = " ".join((title, heading.group(1) if heading else "", *bare.splitlines()[:1]))[:400]
    if _NOT_FOUND.search(names) or _leads_to_404(urls):
        return Verdict("soft_404", "the page says that it is not there")
    if _is_login(markup, title, bare, urls):
        return Verdict("login", "the page asks for a login")
    if not any(char.isalnum() for char in bare):
        needs = " (it needs JavaScript)" if _NEEDS_SCRIPT.search(markup[:200_000]) else ""
        return Verdict("empty", f"no text in the page{needs}")
    if len(bare) < _TINY_CHARS and _NEEDS_SCRIPT.search(bare):
        return Verdict("empty", "the page needs JavaScript")
    return Verdict("ok")


def _is_bot_wall(markup: str, title: str, text: str) -> bool:
    """A mark alone is not enough (many good pages carry one), nor are words in a long page."""
    says = bool(_BOT_WORDS.search(f"{title}\n{text[:1000]}"))
    if says and len(text) < _TINY_CHARS:
        return True
    sample = markup[:300_000].lower()
    marked = any(mark in sample for mark in _BOT_MARKS)
    return marked and (says or len(text) < 80)


def _is_login(markup: str, title: str, text: str, urls: tuple[str, str]) -> bool:
    asked, answered = urls
    if _LOGIN_PATH.search(urlsplit(answered).path) and not _LOGIN_PATH.search(urlsplit(asked).path):
        return True
    if _LOGIN_WORDS.search(title) and len(title) < 80:
        return True
    has_form = bool(_PASSWORD.search(markup[:500_000]))
    return has_form and (len(text) < _TINY_CHARS or bool(_LOGIN_WORDS.search(text[:300])))


def _leads_to_404(urls: tuple[str, str]) -> bool:
    asked, answered = (urlsplit(url).path.rstrip("/").lower() for url in urls)
    return answered != asked and answered.endswith(("/404", "/404.html", "/not-found", "/notfound"))
