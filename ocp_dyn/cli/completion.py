"""`ocp-dyn completion SHELL`: a script for bash, zsh or fish, made from the parser.

The scripts need no Python while a user types: they hold the commands, options and choices of the parser, and the names
of models, robots and problems.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from .options import make_parser

FILES = {"file": ("info", "check", "show", "export", "convert", "bench", "walk"), "result": ("plot",)}
"""Arguments that are files, by their name, with the commands that have them."""


@dataclass(frozen=True)
class Command:
    """A command, and the words that may follow it: options, choices of their values, names."""

    name: str
    help: str
    options: tuple[str, ...]
    choices: dict[str, tuple[str, ...]]
    words: tuple[str, ...]
    helps: dict[str, str]

    @property
    def takes_files(self) -> bool:
        return any(self.name in commands for commands in FILES.values())


def run(options: argparse.Namespace) -> int:
    print({"bash": _bash, "zsh": _zsh, "fish": _fish}[options.shell](commands()), end="")
    return 0


def commands() -> list[Command]:
    """All commands of the parser."""
    from .. import _names as od
    from .inputs import MODELS
    from .ready import problems

    robots = od.robots.names()
    walkers = tuple(name for name in robots if len(od.robots.describe(name).feet) > 1)
    words = dict.fromkeys(("info", "show", "export", "convert", "bench"), tuple(dict.fromkeys((*MODELS, *robots))))
    words |= {"walk": ("human", *walkers), "problems": tuple(problems())}
    (group,) = (a for a in make_parser()._actions if isinstance(a, argparse._SubParsersAction))
    helps = {action.dest: action.help or "" for action in group._choices_actions}
    return [_command(name, helps[name], parser, words.get(name, ())) for name, parser in group.choices.items()]


def _command(name: str, text: str, parser: argparse.ArgumentParser, words: tuple[str, ...]) -> Command:
    options: dict[str, str] = {}
    choices: dict[str, tuple[str, ...]] = {}
    for action in parser._actions:
        given = tuple(str(choice) for choice in action.choices or ())
        if not action.option_strings:
            words = words or given
        for option in action.option_strings:
            options[option] = action.help or ""
            if given:
                choices[option] = given
    return Command(name, text, tuple(options), choices, words, options)


def _bash(found: list[Command]) -> str:
    cases = []
    for command in found:
        values = "".join(
            f'        {option}) COMPREPLY=($(compgen -W "{" ".join(given)}" -- "$word")); return ;;\n'
            for option, given in command.choices.items()
        )
        values += "        --out) _ocp_dyn_files; return ;;\n" * ("--out" in command.options)
        inner = f'      case "$before" in\n{values}      esac\n' if values else ""
        files = "; _ocp_dyn_files" if command.takes_files else ""
        cases.append(f'''    {command.name})
{inner}      if [[ $word == -* ]]; then COMPREPLY=($(compgen -W "{" ".join(command.options)}" -- "$word"))
      else COMPREPLY=($(compgen -W "{" ".join(command.words)}" -- "$word")){files}; fi ;;
''')
    names = " ".join(command.name for command in found)
    return f'''# Completion of ocp-dyn in bash.
_ocp_dyn_files() {{
  local file
  while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -- "${{COMP_WORDS[COMP_CWORD]}}")
}}
_ocp_dyn() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then COMPREPLY=($(compgen -W "{names} --help --version" -- "$word")); return; fi
  case ${{COMP_WORDS[1]}} in
{"".join(cases)}  esac
}}
complete -o filenames -F _ocp_dyn ocp-dyn
'''


def _zsh(found: list[Command]) -> str:
    def quoted(text: str) -> str:
        return text.replace("'", "'\\''").replace("[", "(").replace("]", ")").replace(":", " -")

    cases = []
    for command in found:
        lines = [
            f"'{option}[{quoted(command.helps[option])}]{_zsh_value(option, command)}'" for option in command.options
        ]
        if command.words or command.takes_files:
            lines.append("'*: :_ocp_dyn_words'")
        files = "; _files" if command.takes_files else ""
        cases.append(f"""    {command.name})
      _ocp_dyn_words() {{ compadd -- {" ".join(command.words)}{files} }}
      _arguments {" ".join(lines)} ;;
""")
    names = " ".join(f"'{command.name}:{quoted(command.help)}'" for command in found)
    return f"""#compdef ocp-dyn
# Completion of ocp-dyn in zsh.
_ocp_dyn() {{
  local -a commands=({names})
  if ((CURRENT == 2)); then _describe command commands; return; fi
  local command=$words[2]
  shift words; ((CURRENT--))
  case $command in
{"".join(cases)}  esac
}}
if [[ $funcstack[1] == _ocp-dyn ]]; then _ocp_dyn "$@"; else compdef _ocp_dyn ocp-dyn; fi
"""


def _zsh_value(option: str, command: Command) -> str:
    if option in command.choices:
        return f": :({' '.join(command.choices[option])})"
    return ": :_files" if option == "--out" else ""


def _fish(found: list[Command]) -> str:
    def quoted(text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    lines = ["# Completion of ocp-dyn in fish.", "complete -c ocp-dyn -f"]
    for command in found:
        after = f"-n '__fish_seen_subcommand_from {command.name}'"
        lines.append(f"complete -c ocp-dyn -n __fish_use_subcommand -a {command.name} -d {quoted(command.help)}")
        if command.words:
            lines.append(f"complete -c ocp-dyn {after} -a '{' '.join(command.words)}'")
        if command.takes_files:
            lines.append(f"complete -c ocp-dyn {after} -F")
        for option in command.options:
            if option.startswith("--"):
                values = f" -x -a '{' '.join(command.choices[option])}'" if option in command.choices else ""
                values = " -r -F" if option == "--out" else values
                lines.append(f"complete -c ocp-dyn {after} -l {option[2:]} -d {quoted(command.helps[option])}{values}")
    return "\n".join(lines) + "\n"
