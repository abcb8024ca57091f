"""Boilerplate: lines of a page that belong to the site and not to its subject.

Job: tell cookie notices, menus, sharing and subscription lines from prose, by what they say, in
seven languages (spec T10). Refuses to drop long text: whatever reads like a paragraph stays.
Importers: `omh_research.tools`, delegates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from omh_research.lazy_re import lazy_re
from omh_research.tools.tokens import words

# A sentence longer than this is prose, whatever words it has.
_LONGEST = 240
_NOTICES = (
    r"\b(?:we (?:and our partners )?use cookies|this (?:web)?site uses cookies|"
    r"uses? cookies to|accept (?:all )?cookies|cookie (?:settings|policy|preferences|consent)|"
    r"manage consent|all rights reserved|terms (?:of (?:use|service)|and conditions)|"
    r"privacy policy|enable javascript|javascript (?:is|must be) (?:disabled|enabled|"
    r"required)|your browser (?:does not|doesn't) support|subscribe (?:to|now|for)|"
    r"sign up (?:for|to|now)|sign in|log in|create an account|newsletter|share (?:this|on)|"
    r"follow us|skip to (?:main )?content|click here|read more|load more|back to top|"
    r"advertisement|sponsored content|related (?:articles|posts|stories)|you may also like|"
    r"leave a (?:comment|reply)|download (?:the )?app|site ?map|table of contents|jump to|"
    r"loading\.\.\.|alle rechte vorbehalten|datenschutz(?:erklärung|richtlinie)?|impressum|"
    r"cookies? (?:zu|verwenden)|verwende[nt] cookies|jetzt (?:anmelden|abonnieren)|"
    r"weiterlesen|teilen auf|tous droits réservés|politique de confidentialité|"
    r"mentions légales|utilise des cookies|inscrivez-vous|abonnez-vous|lire la suite|"
    r"todos los derechos reservados|política de (?:privacidad|cookies)|"
    r"utiliza(?:mos)? cookies|suscríbete|leer más|iniciar sesión|tutti i diritti riservati|"
    r"informativa sulla privacy|utilizza (?:i )?cookie|todos os direitos reservados|"
    r"política de privacidade|leia mais)\b|©|\(c\) ?(?:19|20)\d\d|版权所有|版權所有|隐私政策|"
    r"隱私政策|使用条款|登录|注册|订阅|关注我们|点击(?:这里|查看)|相关(?:文章|阅读|推荐)|"
    r"返回顶部|ログイン|会員登録|利用規約|プライバシーポリシー|無断転載|続きを読む|"
    r"все права защищены|политика конфиденциальности|подпишитесь|читать далее|"
    r"جميع الحقوق محفوظة|سياسة الخصوصية|اشترك|تسجيل الدخول"
)
# Plain English text holds one of these words, or it needs no closer look.
_TRIGGERS = (
    "cookie cookies consent rights terms privacy javascript browser subscribe sign log account "
    "newsletter share follow skip click read load back advertisement sponsored related like leave "
    "download map sitemap table jump loading c impressum datenschutz jetzt weiterlesen teilen "
    "inscrivez abonnez lire leer iniciar leia informativa verwenden verwendet utilizza utiliza "
    "utilizamos utilise reservados confidencialidad riservati verwende alle todos tous tutti"
)
_LINK = lazy_re(r"\[[^\]\n]{0,200}\]\([^)\s]{1,500}\)|https?://\S{1,500}")
_MARKED = lazy_re(r"[|>/\]]")
_SEPARATORS = lazy_re(r"[|•·»›/>]")
_ENDS = frozenset(".。!！?？…:：;；।؟।")


@cache
def _notices() -> re.Pattern[str]:
    return re.compile(_NOTICES, re.IGNORECASE)


@cache
def _triggers() -> frozenset[str]:
    return frozenset(_TRIGGERS.split())


def is_boilerplate(text: str, found: Sequence[str] | None = None) -> bool:
    """True for a short piece (a sentence, a line) that is site furniture and not content.

    That is: a notice by its words, a line made of links, or a menu of short words parted by bars.
    `found` are the text's folded words where the caller has them (`tokens.words`). Callers keep a
    piece that matches their query all the same: a question may be about cookies.
    """
    text = text.strip()
    if len(text) > _LONGEST:
        return False
    found = words(text) if found is None else found
    if not (text.isascii() and _triggers().isdisjoint(found)) and _notices().search(text):
        return True
    if text.isascii() and not _MARKED.search(text):
        return False
    bare = _LINK.sub("", text)
    if len(text) >= 20 and len(bare) * 5 < len(text):
        return True
    parts = [part for part in _SEPARATORS.split(text) if part.strip()]
    is_row = text.startswith("|")
    return (
        len(parts) >= 4
        and not is_row
        and text[-1] not in _ENDS
        and max(len(part.split()) for part in parts) <= 3
    )
