"""Settings of the documentation: Sphinx with MyST pages whose code is executed when the site is built."""

import ocp_dyn

project = "ocp_dyn"
author = "The ocp_dyn developers"
version = release = getattr(ocp_dyn, "__version__", "")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.viewcode", "sphinx_copybutton"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["amsmath", "dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

# Every page runs anew when the site is built; a page that fails, fails the build.
nb_execution_mode = "auto"
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_merge_streams = True

html_theme = "furo"
html_title = "ocp_dyn"
