"""Pages have the attributes that assistive technology needs."""

from __future__ import annotations

from docs.generator.accessibility import accessible

PAGE = """
<p class="caption" role="heading"><span>Start</span></p>
<pre><span></span>code</pre>
<div class="table-wrapper docutils container"><table></table></div>
<dl class="py function"><dt>f(
<dl>
<dd><em class="sig-param">a</em>,</dd>
<dd><em class="sig-param">b</em>,</dd>
</dl>
)</dt><dd>Does it.</dd></dl>
<preface>no code</preface>
"""


def test_attributes_are_added() -> None:
    page = accessible(PAGE)
    assert '<p class="caption" role="heading" aria-level="2"><span>' in page
    assert '<pre tabindex="0"><span>' in page
    assert '<div class="table-wrapper docutils container" tabindex="0"><table>' in page
    assert page.count('<dl role="list">') == 1
    assert page.count('<dd role="listitem"><em class="sig-param">') == 2
    assert '<dl class="py function"><dt>' in page
    assert "</dt><dd>Does it." in page
    assert "<preface>no code" in page


def test_accessibility_attributes_are_idempotent() -> None:
    assert accessible(accessible(PAGE)) == accessible(PAGE)
