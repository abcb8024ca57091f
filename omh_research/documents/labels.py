"""Section names of delegate answers, in the languages models use for them.

Job: say which section of the templates (spec D5b, L8) a heading or `LABEL:` line opens. Refuses
to read what stands below it. Importers: documents.
"""

from __future__ import annotations

import unicodedata
from functools import cache

from msgspec import Struct

from omh_research.lazy_re import lazy_re
from omh_research.unicode_form import unicode_form

_NAMES = {
    "subtopic": """
        subtopic|sub-topic|subtopic name|子主题|子课题|子議題|主题|研究子主题|unterthema
        teilthema|sous-thème|sous-theme|subtema|サブトピック|小テーマ|하위 주제
        الموضوع الفرعي|подтема|alt konu
    """,
    "queries_run": """
        queries run|queries|search queries|queries executed|searches run|searches|已执行查询
        执行的查询|查询|搜索查询|检索式|检索词|搜索记录|查詢|suchanfragen|anfragen|requêtes
        requêtes exécutées|consultas|検索クエリ|実行したクエリ|검색어|검색 쿼리|الاستعلامات
        запросы
    """,
    "sources": """
        sources|source list|source register|sources consulted|external sources|sources cited
        all sources
        references|reference list|bibliography|works cited|citations|key sources|来源|來源
        参考来源|參考來源|参考文献|參考文獻|参考资料|參考資料|资料来源|信息来源|引用来源
        数据来源|quellen|quellenverzeichnis|literatur|literaturverzeichnis|références
        bibliographie|fuentes|referencias|fonti|riferimenti|fontes|referências|bronnen|출처
        참고문헌|참고 자료|出典|参照|المصادر|المراجع|источники|литература|kaynaklar|źródła
        מקורות
    """,
    "evidence": """
        evidence|key evidence|evidence lines|证据|證據|佐证|关键证据|belege|nachweise
        preuves|éléments de preuve|evidencia|evidencias|evidenze|根拠|エビデンス|증거|근거
        الأدلة|доказательства
    """,
    "synthesis": """
        synthesis|findings|key findings|synthesis of findings|analysis|综合|綜合|综述
        综合分析|综合结论|研究发现|主要发现|synthese|zusammenfassung|synthèse|síntesis
        sintesi|síntese|統合|総合|まとめ|종합|التوليف|الخلاصة|синтез
    """,
    "gaps": """
        gaps|gap|knowledge gaps|research gaps|open gaps|remaining gaps|coverage gaps
        identified gaps|gaps identified|known gaps|limitations|gaps and limitations|unknowns
        unanswered questions|open questions|缺口|空白|信息缺口|知识缺口|研究空白|研究缺口
        不足|未解决问题|未解決問題|待解决问题|局限|局限性|不确定点|lücken|wissenslücken
        offene fragen|lacunes|questions ouvertes|lagunas|vacíos|brechas|lacune|lacunas
        未解決の点|ギャップ|不足点|격차|공백|미해결 질문|الفجوات|الثغرات|пробелы|boşluklar
        luki
    """,
    "key_points": """
        key points|keypoints|要点|关键要点|關鍵要點
    """,
    "summary": """
        executive summary|summary|abstract|tl;dr|tldr|overview|摘要|执行摘要|執行摘要|概要
        核心摘要|要旨|エグゼクティブサマリー|zusammenfassung|kurzfassung|überblick|résumé
        résumé exécutif|resumen|resumen ejecutivo|sintesi|riepilogo|resumo|resumo executivo
        samenvatting|요약|핵심 요약|ملخص|الملخص|الملخص التنفيذي|ملخص تنفيذي
        краткое содержание|резюме|özet|streszczenie|תקציר
    """,
    "details": """
        detailed findings|findings|key findings|main findings|detailed analysis|analysis
        results|detailed results|详细发现|詳細發現|详细结果|详细分析|研究发现|主要发现|分析
        详细内容|正文|ergebnisse|detaillierte ergebnisse|detailergebnisse
        ergebnisse im detail|befunde|résultats|résultats détaillés|constats détaillés
        hallazgos|hallazgos detallados|resultados|resultados detalhados|risultati
        risultati dettagliati|gedetailleerde bevindingen|詳細な調査結果|詳細|調査結果
        상세 결과|세부 결과|النتائج|النتائج التفصيلية|نتائج مفصلة|подробные результаты
        результаты|ayrıntılı bulgular
    """,
    "takeaways": """
        key takeaways|takeaways|conclusion|conclusions|key conclusions|recommendations|要点
        关键要点|主要结论|关键结论|结论|結論|核心结论|重要结论|kernaussagen
        wichtigste erkenntnisse|fazit|schlussfolgerungen|points clés|conclusions clés
        conclusiones|conclusiones clave|puntos clave|conclusioni|punti chiave|conclusões
        principais conclusões|belangrijkste conclusies|重要なポイント|主なポイント
        핵심 시사점|결론|الاستنتاجات|الاستنتاجات الرئيسية|النقاط الرئيسية|выводы
        ключевые выводы
    """,
    "questions": """
        open questions|unanswered questions|remaining questions|limitations|gaps
        knowledge gaps|未解决问题|未解決問題|待解决问题|开放问题|開放問題|不确定点|局限性
        局限|offene fragen|questions ouvertes|preguntas abiertas|domande aperte
        questões em aberto|open vragen|未解決の問題|残された課題|未解決の課題|미해결 질문
        남은 질문|أسئلة مفتوحة|الأسئلة المفتوحة|открытые вопросы|açık sorular
    """,
}
FINDING_SECTIONS = (
    "subtopic", "queries_run", "sources", "evidence", "synthesis", "gaps", "key_points",
)  # fmt: skip
REPORT_SECTIONS = ("summary", "details", "takeaways", "questions", "sources")

_FOLLOWING = lazy_re(r"[(（:：&/,;—–|]|\s-\s|\s(?:and|und|et|y|e|en|ve|и|و)\s|[与與和及]")
_MARKS_OF_NUMBERS = ".)、:："
_NUMERALS = "ivx一二三四五六七八九十"


def _may_be_numbered(text: str) -> bool:
    """Tell whether a numeral stands before one of its marks."""
    if "§" in text:
        return True
    marks = (at for at, char in enumerate(text) if char in _MARKS_OF_NUMBERS)
    befores = (text[:at].rstrip()[-1:] for at in marks)
    return any(char.isdecimal() or (char and char in _NUMERALS) for char in befores)


_NUMBERING = lazy_re(
    r"(?:(?:\d+|[ivx]+|[一二三四五六七八九十]+)\s*[.)、:：]|§)\s*",
    guard=_may_be_numbered,
)
_MARKUP = " \t*_`#[]【】<>"
_MAX_LABEL_CHARS = 70
_SYMBOLS = ("So", "Sk", "Cf")


class LabelLine(Struct, frozen=True):
    """What a line says as a section opener: folded `label`, heading `level`, `rest` of the line.

    `level` is 0 for a `LABEL:` line and 1..6 for a Markdown heading.
    """

    label: str
    level: int
    rest: str


def fold_label(text: str) -> str:
    """Return a section name in the form of the tables: NFKC, lower case, bare of markup."""
    if text.isascii():
        folded = text.lower().replace("_", " ").replace("^", "").replace("`", "")
    else:
        folded = unicode_form("NFKC", text).casefold().replace("_", " ")
        folded = "".join(char for char in folded if unicodedata.category(char) not in _SYMBOLS)
    folded = _NUMBERING.sub("", folded.strip(_MARKUP + ":."), count=1)
    return " ".join(folded.split()).strip(_MARKUP + ":.")


def match_section(label: str, sections: tuple[str, ...], *, loose: bool) -> str:
    """Return which of `sections` the folded `label` names, or "".

    `loose` also accepts a label that goes on after the name ("gaps and limitations", "sources
    (12)"), as headings do.
    """
    for candidate in (label, _FOLLOWING.split(label, maxsplit=1)[0].strip() if loose else label):
        for section in sections:
            if candidate in _names(section):
                return section
    return ""


def read_label_line(line: str) -> LabelLine | None:
    """Return `line` read as a section opener, or None when it cannot be one.

    A heading, `LABEL:` with or without bold, or a short line that is nothing but a label.
    """
    text = line[:4_000].strip().lstrip("> \t")
    hashes = len(text) - len(text.lstrip("#"))
    level = min(hashes, 6)
    text = text[hashes:].strip()
    if text[:2] in ("- ", "* ", "• ") and (text[2:4] in ("**", "__") or text[-1] in ":："):
        text = text[2:].lstrip()
    colons = [at for at in (text.find(":"), text.find("：")) if at >= 0]
    at = min(colons, default=len(text))
    head, rest = text[:at], text[at + 1 :]
    if not head or len(head) > _MAX_LABEL_CHARS or "|" in head:
        return None
    if rest.lstrip().startswith(("**", "__")) or not rest.strip(_MARKUP):
        rest = rest.lstrip(" \t*_`]】")
    label = fold_label(head)
    return LabelLine(label, level, rest.strip()) if label else None


@cache
def _names(section: str) -> frozenset[str]:
    """Return the names of one section; the tables hold them folded."""
    lines = _NAMES[section].split("\n")
    return frozenset(name.strip() for line in lines for name in line.split("|")) - {""}
