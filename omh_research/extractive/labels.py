"""The few words of a report that are no quotes, in the topic's language (D1).

Job: fixed labels and the names of generic facets. Refuses free text: everything else in an
extractive report is quoted. Section headings stay English: the gate and others look for them.
Importers: extractive.
"""

from __future__ import annotations

from msgspec import Struct


class Labels(Struct, frozen=True):
    """Fixed words: `page` stands before a page number, `sought` before what was not found.

    `elsewhere` stands in a section whose passages another one quotes already.
    """

    page: str
    sought: str
    nothing_open: str
    nothing_more: str
    elsewhere: str
    undated: str = "n.d."


_LABELS = {
    "en": Labels(
        "page",
        "Sought, not found",
        "None.",
        "No further passages.",
        "What was found is quoted in another section.",
    ),
    "zh": Labels("页", "查找而未找到", "无。", "没有更多段落。", "找到的内容已在其他部分引用。"),
    "ja": Labels(
        "頁",
        "探したが見つからなかったもの",
        "なし。",
        "これ以上の記述はない。",
        "見つかったものは他の節に引用した。",
    ),
    "ko": Labels(
        "쪽",
        "찾았으나 발견하지 못함",
        "없음.",
        "추가 구절 없음.",
        "찾은 내용은 다른 절에 인용되어 있음.",
    ),
    "ar": Labels(
        "صفحة",
        "بُحث عنه ولم يوجد",
        "لا شيء.",
        "لا توجد مقاطع أخرى.",
        "ما عُثر عليه مقتبس في قسم آخر.",
    ),
    "de": Labels(
        "Seite",
        "Gesucht, nicht gefunden",
        "Keine.",
        "Keine weiteren Stellen.",
        "Das Gefundene ist in einem anderen Abschnitt zitiert.",
    ),
    "es": Labels(
        "página",
        "Buscado, no encontrado",
        "Ninguna.",
        "No hay más pasajes.",
        "Lo encontrado se cita en otra sección.",
    ),
    "fr": Labels(
        "page",
        "Cherché, non trouvé",
        "Aucune.",
        "Pas d'autres passages.",
        "Ce qui a été trouvé est cité dans une autre section.",
    ),
    "it": Labels(
        "pagina",
        "Cercato, non trovato",
        "Nessuna.",
        "Nessun altro passo.",
        "Quanto trovato è citato in un'altra sezione.",
    ),
    "pt": Labels(
        "página",
        "Procurado, não encontrado",
        "Nenhuma.",
        "Sem mais trechos.",
        "O que se encontrou é citado noutra secção.",
    ),
    "nl": Labels(
        "pagina",
        "Gezocht, niet gevonden",
        "Geen.",
        "Geen verdere passages.",
        "Het gevondene is in een ander deel geciteerd.",
    ),
    "ru": Labels(
        "страница",
        "Искали, не нашли",
        "Нет.",
        "Других мест нет.",
        "Найденное приведено в другом разделе.",
    ),
    "uk": Labels(
        "сторінка",
        "Шукали, не знайшли",
        "Немає.",
        "Інших місць немає.",
        "Знайдене наведено в іншому розділі.",
    ),
    "hi": Labels(
        "पृष्ठ", "खोजा गया, नहीं मिला", "कोई नहीं।", "और कोई अंश नहीं।", "जो मिला वह दूसरे खंड में उद्धृत है।"
    ),
    "pl": Labels(
        "strona",
        "Szukano, nie znaleziono",
        "Brak.",
        "Brak dalszych fragmentów.",
        "To, co znaleziono, przytoczono w innej sekcji.",
    ),
    "tr": Labels(
        "sayfa",
        "Arandı, bulunamadı",
        "Yok.",
        "Başka bölüm yok.",
        "Bulunanlar başka bir bölümde alıntılandı.",
    ),
    "sv": Labels(
        "sida",
        "Sökt, inte funnet",
        "Inga.",
        "Inga fler avsnitt.",
        "Det som hittades citeras i ett annat avsnitt.",
    ),
}
_FALLBACK = {
    "en": ("Background and definitions", "Evidence and figures", "Causes and effects"),
    "zh": ("背景与定义", "证据与数据", "原因与影响"),
    "ja": ("背景と定義", "根拠と数値", "原因と影響"),
    "ko": ("배경과 정의", "근거와 수치", "원인과 영향"),
    "ar": ("الخلفية والتعريفات", "الأدلة والأرقام", "الأسباب والآثار"),
    "de": ("Hintergrund und Begriffe", "Belege und Zahlen", "Ursachen und Folgen"),
    "es": ("Antecedentes y definiciones", "Pruebas y cifras", "Causas y efectos"),
    "fr": ("Contexte et définitions", "Preuves et chiffres", "Causes et effets"),
    "it": ("Contesto e definizioni", "Prove e cifre", "Cause ed effetti"),
    "pt": ("Contexto e definições", "Provas e números", "Causas e efeitos"),
    "nl": ("Achtergrond en begrippen", "Bewijs en cijfers", "Oorzaken en gevolgen"),
    "ru": ("История и определения", "Данные и цифры", "Причины и последствия"),
    "uk": ("Історія та визначення", "Дані та цифри", "Причини та наслідки"),
    "hi": ("पृष्ठभूमि और परिभाषाएँ", "प्रमाण और आँकड़े", "कारण और प्रभाव"),
    "pl": ("Tło i definicje", "Dowody i liczby", "Przyczyny i skutki"),
    "tr": ("Arka plan ve tanımlar", "Kanıtlar ve rakamlar", "Nedenler ve etkiler"),
    "sv": ("Bakgrund och begrepp", "Belägg och siffror", "Orsaker och följder"),
}


def labels_of(language: str) -> Labels:
    """Return the labels of a language (ISO 639-1); English for one we do not know."""
    return _LABELS.get(language, _LABELS["en"])


def fallback_facets(language: str) -> tuple[str, ...]:
    """Return three generic facets for a topic about which nothing was found."""
    return _FALLBACK.get(language, _FALLBACK["en"])
