"""How the site is built: Sphinx reads plain Markdown (MyST), Furo shows it in light and dark."""

import sys
from pathlib import Path

import headgate

sys.path.insert(0, str(Path(__file__).parent / "site"))

project = "Headgate"
author = "The authors of Headgate"
copyright = "The authors of Headgate, Apache-2.0"
version = release = headgate.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "repository_pages",
]
exclude_patterns = ["site/**", "_build/**"]

myst_enable_extensions = ["colon_fence", "deflist", "substitution"]
myst_heading_anchors = 4
nb_execution_mode = "off"  # `make docs` runs notebooks and examples first; their output is kept

autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"Headgate {release}"
html_static_path = ["site/static"]
html_favicon = "site/static/favicon.svg"
html_css_files = ["headgate.css"]
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5f8b", "color-brand-content": "#1f5f8b"},
    "dark_css_variables": {"color-brand-primary": "#7cc0ee", "color-brand-content": "#7cc0ee"},
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# `make docs-links` asks other people's servers; pages of this machine are no business of theirs.
linkcheck_ignore = [r"http://localhost.*", r"https?://.*example\.org.*"]
linkcheck_timeout = 20
linkcheck_retries = 2
