"""Settings of the documentation: Sphinx with MyST pages whose code is executed when the site is built."""

import importlib.util
import logging
import os
import re
import sys
import tempfile
from pathlib import Path

from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE.parent)]
# The kernels that execute the pages import this checkout too, use one thread each, and do not warn of frozen modules.
# _pages holds what several pages use: drawings of frames, the display of code, checks by numbers.
for_pages = [str(HERE.parent), str(HERE / "_pages"), os.environ.get("PYTHONPATH")]
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, for_pages))
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")

# Kernels have settings of their own, not those of whoever builds.
profiles = tempfile.TemporaryDirectory(prefix="ocp_dyn_docs_")
os.environ["IPYTHONDIR"] = profiles.name
kernel_settings = Path(profiles.name, "profile_default", "ipython_kernel_config.py")
kernel_settings.parent.mkdir()
settings = (
    "IPKernelApp.log_level = 40",
    "InteractiveShell.xmode = 'Minimal'",
)  # an expected error is shown by its message
kernel_settings.write_text("".join(f"get_config().{line}\n" for line in settings), encoding="utf-8")
logging.getLogger("traitlets").setLevel(logging.WARNING)  # "Executing notebook ..." for every page

import jupyter_client
from traitlets import default

import ocp_dyn


class KernelOnSockets(jupyter_client.AsyncKernelManager):
    """Kernel of a page that is reached by sockets in a folder of its own.

    TCP ports are chosen before the kernel starts, and the client of another page may take one of them meanwhile.
    """

    @default("transport")
    def _transport_default(self) -> str:
        return "ipc"

    def _ip_default(self) -> str:
        return str(Path(tempfile.mkdtemp(dir=profiles.name), "kernel"))


if os.name == "posix":  # Windows has no such sockets
    jupyter_client.AsyncKernelManager = KernelOnSockets  # nbclient starts kernels by this name

project = "ocp_dyn"
author = copyright = "The ocp_dyn developers"
version = release = getattr(ocp_dyn, "__version__", "")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "docstrings",
]
exclude_patterns = ["_build", "_extensions", "paper"]
nitpicky = True
smartquotes = False  # the transpose of L is L'

# Pages
myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Every page runs anew when the site is built, in a temporary folder; a page that fails, fails the build.
nb_execution_mode = "auto"
nb_execution_in_temp = True
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_render_markdown_format = "myst"  # pages may print Markdown

# Reference: see _extensions/docstrings.py
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints = "signature"
python_maximum_signature_line_length = 90
python_use_unqualified_type_names = True
add_module_names = False
toc_object_entries_show_parents = "hide"

# Formulas are drawn without a network: the package holds MathJax as static files.
mathjax = importlib.util.find_spec("sphinx-mathjax-offline")
static_mathjax = [str(Path(mathjax.origin).parent / "static")] if mathjax and mathjax.origin else []
if static_mathjax:
    mathjax_path = "mathjax/tex-chtml.js"

html_theme = "furo"
html_title = "ocp_dyn"
html_static_path = ["_static", *static_mathjax]
html_css_files = ["ocp_dyn.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}

# `scripts/docs --links` follows links to other sites.
linkcheck_timeout = 20
linkcheck_retries = 2
linkcheck_workers = 4
linkcheck_anchors = False  # pages of scripts have anchors that only a browser sees


REPEATED = {"changelog": "CHANGELOG.md", "contributing": "CONTRIBUTING.md"}
"""Pages that repeat a file of the repository."""
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!\w+:|#)([^)#]+)[^)]*\)")


def _read(app: Sphinx, page: str, source: list[str]) -> None:
    """Inserts the texts of repeated files; links to files outside the site, which the repository shows, become text."""
    shown = path = HERE / f"{page}.md"
    if page in REPEATED:
        path = HERE.parent / REPEATED[page]
        source[0] = path.read_text(encoding="utf-8")

    def kept(link: re.Match[str]) -> str:
        target = (path.parent / link[2]).resolve()
        if not target.is_relative_to(HERE):
            return link[1]
        return link[0].replace(link[2], Path(os.path.relpath(target, shown.parent)).as_posix())

    source[0] = LINK.sub(kept, source[0])


def setup(app: Sphinx) -> None:
    app.connect("source-read", _read)


class _Empty(logging.Filter):
    """Silent about patterns of the index that match no page: they stand for pages that are added later."""

    def filter(self, record: logging.LogRecord) -> bool:
        return "toctree glob pattern" not in str(record.msg)


logging.getLogger("sphinx.sphinx.directives.other").addFilter(_Empty())
