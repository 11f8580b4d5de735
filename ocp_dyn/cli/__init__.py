"""The command `ocp-dyn`: models and walks from a terminal.

| module | contents |
|---|---|
| `main` | the entry point: runs a command, turns errors into one line and an exit status |
| `options` | the commands and their options, with the texts of `--help` |
| `streams` | results on standard output, as text or as one JSON object; standard output that is full or closed |
| `inputs` | FILE becomes a model: a URDF, a model as JSON, a ready model or robot by its name |
| `examples` | command lines of the ready problems: options, files, report |
| `info`, `check`, `show`, `export`, `bench`, `walk`, `plot`, `ready`, `completion` | one command each |

Nothing but the standard library is loaded before a command runs, so that `--help` and completion answer at once.
"""

from .main import main as main
