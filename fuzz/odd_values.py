"""Values and names that nobody expects, as they stand in a file."""

from __future__ import annotations

DEEP = 20_000
LONG = 200_000

ODD_JSON = (
    "null", "true", "false", "0", "-0.0", "-1", "1", "0.5", "1e308", "-1e308", "1e-320", "1e999", "NaN", "Infinity",
    "-Infinity", str(2**31), str(2**63), str(-(2**63) - 1), "1" + "0" * 400, "9" * 5000, '""', '" "', '"0"', '"mug"',
    '"\\u0000"', '"a\\nb"', '"\\r\\u001b[31m"', '"\\ud800"', '"\\udc80.png"', '"\\u2028"', '"\\u202e"',
    '"<script>alert(1)</script>"', '"../../../etc/passwd"', '"/dev/zero"', '"."', '".."', '"images/"', '"a\\\\b"',
    '"http://[::1"', '"step_00001"', '"%s%n"', '"' + "a" * LONG + '"', '"' + "a/" * 3000 + '"',
    "[]", "{}", "[1, 2]", "[[]]", "[1, 2, 3, 4]", "[NaN, 0, 1, 1]", '{"id": 1}', '{"": null}', '[null, true, "x"]',
    "[" * DEEP + "]" * DEEP, '{"a": ' * DEEP + "1" + "}" * DEEP, "[" + ", ".join(["0"] * 20_000) + "]",
)  # fmt: skip
"""Values that nobody expects, as they stand in a file."""

ODD_XML = (
    '<?xml version="1.0" encoding="utf-8"?>', '<?xml version="1.0" encoding="utf-16"?>', '<?xml version="9"?>',
    "<?a b?>", "<!DOCTYPE a>", '<!DOCTYPE a SYSTEM "file:///etc/hostname">',
    '<!DOCTYPE a [<!ENTITY x SYSTEM "/dev/zero">]>',
    '<!DOCTYPE a [<!ENTITY b "xxxxxxxxxx"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;">]>',
    "&b;", "&x;", "&lt;", "&amp;", "&#0;", "&#55296;", "&#x10ffff;", "&#x2028;", "&", "<", ">", "<a>", "</a>", "<a/>",
    "<a b='1' b='2'/>", "<![CDATA[ mug ]]>", "<![CDATA[", "]]>", "<!-- -->", "<!-- -- -->", "<a:b/>", "\ufeff",
    "\ufffe", "<a>" * DEEP, "<a>" * DEEP + "</a>" * DEEP, "<a/>" * DEEP, "<a " + "b='' " * 9 + "/>",
    "1.", ".5", "1_0", "0x1", "\u0661",
)  # fmt: skip
"""Pieces of XML that nobody expects."""

ODD_YAML = (
    *ODD_JSON, "~", "yes", ".nan", ".inf", "1_000", "0x", "0xfffffffffffffffffff", "0o8", "190:20:30", "2001-99-99",
    "2001-01-01", "2001-02-30T25:61:61Z", "!!int x", "!!float x", "!!binary x", "!!timestamp x", "!!set [1]",
    "!!omap [1]", "!!pairs [1]", "!!null x", "!!bool x", "!!str [1]", "!!map [1]", "!!seq {a: 1}", "!!python/none x",
    "!!python/object/apply:os.getcwd []", "!!python/name:os.system", "!x y", "*nowhere", "&a [*a]", "&a {b: *a}",
    "{[1]: 2}", "{{a: 1}: 2}", "{<<: 1}", "{<<: [1]}", "{<<: {seed: 3}}", "? [1]\n: 2", "{a: 1, a: 2}", "{1: 2}",
    "{null: 1}", "{true: 1}", "{.nan: 1}", "@", "`", "%", "'", "|", ">", "- -", ": :", "---", "...", "\t", "#",
    "[&a [1, 1, 1, 1, 1, 1, 1, 1, 1]"
    + "".join(f", &{two} [{', '.join(['*' + one] * 9)}]" for one, two in zip("abcdefghi", "bcdefghij", strict=True))
    + "]",
    "oak", "module:Class", "os:system", ":", "a.b:C", "..x:y", "\\x00:y", "leocod.types:Frame", "icarl", "x" * 5000,
)  # fmt: skip

ODD_NAMES = (
    "new\nline.png", "\udcff.png", "x" * 200 + ".png", "0.jpg", "frame.png", "labels_1.json", "labels_x.json",
    "train_anno1.csv", "train_annox.csv", "train_anno\n.csv",
    "EgoObjects\n_train.json", "EgoObjects_more_train.json", "mapping.json", "<b>.png", "9" * 100 + ".png",
)  # fmt: skip
"""What a file may be called all at once."""
