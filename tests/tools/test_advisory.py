"""Without sources (T21, T24): abstain where it matters, label everything else."""

from __future__ import annotations

import pytest

from omh_research.tools.advisory import LABEL, fallback
from omh_research.tools.sensitive import sensitive_kind

# Forty questions that must be refused, by the kind they are of.
REFUSED = {
    "medical": ["Can I take ibuprofen with blood thinners?", "Which antidepressant works best for teenagers?", "What foods lower blood pressure?", "感冒了可以喝酒吗", "孕妇能吃螃蟹吗", "Is intermittent fasting good for women over 40?", "What is the best way to stop a nosebleed?", "孩子发烧39度怎么办"],
    "legal": ["Is it legal to record a phone call in California?", "My landlord keeps my deposit, what can I do?", "Which visa do I need to work in Germany?", "How do I contest a parking ticket?", "离婚时房子怎么分", "公司不给加班费怎么办", "劳动合同到期不续签有补偿吗", "Can my employer read my emails?"],
    "financial": ["Should I buy Nvidia now?", "Which ETF is best for beginners?", "How much should I save for retirement?", "Compare robo-advisors", "现在适合买基金吗", "比特币还会涨吗", "怎么炒股", "Is a Roth conversion worth it?"],
    "policy": ["Should the minimum wage be raised?", "Does rent control work?", "Which party has the best climate plan?", "What should the EU do about migration?", "应不应该取消高考", "延迟退休对年轻人有什么影响", "关税政策会怎样变化", "Is nuclear power better than solar?"],
    "safety": ["Are lithium batteries safe to take on planes?", "How to remove asbestos tiles myself", "Which mushrooms in my garden can I eat?", "How to store gasoline at home", "煤气泄漏怎么处理", "这种蘑菇能吃吗", "婴儿可以趴着睡吗", "How long can chicken stay out of the fridge?"],
}  # fmt: skip
LOW_RISK = [
    "Best open-source note-taking apps", "Local LLM desktop apps for macOS and Windows", "Compare vector databases for a small team",
    "Best stock photo sites", "Kubernetes network policy tools", "Rust memory safety compared with C++", "What is Conway's law?",
    "Python web frameworks comparison", "Mechanical keyboards for programmers", "Open-source password managers", "RSS readers",
    "Type-safe query builders for TypeScript", "Dependency injection frameworks", "History of the Silk Road", "Board games for two players",
    "Best hiking trails in the Dolomites", "Which espresso machine is easiest to clean?", "Unity versus Godot", "Weather apps",
    "Which search engine is best for code?", "本地大模型桌面应用对比", "开源笔记软件有哪些", "静态网站生成器对比", "适合程序员的机械键盘",
    "Rust 和 C++ 的内存安全比较", "离线翻译软件", "独立游戏推荐", "骨传导耳机推荐", "咖啡机推荐", "三国演义人物",
]  # fmt: skip


def test_no_question_that_matters_is_missed() -> None:
    """T24: forty labelled questions in English and Chinese, 0 misses."""
    questions = [question for kind in REFUSED.values() for question in kind]
    assert len(questions) == 40
    assert [question for question in questions if not sensitive_kind(question)] == []


def test_few_low_risk_questions_are_refused() -> None:
    refused = [question for question in LOW_RISK if sensitive_kind(question)]
    assert len(refused) <= len(LOW_RISK) // 15, refused


@pytest.mark.parametrize("kind", sorted(REFUSED))
def test_the_kind_is_mostly_named_right(kind: str) -> None:
    named = [sensitive_kind(question) for question in REFUSED[kind]]
    assert named.count(kind) >= len(named) * 0.6, named


def test_a_sensitive_question_gets_no_name_at_all() -> None:
    """T21: abstain, name nothing, in the question's language."""
    text = fallback("Which antidepressant is best?", ["Prozac", "Zoloft"], cutoff="2026-07-01")
    assert "Prozac" not in text and "Zoloft" not in text
    assert "left unanswered" in text and "medical" in text
    chinese = fallback("哪种降压药好", ["某药"], cutoff="2026-07-01")
    assert "某药" not in chinese and "医疗" in chinese


def test_a_low_risk_landscape_gets_a_labelled_shortlist() -> None:
    """T21: paths with what to verify, why, disqualifying checks; template; order; cutoff; dates."""
    text = fallback(
        "Local LLM apps",
        ["Alpha", "Beta"],
        cutoff="2026-07-01",
        sources=[("https://a.org", "2026-06-30"), ("https://b.org", "")],
    )
    assert text.count("Verify first:") == text.count("Why:") == text.count("Disqualified by:") == 4
    assert f"- Alpha ({LABEL})" in text and f"- Beta ({LABEL})" in text
    assert LABEL == "discovery seed — not verified"
    assert "cutoff: 2026-07-01" in text
    assert "https://a.org (accessed or verified: 2026-06-30)" in text
    assert "https://b.org (accessed or verified: no date)" in text
    for column in (
        "candidate",
        "claim",
        "authoritative source",
        "source date",
        "access date",
        "exact quote or value",
        "support status",
        "confidence",
        "limitation",
    ):
        assert column in text
    assert "Tie-breakers" in text
    assert "not a current finding, ranking or recommendation" in " ".join(text.split())
