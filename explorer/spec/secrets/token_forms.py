"""Credentials that can be told by their form alone, whatever name stands before them: private keys, tokens that begin
as their issuer's do, JSON Web Tokens."""

from __future__ import annotations

import re

PREFIXES = (
    "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsa_",
    "xapp-", "xoxe.", "ya29.", "1//0", "GOCSPX-", "sk-", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_",
    "hf_", "npm_", "pypi-", "dckr_pat_", "shpat_", "shpss_", "shpca_", "shppa_", "dop_v1_", "doo_v1_", "dor_v1_",
    "hvs.", "hvb.", "AGE-SECRET-KEY-1", "sq0csp-", "sq0atp-", "lin_api_", "figd_", "pscale_tkn_", "PMAK-", "nvapi-",
    "rubygems_", "tskey-", "gsk_", "ATATT3", "dp.pt.", "SG.",
)  # fmt: skip
"""How tokens begin that have 16 characters more at least, one of them a digit or a capital."""
BEGINNINGS = (
    *PREFIXES, "-----BEGIN", "earer", "asic", "eyJ", "AKIA", "ASIA", "xox", "AIza", "dapi", "hooks.slack.com",
)  # fmt: skip
"""What all forms have: a text with none of these has none of them, which is soon told."""
_FORM = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)"
    r"|\b(?:[Bb]earer|[Bb]asic)\s+(?=[a-z_.-]*[A-Z0-9+/=~])[\w.~+/=-]{8,}"
    r"|(?<![\w-])(?=[\w-]+\.(?:[\w-]{8,})?\.)(?:[\w-]*[_-])?eyJ[\w-]{8,}(?:\.[\w-]*){2,4}"  # a JSON Web Token
    r"|(?<![A-Z])(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Z])"  # AWS
    r"|(?<![A-Za-z0-9])(?:xox[abeoprs]-[\w-]{10,}|AIza[\w-]{35}|dapi[0-9a-f]{32}|hooks\.slack\.com/services/[\w/]+"
    r"|(?:" + "|".join(map(re.escape, PREFIXES)) + r")(?=[\w.-]{0,60}[A-Z0-9])[\w-]{16,}(?:\.[\w-]{16,})?)",
    re.DOTALL,
)


def without_tokens(text: str, instead: str) -> str:
    """Text with something else in place of each."""
    return _FORM.sub(instead, text) if any(map(text.__contains__, BEGINNINGS)) else text
