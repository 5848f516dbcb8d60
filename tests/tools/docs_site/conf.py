"""Configuration of Sphinx, which build.py calls."""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

project = "ov-gather"
version = release = version_of("ov-gather")
copyright = "the authors of ov-gather"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "tools.docs_site.sphinx_extension",
]
exclude_patterns = ["custom_layer/build"]

myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_type_aliases = {"ArrayLike": "ArrayLike"}
smartquotes = False  # options begin with two hyphens
python_maximum_signature_line_length = 100

copybutton_prompt_text = "$ "  # of sessions, only the commands are copied

html_theme = "furo"
html_title = "ov-gather"
html_search_scorer = str(Path(__file__).with_name("search_scorer.js"))
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_use_index = False  # the pages of the reference list all names; Sphinx's index of them is wider than a screen
