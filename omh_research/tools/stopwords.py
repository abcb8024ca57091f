"""Stop words: data only, one string a language, in folded form (lower case, accents gone).

Job: words that carry no topic, for T3 (near duplicates), T10 (ranking) and language detection.
Refuses to normalise or tokenise: `tokens.py` folds text the same way before it looks here.
Importers: `omh_research.tools` only.
"""

from __future__ import annotations

from functools import cache

SPACED: dict[str, str] = {
    "en": (
        "a about above after again against all also am an and any are aren as at be because "
        "been before being below between both but by can cannot could couldn d did didn do does "
        "doesn doing don down during each either else ever few for from further get had hadn "
        "has hasn have haven having he her here hers herself him himself his how however i if "
        "in into is isn it its itself just ll m may me might more most much must my myself "
        "neither no nor not now of off on once only onto or other our ours ourselves out over "
        "own per rather re s same shall she should shouldn since so some such t than that the "
        "their theirs them themselves then there these they this those though through thus to "
        "too toward towards under until up upon us ve very via was wasn we were weren what when "
        "where whether which while who whom whose why will with within without won would wouldn "
        "yet you your yours yourself yourselves"
    ),
    "de": (
        "aber alle allem allen aller alles als also am an ander andere anderem anderen anderer "
        "anderes auch auf aus bei beim bin bis bist da dabei dadurch daher damit dann daran "
        "darauf daraus darin darum das dass davon dazu dein deine dem den denn der deren des "
        "deshalb dessen die dies diese diesem diesen dieser dieses dir doch dort du durch ein "
        "eine einem einen einer eines einige er es etwas euch euer fur gegen gewesen hab habe "
        "haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer "
        "ihres im in indem ins ist ja jede jedem jeden jeder jedes jedoch jene jener kann kein "
        "keine keinem keinen keiner konnen konnte machen man manche mehr mein meine mich mir "
        "mit muss mussen nach nachdem nicht nichts noch nun nur ob oder ohne schon sehr sei "
        "sein seine seinem seinen seiner seines seit sich sie sind so solche soll sollte "
        "sondern sonst sowie uber um und uns unser unter viel viele vom von vor wahrend war "
        "waren warum was weder wegen weil welche welchem welchen welcher welches wenn wer werde "
        "werden wie wieder wieso will wir wird wo wodurch wofur woher wohin womit woran worauf "
        "woraus worden wurde wurden zu zum zur zwar zwischen"
    ),
    "es": (
        "a al algo algun alguna algunas alguno algunos ante antes aquel aquella aquellos asi "
        "aun aunque bien cada casi como con contra cual cuales cualquier cuando cuanta cuantas "
        "cuanto cuantos cuya cuyo de del desde donde dos durante e el ella ellas ellos en "
        "entonces entre era eran es esa esas ese eso esos esta estaba estan estar estas este "
        "esto estos fue fueron ha habia hace hacia han hasta hay la las le les lo los mas me mi "
        "mientras misma mismo muy nada ni no nos nosotros o os otra otras otro otros para pero "
        "poco por porque pues que quien quienes se sea segun ser si sido siempre sin sino sobre "
        "son su sus tal tambien tan tanto te tenia tiene tienen toda todas todo todos tras tu "
        "tus u un una unas uno unos y ya yo"
    ),
    "fr": (
        "a afin ai ainsi alors apres au aucun aucune aussi autre autres aux avait avant avec "
        "avoir c car ce ceci cela celle celles celui ces cet cette ceux chaque chez comme "
        "comment d dans de depuis des donc dont du elle elles en encore entre es est et etaient "
        "etait etant ete etre eu eux fait font furent fut il ils j je jusqu l la laquelle le "
        "lequel les lesquels leur leurs lors lorsque lui m ma mais me meme memes mes moi moins "
        "mon n ne ni non nos notre nous on ont ou par parce pas pendant peu peut plus plusieurs "
        "pour pourquoi puis qu quand que quel quelle quelles quelque quels qui quoi s sa sans "
        "se selon sera ses si soit son sont sous sur ta tandis te tel telle tes toi ton tous "
        "tout toute toutes tres tu un une vers vos votre vous y"
    ),
    "it": (
        "a ad agli ai al alcuni alla alle allo anche ancora avere aveva avevano c che chi ci "
        "ciascun coi col come con contro cosa cui d da dagli dai dal dalla dalle dallo degli "
        "dei del della delle dello dentro di dopo dove due durante e ed egli era erano esse "
        "essere essi fa fino fra fu furono gli ha hanno ho i il in io l la le lei lo loro lui "
        "ma mentre mi mio molti molto ne negli nei nel nella nelle nello no noi non nostro o "
        "ogni oltre oppure per perche percio piu poi presso prima pur qual quale quali quando "
        "quanta quante quanti quanto quel quella quelle quelli quello questa queste questi "
        "questo qui quindi sara se secondo sei si sia siano solo sono sopra sotto stata state "
        "stati stato su sua sue sugli sui sul sulla sulle suo suoi tale tra tu tutta tutte "
        "tutti tutto un una uno verso voi"
    ),
    "pt": (
        "a algum alguma alguns ao aos aquela aquele aqueles aquilo as ate cada com como contra "
        "cuja cujo da das de dela dele deles depois desde do dos durante e ela elas ele eles em "
        "enquanto entao entre era eram essa essas esse esses esta estao estas estava este estes "
        "eu foi foram ha isso isto ja la lhe lhes mais mas me mesmo meu minha muito na nao nas "
        "nem no nos nossa nosso num numa o onde os ou outra outras outro outros para pela pelas "
        "pelo pelos perante pode por porque pouco quais qual qualquer quando quanto quantos que "
        "quem se seja sem sempre ser sera seu seus si sido sob sobre sua suas tal tambem te tem "
        "tendo ter teve tinha toda todas todo todos tu um uma umas uns voce voces"
    ),
    "nl": (
        "aan al alle alles als altijd andere ben bij daar dan dat de der deze die dit doch doen "
        "door dus een eens en er ge geen geweest haar had hadden heb hebben heeft hem het hier "
        "hij hoe hoeveel hun iemand iets ik in is ja je kan kon kunnen maar me meer men met mij "
        "mijn moet na naar niet niets nog nu of om omdat onder ons ook op over reeds sinds te "
        "tegen toch toen tot tussen u uit uw van veel voor waar waarom wanneer want waren was "
        "wat welk welke werd werden wie wil worden wordt zal ze zelf zich zij zijn zo zonder "
        "zou zouden"
    ),
    "sv": (
        "alla allt att av blev bli blir da de dem den denna deras dess dessa det detta dig din "
        "du efter ej eller en er ett for fran ha hade han hans har henne hennes hon honom hur i "
        "icke ingen inom inte jag ju kan kunde man med mellan men mig min mot mycket nar ni nu "
        "och om oss pa sa sedan sig sin sina sitt ska skulle som till under upp ut utan vad var "
        "vara varfor varje vem vi vid vilka vilken vilket"
    ),
    "pl": (
        "a aby albo ale bardzo bez bo by byc byl byla bylo byly co czy dla do gdy gdzie go i "
        "ich ile im inne innych jak jaka jaki jakie jako je jednak jego jej jest jezeli ju juz "
        "kiedy kto ktora ktore ktorego ktorej ktory ktorych lub ma mi miedzy moze na nad nie "
        "niz o od oraz po pod przed przez przy rowniez sa sie ta tak takze tam te tego tej ten "
        "to tu tych tylko tym w we wiec wszystkie z za ze"
    ),
    "tr": (
        "acaba ama ancak artik asla bana bazi belki ben beri bir biri biz bu buna bunu cok "
        "cunku da daha dahi de defa diye dolayi eger en gibi gore hangi hem hep hepsi her hic "
        "icin ile ise kac kadar kendi ki kim kime mi mu nasil ne neden nedir nerede nereye "
        "nicin niye o olan olarak oldu oldugu olup on ona onlar onu sen siz sonra su tarafindan "
        "tum uzere var ve veya ya yani yok"
    ),
    "id": (
        "ada adalah agar akan antara apa apakah atau bagaimana bagi bahwa banyak berapa bisa "
        "bukan dalam dan dapat dari dengan di dia ia ini itu jika juga kami kapan karena ke "
        "kepada ketika kita lebih maka mana mengapa mereka namun oleh pada para saat saja saya "
        "sebagai sebuah sejak selama seperti serta siapa sudah telah tentang terhadap tersebut "
        "tetapi tidak untuk yaitu yang"
    ),
    "vi": (
        "ai anh ba bao bi boi ca cac cach cai cho chua chung co con cua cung da dang day de den "
        "di do duoc gi hay khi khong la lai lam len ma mot nao nay neu nguoi nhieu nhu nhung "
        "noi o qua ra rang rat sau se tai tat the theo thi tren trong tu va van vao ve vi voi"
    ),
    "ru": (
        "а без более будет будто бы был была были было быть в вам вас ведь весь во вот все "
        "всего всех вы где да даже для до его ее если есть еще же за здесь и из или им их к как "
        "какая какие каким какими каких какова каково какое какой какую ко когда кого которая "
        "которого которой которые который которых кто куда ли либо лишь между меня мне много "
        "может можно мой мы на над надо наш не него нее ней нет ни них но ну о об обо однако он "
        "она они оно от откуда очень по под после потому почему при про раз с сам свое своего "
        "своей свои своих свой свою себе себя сколько со так также такие такой там те тем то "
        "того тоже той только том тот тут ты у уже хотя чего чей чем через что чтобы чье эта "
        "эти этих это этого этой этом этот эту я"
    ),
    "uk": (
        "а або але без бо був була були було бути в вже ви вона вони воно все всі від він де "
        "для до з за зі й його коли котрий ми між на над не ні о один от по при про під свою "
        "себе скільки та так такий також там те теж ти то тобто того тому у це цей ці чи чому "
        "що щоб я як яка яке який які є і із ії їх її"
    ),
    "ar": (
        "اذا الا التي الذي الذين الي اليه اما ان انا انه انها او اي ايضا اين بعد بعض بل به بها "
        "بين تحت تكون تلك ثم حتي حول حيث خلال ذلك سوف علي عليه عليها عن عند عندما غير فان في "
        "فيه فيها قبل قد كان كانت كل كم كما كيف لا لان لدي لقد لكن لم لماذا لن له لها ليس ليست "
        "ما ماذا متي مثل مع من منذ منه منها نحن نحو نفس هذا هذه هل هم هنا هناك هو هولاء هي و "
        "وقد وكان ولا ولم وهو وهي يا يتم يكون يمكن"
    ),
    "fa": (
        "از اسا است اما ان اند انها اي اين با باشد بر براي به بود بودند بي تا تر خود دارد در را "
        "روي شد شده شود طور كجا كدام كرد كرده كند كه كي ما مي نمي نيز نيست هاي هر هم همه همين "
        "هيچ و ولي يا يك پس چرا چند چه چون چيست"
    ),
    "he": (
        "אבל או אחרי אחת איזה איך אילו אין אל אלא אם אני אף את אתה בין גם הוא היא היה היו הם הן "
        "זאת זה יותר יש כאשר כי כל כמה כמו כן לא לפני מה מי מתי עד על עם רק שהוא של שם תחת"
    ),
    "hi": (
        "अपना अपनी अपने अब अभी आदि आप इन इनका इनके इस इसका इसकी इसके इसमे इसी इसे उन उनका उनकी "
        "उनके उस उसका उसकी उसके उसे एक एव ऐसा ऐसी ऐसे ओर और कई कब कभी कर करता करती करते करना "
        "करने कहा का कि कितना कितनी कितने किन किया किस किसका किसी किसे की कुछ के को कोई कोन कौन "
        "कौनसा क्या क्यो गई गए गया जब जहा जा जाता जाती जाते जिन जिस जिसके जिसने जैसा जैसे जो तक "
        "तथा तब तरह तो था थी थे दिया द्वारा न नही ने पर परतु पहले बहुत बाद भी मगर मे मै मैं यदि "
        "यह यहा या ये रहा रही रहे लिए लेकिन व वह वहा वाला वाली वाले वे वो साथ से सो ही हुआ हुई "
        "हुए है हैं हो होता होती होते होना होने"
    ),
    "el": (
        "αλλα αν απο αυτα αυτη αυτο αυτοσ για δε δεν εαν ειναι ειχε εκεινοσ ενα ενασ επι εχει η "
        "ηταν θα και κατα με μετα μη μην μια μπορει να ο οι ομωσ οπωσ οσ οτι ου παρα ποια ποιο "
        "ποιοσ ποσο που προσ πωσ σαν σε στα στη στην στισ στο στον στουσ τα τη την τησ τι τισ "
        "το τον του τουσ των ωσ"
    ),
}

# Function words of scripts without spaces: they part a run before it is cut into bigrams.
UNSPACED: dict[str, str] = {
    "zh": (
        "为什么 为甚么 什么样 有哪些 是什么 是否 什么 怎么样 怎么 怎样 如何 哪些 哪个 哪里 哪儿 "
        "哪一 哪种 多少 为何 何时 以及 或者 并且 而且 但是 因为 所以 如果 虽然 关于 对于 根据 以下 "
        "这个 那个 这些 那些 他们 她们 它们 我们 你们 的 是 吗 呢 谁 為什麼 什麼 怎麼 哪個 哪裡 "
        "關於 對於 這個 這些 嗎 誰"
    ),
    "ja": (
        "について における に関する によって による として とは どのように どのような どうして "
        "なぜ なに 何 どこ いつ だれ 誰 どれ どの どう いくつ いくら という これら それら これ "
        "それ あれ この その あの ここ そこ ですか ますか でしょうか であった である でした "
        "です ました ません ます だった された される した する している していた ている ために "
        "ため など から まで より では には へは のは にも とも ので のに は が の を に へ と "
        "も や で か"
    ),
    "th": (
        "อย่างไร ทำไม เมื่อไร เมื่อใด ที่ไหน เท่าไร อะไร ใคร และ หรือ แต่ ของ ที่ ซึ่ง อัน ใน "
        "จาก โดย ด้วย กับ แก่ เพื่อ เป็น คือ ได้ ว่า ให้ จะ ก็ นี้ นั้น ไม่"
    ),
}

# Particles that end a Korean word; the longest that fits goes.
KOREAN_PARTICLES = (
    "에서는 으로는 에게서 이라는 으로서 으로써 까지 부터 에서 에게 으로 이나 이란 라는 처럼 "
    "보다 마다 조차 밖에 하고 이며 은 는 이 가 을 를 의 에 로 와 과 도 만 나"
)
KOREAN_STOPS = (
    "그 이 저 것 수 등 및 또는 그리고 그러나 하지만 때문 때문에 대한 대해 대하여 위한 위해 통해 "
    "어떤 어떻게 무엇 무엇인가 무슨 왜 누구 누가 언제 어디 어느 몇 얼마나 있는 있다 하는 한다 "
    "했다 된다 되는 된 할 한 있었다 인가"
)


@cache
def stop_words(language: str) -> frozenset[str]:
    """Folded stop words of a language written with spaces (ISO 639-1); empty when unknown."""
    if language == "ko":
        return frozenset(KOREAN_STOPS.split())
    return frozenset(SPACED.get(language, "").split())


@cache
def stop_phrases(language: str) -> tuple[str, ...]:
    """Function words of a script without spaces, longest first; empty when unknown."""
    return tuple(sorted(UNSPACED.get(language, "").split(), key=lambda p: (-len(p), p)))


@cache
def korean_particles() -> tuple[str, ...]:
    """Korean word-final particles, longest first."""
    return tuple(sorted(KOREAN_PARTICLES.split(), key=lambda p: (-len(p), p)))
