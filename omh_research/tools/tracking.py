"""Which query parameters only track the reader (spec T15).

Job: the table, of our own making from the documentation of the services named, and one question.
Refuses to touch parameters that may choose the content (`id`, `lang`, `ref`, `source`, `page`).
Importers: tools.urls.
"""

from __future__ import annotations

# Prefixes of whole families: analytics (utm, Matomo, HubSpot, ...), mail and ad campaigns.
_PREFIXES = (
    "utm_", "mtm_", "matomo_", "pk_", "piwik_", "hsa_", "itm_", "otm_", "ga_", "vero_", "oly_",
    "fb_action_", "at_custom", "guce_", "__hs", "_hs", "elq", "wt.", "ml_subscriber", "mkt_",
    "ns_", "sc_", "spm_", "yclid", "algo_", "bsft_", "trk_",
)  # fmt: skip

_NAMES = frozenset({
    # ad clicks
    "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "ysclid", "twclid",
    "ttclid", "li_fat_id", "rdt_cid", "epik", "irclickid", "irgwc", "rb_clickid", "wickedid",
    "cjevent", "awc", "gad_source", "gad_campaignid", "srsltid", "tduid", "vmcid",
    # social sharing
    "igshid", "igsh", "mibextid", "fb_source", "fb_ref", "ref_src", "ref_url", "s_cid",
    "__twitter_impression", "share_id", "share_source", "xtor", "rss_src",
    # analytics
    "_ga", "_gl", "gs_l", "gs_lcp", "_openstat", "hsctatracking", "cmpid", "wtrid", "wt_mc",
    "wt_zmc", "icid", "ncid", "ocid", "cvid", "tracking_source", "guccounter", "at_medium",
    "at_campaign", "at_link_id", "at_link_type", "at_format", "at_ptr_name", "os_ehash",
    "echobox", "ceneo_spo", "zanpid", "wprov", "sessionid", "phpsessid", "jsessionid",
    # mail
    "mc_cid", "mc_eid", "mc_tc", "mkt_tok", "__s", "trk", "trkcampaign", "sfmc_id", "sfmc_sub",
    "nr_email_referer", "inf_contact_key", "campaign_monitor", "spm", "scm", "smid", "smtyp",
})  # fmt: skip

_BY_HOST = {
    "youtube.com": frozenset({"si", "feature", "pp", "ab_channel"}),
    "youtu.be": frozenset({"si", "feature"}),
    "open.spotify.com": frozenset({"si", "nd"}),
    "x.com": frozenset({"s", "t"}),
    "twitter.com": frozenset({"s", "t"}),
    "medium.com": frozenset({"source", "sk"}),
    "linkedin.com": frozenset({"originalsubdomain", "lipi", "licu"}),
    "amazon.com": frozenset({"ref", "ref_", "tag", "qid", "sr", "keywords", "crid", "sprefix"}),
    "doi.org": frozenset({"noredirect", "nosfx"}),
    "pubmed.ncbi.nlm.nih.gov": frozenset({"term", "from_term", "from_pos", "sort", "format"}),
    "nature.com": frozenset({"proof", "error"}),
}


def is_tracking(host: str, name: str) -> bool:
    """Say whether the parameter `name` only tracks, at `host` (canonical: no `www.`)."""
    name = name.lower()
    if name in _NAMES or name.startswith(_PREFIXES):
        return True
    return name in _BY_HOST.get(host, ())
