"""Settings of Sphinx for the documentation site; `make site` builds it."""

from sayso.version import __version__

project = "sayso"
author = "the sayso contributors"
release = __version__
html_title = f"sayso {release}"

extensions = ["myst_parser"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4

# It would turn `--` in help texts into a dash.
smartquotes = False

html_theme = "furo"
templates_path = ["_templates"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "versions.html",
        "sidebar/scroll-end.html",
    ]
}
html_show_sphinx = False
html_copy_source = False
