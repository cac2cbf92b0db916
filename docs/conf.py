"""Configuration of the documentation; ``make -C docs html`` builds it."""

import re
import sys
from pathlib import Path

from docutils import nodes
from sphinx.util.nodes import make_refnode

import sklearn_ase

sys.path.insert(0, str(Path(__file__).parent))  # For gallery_order and mathml.

project = "sklearn_ase"
author = "The sklearn_ase developers"
copyright = author
version = release = sklearn_ase.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
]
html_math_renderer = "mathml"
exclude_patterns = ["_build", "gallery/GALLERY_HEADER.rst"]
myst_enable_extensions = ["attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
highlight_language = "none"  # Commands and what they print.
templates_path = ["_templates"]
autosummary_generate = True
numpydoc_show_class_members = False
autodoc_typehints = "none"  # The docstrings say the types.
autodoc_default_options = {"members": True, "inherited-members": False}
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = "sklearn_ase"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    # Pages with wide tables, and the start page, need the room.
    "secondary_sidebar_items": {
        "**": ["page-toc"],
        "index": [],
        "studies/questions": [],
        "studies/trust": [],
    },
}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"(papers|mnist_deep_ensemble)",
    "within_subsection_order": "gallery_order.Lessons",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,  # That page would load scripts from elsewhere.
    "remove_config_comments": True,
    "abort_on_example_error": True,
}


def skip_routing(app, what, name, obj, skip, options):
    """Leave out what scikit-learn adds to every estimator."""
    added = name == "get_metadata_routing" or (
        name.startswith("set_") and name.endswith("_request")
    )
    return True if added else None


def find_in_other_modules(app, env, node, content):
    """Link ``:class:`GuardedASE` ``, in whatever module; docstrings stay readable."""
    if node.get("refdomain") != "py":
        return None
    domain = env.get_domain("py")
    found = domain.find_obj(env, None, None, node["reftarget"], None, searchmode=1)
    places = [place for _, place in found if not place.aliased]
    if len(places) != 1:
        return None
    target = places[0].docname, places[0].node_id
    return make_refnode(app.builder, node["refdoc"], *target, content)


def keep_figures_together(app, doctree):
    """Mark cells like "1.00 / .52", which must not be broken; words may be."""
    for cell in doctree.findall(nodes.entry):
        if re.search(r"\d / [.\d]", cell.astext()):
            cell["classes"].append("figures")


def box_the_summary(app, doctree):
    """Put "Question. … Answer. … How sure. … Command." of a study into a box.

    The box ends with the first block of commands, or at the next heading.
    """
    for paragraph in list(doctree.findall(nodes.paragraph)):
        words = (child for child in paragraph.children if child.astext())
        first = next(words, None)
        if not isinstance(first, nodes.strong) or first.astext() != "Question.":
            continue
        parent = paragraph.parent
        start = end = parent.index(paragraph)
        while end < len(parent) and not isinstance(parent[end], nodes.section):
            end += 1
            if isinstance(parent[end - 1], nodes.literal_block):
                break
        box = nodes.admonition("", nodes.title("", "In short"), classes=["in-short"])
        box += parent[start:end]
        parent[start:end] = [box]


def setup(app):
    app.connect("doctree-read", keep_figures_together)
    app.connect("doctree-read", box_the_summary)
    app.connect("autodoc-skip-member", skip_routing)
    app.connect("missing-reference", find_in_other_modules)
