"""Clean runs whose sources count in words: fractions, Han numerals, bounds, denials.

Each fact repeats its source or gives the same number in another form (67 % for two thirds, 1,200
for 一千二百): what the gate must let pass.
"""

from __future__ import annotations

from omh_research.tools.gate import GateInput
from tests.tools.gate_cases import Page, clean_input

ENGLISH = Page(
    "https://valley.example.org/report",
    "Water and power in the valley",
    "Two thirds of the plants in the valley use river water for cooling. Four of the nine districts closed their last coal plant before the winter. "
    "More than 2,300 households took part in the survey of the river valley. The repair of the dam cost 48 million dollars and took three summers. "
    "Half of the turbines were replaced after the flood. At most 120 boats a day may pass the lower lock of the canal. "
    "Two hundred and fifty farms draw water from the canal in dry years.",
    (
        ("Two thirds of the plants in the valley use river water for cooling", "Two thirds of the plants in the valley use river water for cooling"),
        ("About 67% of the plants in the valley use river water for cooling", "Two thirds of the plants in the valley use river water for cooling"),
        ("Four of the nine districts closed their last coal plant before the winter", "Four of the nine districts closed their last coal plant before the winter"),
        ("Of 9 districts, 4 closed their last coal plant before the winter", "Four of the nine districts closed their last coal plant before the winter"),
        ("Over 2,300 households took part in the survey of the river valley", "More than 2,300 households took part in the survey of the river valley"),
        ("The repair of the dam cost $48 million and took three summers", "The repair of the dam cost 48 million dollars and took three summers"),
        ("Half of the turbines were replaced after the flood", "Half of the turbines were replaced after the flood"),
        ("No more than 120 boats a day may pass the lower lock of the canal", "At most 120 boats a day may pass the lower lock of the canal"),
        ("In dry years 250 farms draw water from the canal", "Two hundred and fifty farms draw water from the canal in dry years"),
    ),
)  # fmt: skip
CHINESE = Page(
    "https://shuili.example.cn/baogao",
    "全县水利调查报告",
    "全县三分之一的农田采用滴灌技术。去年共有一千二百户家庭参加了用水调查。水库的蓄水量占设计容量的百分之六十五。六成受访者支持修建新的水渠。"
    "九个乡镇没有完成管网改造工程。工程总投资约3万元，由四家公司共同承担。改造工程尚未影响下游居民的用水。每户月均用水量不超过12吨。"
    "老城区的供水管网建于一九九八年十月。",
    (
        ("全县三分之一的农田采用滴灌技术", "全县三分之一的农田采用滴灌技术"),
        ("去年共有一千二百户家庭参加了用水调查", "去年共有一千二百户家庭参加了用水调查"),
        ("去年共有1,200户家庭参加了用水调查", "去年共有一千二百户家庭参加了用水调查"),
        ("水库的蓄水量占设计容量的百分之六十五", "水库的蓄水量占设计容量的百分之六十五"),
        ("水库的蓄水量占设计容量的65%", "水库的蓄水量占设计容量的百分之六十五"),
        ("六成受访者支持修建新的水渠", "六成受访者支持修建新的水渠"),
        ("60%的受访者支持修建新的水渠", "六成受访者支持修建新的水渠"),
        ("九个乡镇没有完成管网改造工程", "九个乡镇没有完成管网改造工程"),
        ("9个乡镇未完成管网改造工程", "九个乡镇没有完成管网改造工程"),
        ("工程总投资约30,000元，由四家公司共同承担", "工程总投资约3万元，由四家公司共同承担"),
        ("改造工程没有影响下游居民的用水", "改造工程尚未影响下游居民的用水"),
        ("每户月均用水量不超过12吨", "每户月均用水量不超过12吨"),
        ("老城区的供水管网建于1998年10月", "老城区的供水管网建于一九九八年十月"),
    ),
    date="2024年1月20日",
)  # fmt: skip
JAPANESE = Page(
    "https://suido.example.jp/hokoku",
    "県内の水利用に関する報告",
    "県内の農地の三分の一が点滴灌漑を採用している。昨年の調査には千二百世帯が参加した。貯水量は設計容量の六割に達した。"
    "新しい水路の建設費は1億2000万円であった。四つの町では配管の更新が完了していない。住民の多くは料金の値上げに反対しなかった。"
    "下流の工場は一日に三十五トン以上の水を使う。",
    (
        ("県内の農地の三分の一が点滴灌漑を採用している", "県内の農地の三分の一が点滴灌漑を採用している"),
        ("昨年の調査には千二百世帯が参加した", "昨年の調査には千二百世帯が参加した"),
        ("昨年の調査には1,200世帯が参加した", "昨年の調査には千二百世帯が参加した"),
        ("貯水量は設計容量の六割に達した", "貯水量は設計容量の六割に達した"),
        ("貯水量は設計容量の60%に達した", "貯水量は設計容量の六割に達した"),
        ("新しい水路の建設費は1.2億円であった", "新しい水路の建設費は1億2000万円であった"),
        ("四つの町では配管の更新が完了していない", "四つの町では配管の更新が完了していない"),
        ("住民の多くは料金の値上げに反対しなかった", "住民の多くは料金の値上げに反対しなかった"),
        ("住民の多くは料金の値上げに反対しませんでした", "住民の多くは料金の値上げに反対しなかった"),
        ("下流の工場は一日に35トン以上の水を使う", "下流の工場は一日に三十五トン以上の水を使う"),
    ),
    date="2024年2月11日",
)  # fmt: skip
GERMAN = Page(
    "https://tal.example.de/bericht",
    "Wasser und Strom im Tal",
    "Zwei Drittel der Anlagen im Tal nutzen Flusswasser zur Kühlung. Vier der neun Bezirke schlossen ihr letztes Kohlekraftwerk vor dem Winter. "
    "Mehr als 2.300 Haushalte nahmen an der Befragung im Flusstal teil. Die Reparatur der Staumauer kostete 48 Millionen Euro und dauerte drei Sommer. "
    "Die Hälfte der Turbinen wurde nach der Flut ersetzt. Fünfunddreißig Prozent der Bürger zahlten höchstens 120 Euro für ihr Wasser. "
    "Der Betreiber verfügt über 30 Werke am Oberlauf des Flusses.",
    (
        ("Zwei Drittel der Anlagen im Tal nutzen Flusswasser zur Kühlung", "Zwei Drittel der Anlagen im Tal nutzen Flusswasser zur Kühlung"),
        ("Vier der neun Bezirke schlossen ihr letztes Kohlekraftwerk vor dem Winter", "Vier der neun Bezirke schlossen ihr letztes Kohlekraftwerk vor dem Winter"),
        ("Über 2.300 Haushalte nahmen an der Befragung im Flusstal teil", "Mehr als 2.300 Haushalte nahmen an der Befragung im Flusstal teil"),
        ("Die Reparatur der Staumauer kostete 48 Millionen Euro und dauerte drei Sommer", "Die Reparatur der Staumauer kostete 48 Millionen Euro und dauerte drei Sommer"),
        ("Die Hälfte der Turbinen wurde nach der Flut ersetzt", "Die Hälfte der Turbinen wurde nach der Flut ersetzt"),
        ("35 % der Bürger zahlten höchstens 120 Euro für ihr Wasser", "Fünfunddreißig Prozent der Bürger zahlten höchstens 120 Euro für ihr Wasser"),
        ("Der Betreiber hat am Oberlauf des Flusses 30 Werke", "Der Betreiber verfügt über 30 Werke am Oberlauf des Flusses"),
    ),
    date="2024-02-11",
)  # fmt: skip
ARABIC = Page(
    "https://wadi.example.org/taqrir",
    "المياه والطاقة في الوادي",
    "يستخدم ثلثا المزارع في الوادي مياه النهر للري. شارك أكثر من 2300 أسرة في مسح وادي النهر خلال الصيف. بلغت تكلفة إصلاح السد القديم 48 مليون دولار. "
    "أغلقت أربع محطات قديمة أبوابها قبل حلول الشتاء. استبدل نصف التوربينات بعد الفيضان الأخير.",
    (
        ("يستخدم ثلثا المزارع في الوادي مياه النهر للري", "يستخدم ثلثا المزارع في الوادي مياه النهر للري"),
        ("شارك أكثر من 2300 أسرة في مسح وادي النهر خلال الصيف", "شارك أكثر من 2300 أسرة في مسح وادي النهر خلال الصيف"),
        ("بلغت تكلفة إصلاح السد القديم 48 مليون دولار", "بلغت تكلفة إصلاح السد القديم 48 مليون دولار"),
        ("أغلقت أربع محطات قديمة أبوابها قبل حلول الشتاء", "أغلقت أربع محطات قديمة أبوابها قبل حلول الشتاء"),
        ("استبدل نصف التوربينات بعد الفيضان الأخير", "استبدل نصف التوربينات بعد الفيضان الأخير"),
    ),
)  # fmt: skip


def worded_runs() -> dict[str, GateInput]:
    """Return the clean run of each language by name."""
    return {
        "english wording": clean_input("How does the valley use water?", {"Use": [ENGLISH]}),
        "chinese wording": clean_input("全县用水情况如何？", {"用水": [CHINESE]}),
        "japanese wording": clean_input("県内の水利用はどうか", {"利用": [JAPANESE]}),
        "german wording": clean_input("Wie nutzt das Tal Wasser?", {"Nutzung": [GERMAN]}),
        "arabic wording": clean_input("كيف يستخدم الوادي المياه؟", {"الاستخدام": [ARABIC]}),
    }
