"""Units and magnitudes, as tables.

Job: the words after and before a number and the one name each stands for. Refuses to convert
between units. Importers: tools.
"""

from __future__ import annotations

_UNITS = """
%: % percent percents pct prozent procent процент процента процентов percento porcento
‰: ‰ permille promille
pp: pp percentage-points
°c: °c ℃ celsius 摄氏度 度
°f: °f ℉ fahrenheit 华氏度
°: ° degree degrees grad градус градусов
kelvin: K kelvin
kg: kg kgs kilogram kilograms kilo kilos kilogramm kilogramme kilogramos 千克 公斤 кг
g: g gram grams gramm gramme grammes gramos grammi 克 г
mg: mg milligram milligrams milligramm milligrammes miligramos 毫克 мг
µg: µg μg ug mcg microgram micrograms mikrogramm 微克 мкг
t: t tonne tonnes ton tons tonnen tonnellate toneladas 吨 噸 トン тонн тонны
lb: lb lbs pound pounds pfund
oz: oz ounce ounces
km: km kms kilometre kilometres kilometer kilometers kilomètres kilómetros 公里 千米 км
m: m metre metres meter meters mètre mètres metros metri 米
cm: cm centimetre centimetres centimeter centimeters zentimeter 厘米 см
mm: mm millimetre millimetres millimeter millimeters 毫米 мм
µm: µm μm um micrometre micrometres micrometer micrometers micron microns 微米 мкм
nm: nm nanometre nanometres nanometer nanometers 纳米 奈米 нм
mile: mile miles mi meile meilen 英里
ft: ft foot feet 英尺
inch: inch inches zoll 英寸
ha: ha hectare hectares hektar 公顷
acre: acre acres 英亩
km²: km² km2 km^2 平方公里
m²: m² m2 m^2 sqm 平方米
m³: m³ m3 m^3 立方米
l: l L litre litres liter liters 升
ml: ml mL millilitre millilitres milliliter milliliters 毫升
wh: Wh
kwh: kwh kilowatt-hour kilowatt-hours kilowattstunden kilowattstunde 千瓦时 度电
mwh: mwh megawatt-hours 兆瓦时
gwh: gwh gigawatt-hours
twh: twh terawatt-hours 太瓦时
w: W watt watts 瓦
kw: kw kilowatt kilowatts 千瓦
mw: MW megawatt megawatts 兆瓦
milliw: mW milliwatt milliwatts
gw: gw gigawatt gigawatts 吉瓦
tw: TW terawatt terawatts
v: V volt volts 伏
kv: kV
a: A amp amps ampere amperes
mah: mAh
hz: Hz hertz 赫兹
khz: kHz
mhz: MHz
ghz: GHz
ms: ms millisecond milliseconds millisekunden 毫秒
µs: µs μs microsecond microseconds 微秒
ns: ns nanosecond nanoseconds
s: s sec secs second seconds sekunde sekunden seconde secondes segundos secondi 秒 секунд
min: min mins minute minutes minuten minutos minuti 分钟 分鐘 минут
h: h hr hrs hour hours 시간 stunde stunden heure heures hora horas ore 小时 小時 時間 часов часа
day: day days d tag tage tagen jour jours día días dia dias giorni giorno 天 日 дней дня
week: week weeks wk wks woche wochen semaine semaines semana semanas settimane 周 週 星期 недель
month: month months monat monate monaten mois mes meses mese mesi 个月 個月 月 месяцев
month: месяца 개월
quarter: quarter quarters quartal quartale trimestre 季度
year: year years yr yrs yo jahr jahre jahren ans année années año años anno anni anos 年 岁 歳 лет
year: года 년
decade: decade decades jahrzehnt jahrzehnte décennies décadas 十年
century: century centuries jahrhundert jahrhunderte siècle siècles siglo siglos 世纪
byte: byte bytes 字节
kb: kb KB kilobyte kilobytes
mb: MB megabyte megabytes
gb: gb GB gigabyte gigabytes
tb: TB terabyte terabytes
pb: PB petabyte petabytes
bit: bit bits 比特
mbps: Mbps Mbit/s
gbps: Gbps Gbit/s
px: px pixel pixels
ppm: ppm
ppb: ppb
mol: mol mole moles 摩尔
mmol: mmol
nmol: nmol
mmolar: mM
µmolar: µM μM uM
nmolar: nM
j: J joule joules 焦耳
kj: kJ
mj: MJ
kcal: kcal kilocalorie kilocalories calories 千卡 大卡
cal: cal
pa: Pa pascal 帕
kpa: kPa
mpa: MPa
bar: bar
mmhg: mmHg
atm: atm
n: N newton newtons
km/h: km/h kmh kph
mph: mph
m/s: m/s
db: dB decibel decibels 分贝
iu: IU
rpm: rpm
fps: fps
x: x × fold -fold times 倍 mal fois veces volte
usd: $ us$ usd us-dollar us-dollars dollar dollars 美元 美金 dólares доллар долларов
aud: a$ aud
cad: c$ cad
hkd: hk$ hkd 港元
twd: nt$ twd 新台币
eur: € eur euro euros 欧元 歐元 ユーロ евро
gbp: £ gbp sterling 英镑
¥: ¥
cny: cny rmb yuan renminbi 元 人民币 块
jpy: jpy yen 日元 円
inr: ₹ inr rupee rupees 卢比
krw: ₩ krw won 韩元 원
chf: chf franken francs
rub: rub rouble roubles ruble rubles рублей рубля
brl: brl reais
"""
_CASED = """
    K L W MW mW TW V kV A mAh Hz kHz MHz GHz KB MB GB TB PB Mbps Gbps mM µM μM uM nM J kJ MJ Pa kPa
    MPa N IU Wh dB mmHg
"""
# The power of ten of each word.
_MAGNITUDES = """
2: hundred hundert cent cien 百
3: thousand thousands tausend mille mil mila 千 тысяч тысячи тыс
4: 万 萬 만
5: lakh lakhs
6: million millions mio mn mln mill millionen millón millones milione milioni milhão milhões
6: miljoen 百万 百萬 миллион миллиона миллионов млн مليون
7: crore crores 千万 千萬
8: 亿 億 억
9: billion billions bn mrd milliarde milliarden milliard milliards miliardi bilhão bilhões
9: miljard 十亿 миллиард миллиарда миллиардов млрд مليار
12: trillion trillions tn 万亿 兆 조 триллион трлн
"""
_COMPATIBLE = tuple(
    frozenset(pair)
    for pair in (("¥", "cny"), ("¥", "jpy"), ("°", "°c"), ("°", "°f"), ("lb", "gbp"))
)


def _read_table(table: str) -> dict[str, str]:
    """Return word to name of a table of `name: word word ...` lines."""
    cased = frozenset(_CASED.split())
    found: dict[str, str] = {}
    for line in table.strip().split("\n"):
        name, _, words = line.partition(": ")
        for word in words.split():
            found.setdefault(word if word in cased else word.casefold(), name)
    return found


UNITS_AFTER = _read_table(_UNITS)
MAGNITUDES = {word: int(power) for word, power in _read_table(_MAGNITUDES).items()}
UNITS_BEFORE = {
    "$": "usd", "US$": "usd", "USD": "usd", "A$": "aud", "AUD": "aud", "C$": "cad", "CAD": "cad",
    "HK$": "hkd", "NT$": "twd", "€": "eur", "EUR": "eur", "£": "gbp", "GBP": "gbp",
    "¥": "¥", "￥": "¥", "＄": "usd",
    "CNY": "cny", "RMB": "cny", "JPY": "jpy", "₹": "inr", "INR": "inr", "₩": "krw", "KRW": "krw",
    "CHF": "chf",
}  # fmt: skip
# Names that a bare "$" before the number may stand for, and all currencies.
DOLLARS = frozenset({"aud", "cad", "hkd", "twd"})
CURRENCIES = frozenset(UNITS_BEFORE.values()) | {"rub", "brl"}


def are_compatible(one: str, other: str) -> bool:
    """Return whether two unit names may mean the same unit ("mg" may stand for "mg/day")."""
    if one == other or frozenset({one, other}) in _COMPATIBLE:
        return True
    return ("/" in one) != ("/" in other) and one.partition("/")[0] == other.partition("/")[0]
