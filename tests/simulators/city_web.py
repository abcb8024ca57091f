"""Two webs about one subject each, written for these tests: nine pages in English on heat in
cities, eight in German on moors. Every page has a matter of its own, as search results have.
"""

from __future__ import annotations

from tests.simulators.small_web import Article

CITY_TOPIC = "How can cities stay cool in summer?"
CITY = (
    Article("/trees/canopy", "Street trees as air conditioning", (
        "Street trees cool cities in two ways: their shade keeps the sun off walls, and the water "
        "that leaves their leaves takes heat from the air. A survey of 293 European cities found "
        "surface temperatures 8 to 12 degrees lower under tree canopy than over bare pavement.",
        "Young trees need water for their first five summers. Cities that plant without a budget "
        "for watering lose a third of their street trees within ten years, and the shade with them.",
    ), "2022-05-17"),
    Article("/roofs/reflective", "White paint for hot roofs", (
        "Reflective roofs send sunlight back before it becomes heat. In summer a white roof stays "
        "up to 30 degrees cooler than a dark one, and the rooms below need less air conditioning.",
        "Reflective coatings lose about a fifth of their effect to dust and soot in three years, "
        "so cities count on washing them. In cold climates the heating bill rises a little.",
    ), "2021-07-02"),
    Article("/roofs/green", "What a green roof does for a city", (
        "A green roof carries soil and plants that evaporate rain. On a summer afternoon the air "
        "above green roofs in Chicago was 4 degrees cooler than above the roofs of the blocks "
        "around them, and city hall saved 5,000 dollars a year in cooling costs.",
        "Green roofs also hold back storm water. Old buildings often cannot bear the wet soil, "
        "which weighs more than 100 kilograms on each square metre.",
    )),
    Article("/planning/wind", "Letting the wind into town", (
        "Stuttgart lies in a basin with weak winds, so the city keeps ventilation corridors open: "
        "strips without tall buildings that lead cool night air from the hills into the centre. "
        "Building rules have protected these corridors since the 1930s.",
        "Cold air moves slowly, at about two metres per second, and a single row of houses across "
        "the slope can stop it. Planners measure night air with smoke before they allow a new block.",
    ), "2019-09-30"),
    Article("/water/fountains", "Ponds, fountains and mist", (
        "Water cools a square while it evaporates. Fountains and mist sprays lowered the felt "
        "temperature by 5 degrees within a few metres, but ponds store heat and can keep the "
        "nights warmer in late summer.",
        "In humid cities mist sprays bring little, because moist air takes up no more water. There "
        "planners prefer shade sails over the market streets.",
    )),
    Article("/health/heat-waves", "Heat waves and the people they reach", (
        "During the heat wave of August 2003 about 15,000 people died in France, most of them old "
        "people living alone under the roofs of Paris. Since then cities keep heat action plans "
        "with cooling centres, phone calls and water points.",
        "Cooling centres only help those who can reach them. In Phoenix most heat deaths happen "
        "at night in homes whose air conditioning is broken.",
    ), "2020-08-11"),
    Article("/science/heat-island", "The urban heat island", (
        "Cities are warmer than the country around them because asphalt and brick store heat by "
        "day and give it off at night. The urban heat island is strongest two to three hours after "
        "sunset, when a large city can be 7 degrees warmer than its fields.",
        "Waste heat from traffic and air conditioning adds up to 2 degrees in Tokyo. Street "
        "canyons trap the heat that walls send to each other.",
    ), "2018-03-05"),
    Article("/streets/pavement", "Cool pavement: promises and doubts", (
        "Los Angeles has painted streets with a light grey coating. The cool pavement was 6 "
        "degrees cooler at noon, yet people walking over it felt warmer, since the sunlight was "
        "reflected at them.",
        "Porous pavement lets rain sink in and evaporate later. It clogs unless it is vacuumed "
        "twice a year.",
    ), "2023-06-20"),
    Article("/cooking/ice", "Five recipes for ice cream", (
        "Nothing keeps you cool in summer like ice cream made at home. Whip the cream, fold in "
        "the fruit, and freeze it for four hours.",
        "Serve with mint. Sorbet needs no cream at all.",
    )),
)  # fmt: skip

MOOR_TOPIC = "Warum sind Moore für das Klima wichtig?"
MOORS = (
    Article("/moor/torf", "Wie aus Pflanzen Torf wird", (
        "Moore sind für das Klima wichtig, weil abgestorbene Pflanzen im nassen Boden nicht "
        "verrotten, sondern zu Torf werden. Die Torfschicht wächst nur etwa einen Millimeter im "
        "Jahr und hält den Kohlenstoff über Jahrtausende fest.",
        "Torfmoose können das Dreißigfache ihres Gewichts an Wasser speichern. Sie säuern ihre "
        "Umgebung an und verdrängen andere Pflanzen.",
    ), "2021-02-10"),
    Article("/moor/entwaesserung", "Was geschieht, wenn Moore trocken fallen", (
        "Entwässerte Moore setzen in Deutschland jährlich rund 53 Millionen Tonnen Kohlendioxid "
        "frei, etwa sieben Prozent aller Treibhausgase des Landes. Über Gräben fließt das Wasser "
        "ab, Luft dringt in den Torf, und Bakterien zersetzen ihn.",
        "Der Boden sackt dabei um einen bis zwei Zentimeter im Jahr. Schöpfwerke müssen immer "
        "tiefer pumpen, damit die Felder nicht im Wasser stehen.",
    ), "2022-11-03"),
    Article("/moor/wiedervernaessung", "Gräben schließen, Wasser halten", (
        "Bei der Wiedervernässung werden Gräben mit Torf und Holz verschlossen, bis der "
        "Wasserstand dicht unter der Oberfläche liegt. In den ersten Jahren steigt oft der Ausstoß "
        "von Methan, danach überwiegt der Nutzen für das Klima deutlich.",
        "Landwirte fürchten um ihre Flächen. Flurbereinigung und Entschädigung dauern meist länger "
        "als der Bau der Dämme.",
    )),
    Article("/moor/paludikultur", "Schilf statt Mais", (
        "Paludikultur heißt der Anbau auf nassen Moorböden: Schilf für Dächer, Rohrkolben für "
        "Dämmplatten, Torfmoos für Gartenerde. So bleibt der Torf nass und die Fläche bringt "
        "trotzdem Ertrag.",
        "Die Ernte braucht Raupenfahrzeuge, denn gewöhnliche Traktoren sinken ein. Noch fehlen "
        "Abnehmer für Dämmplatten aus Rohrkolben.",
    ), "2023-04-18"),
    Article("/moor/arten", "Leben zwischen Nass und Trocken", (
        "Hochmoore sind arm an Nährstoffen und reich an Spezialisten. Der Sonnentau fängt Insekten, "
        "der Hochmoorgelbling lebt als Raupe nur von der Rauschbeere.",
        "Der Goldregenpfeifer brütet in Deutschland kaum noch, seit die Moore verschwinden.",
    )),
    Article("/moor/gartenerde", "Torf im Blumentopf", (
        "In Gartenerde stecken jedes Jahr Millionen Kubikmeter Torf, viel davon aus dem Baltikum. "
        "Der Torfabbau zerstört Moore und belastet das Klima zweimal: beim Abbau und im Topf.",
        "Torffreie Gartenerde aus Kompost und Holzfasern braucht mehr Wasser und mehr Dünger.",
    ), "2020-03-27"),
    Article("/moor/kohlenstoff", "Der größte Speicher an Land", (
        "Moore bedecken nur drei Prozent der Landfläche und speichern doch mehr Kohlenstoff als "
        "alle Wälder der Erde. Ein Hektar mit einer Torfschicht von 15 Zentimetern bindet so viel "
        "wie ein hundertjähriger Wald.",
        "Brände in den Moorwäldern Indonesiens setzten 1997 mehr Kohlendioxid frei als Deutschland "
        "in einem Jahr.",
    )),
    Article("/kueche/kuchen", "Moorkuchen nach Großmutters Art", (
        "Für den Moorkuchen braucht man Schokolade, Eier und Geduld. Der Teig ruht eine Stunde.",
        "Mit Sahne servieren.",
    )),
)  # fmt: skip
