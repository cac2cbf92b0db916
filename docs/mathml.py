"""Formulas as MathML, made when the site is built: browsers need no script for them.

Sphinx needs docutils, and docutils translates LaTeX to MathML. So nothing has to be
downloaded, neither by the builder nor by the reader.
"""

import re

from docutils import nodes
from docutils.utils.math import latex2mathml

TAG = re.compile(r"\\tag\{(.+?)\}")


def to_mathml(latex, **attributes):
    """Return a formula as MathML; `attributes` are those of the element ``math``."""
    tree = latex2mathml.math(**attributes)
    latex2mathml.parse_latex_math(tree, latex)
    return tree.toxml()


def visit_inline(translator, node):
    translator.body.append(to_mathml(node.astext()))
    raise nodes.SkipNode


def visit_block(translator, node):
    latex = node.astext()
    tag = TAG.search(latex)
    formula = to_mathml(TAG.sub("", latex).strip(), display="block")
    # "\tag{T1}" is the number of the equation, and "#eq-t1" its address.
    number = tag.group(1) if tag else ""
    address = f' id="eq-{number.lower()}"' if tag else ""
    label = f'<span class="eqno">({number})</span>' if tag else ""
    translator.body.append(f'<div class="formula"{address}>{formula}{label}</div>\n')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
