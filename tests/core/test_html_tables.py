"""Tables for notebooks: texts of models and files cannot become markup."""

from housewise.core.html_tables import html_table, html_text

MARKUP = "<script>alert(1)</script> & \x1b[31m\u202e"


def test_texts_are_escaped() -> None:
    assert html_text(MARKUP) == "<p>&lt;script&gt;alert(1)&lt;/script&gt; &amp; ?[31m?</p>"
    table = html_table(MARKUP, [MARKUP], [[MARKUP]])
    assert "<script" not in table and "\x1b" not in table and "\u202e" not in table
    assert table.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 3
