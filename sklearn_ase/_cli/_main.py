"""Run the command line: results on stdout, errors in one sentence on stderr."""

import os
import sys
import traceback
import warnings
from importlib import import_module

from sklearn_ase._cli._output import as_json, printable, without_python
from sklearn_ase._cli._parser import USAGE_ERROR, make_parser
from sklearn_ase.exceptions import JournalWarning, NewClassWarning, SurrogateWarning

_OUR_ERROR = 70  # An error of this package, not of the data.
_INTERRUPTED = 130


def main(argv=None):
    """Run a command.

    Parameters
    ----------
    argv : list of str, default=None
        The arguments; None means those of the process.

    Returns
    -------
    code : int
        0 if all went well, 64 if the arguments or the data are wrong. ``check``
        returns 0 for yes, 1 for no and 2 if it is not decided yet.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # A terminal may lack some signs.
            stream.reconfigure(errors="backslashreplace")
    try:
        args = make_parser().parse_args(argv)
    except SystemExit as end:  # --help, or wrong arguments.
        return end.code or 0
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = _run(args)
        _tell_warnings(caught)
        print(_words(result, args), flush=True)
        return result.get("exit_code", 0) if isinstance(result, dict) else 0
    except BrokenPipeError:  # The reader has closed, as head does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _failed("interrupted. What was recorded is kept.", _INTERRUPTED, args)
    except (ValueError, TypeError, OSError) as error:
        return _failed(_message(error), USAGE_ERROR, args)
    except Exception as error:
        words = f"{type(error).__name__}: {_message(error)}"
        words += " Run it again with --debug for details."
        return _failed(words, _OUR_ERROR, args)


def _run(args):
    """Call the function of a command; only its modules are imported."""
    module = import_module(f"sklearn_ase._cli.{args.module}")
    return getattr(module, args.command)(args)


def _words(result, args):
    if args.json:
        return as_json(result)
    printing = import_module("sklearn_ase._cli._printing")
    return printable(getattr(printing, f"of_{args.command}")(result))


def _failed(message, code, args):
    if args.debug:
        traceback.print_exc()
    _say(message)
    return code


def _message(error):
    """The words of an error, without those of Python."""
    words = str(error)
    if isinstance(error, OSError) and error.strerror:
        words = f"{error.filename or 'file'}: {error.strerror}."
    # What to do about it may be in a note.
    return without_python(" ".join([words, *getattr(error, "__notes__", ())]))


def _tell_warnings(caught):
    """Print what the package warns of, each once."""
    kinds = JournalWarning, NewClassWarning, SurrogateWarning
    said = [str(each.message) for each in caught if issubclass(each.category, kinds)]
    for message in dict.fromkeys(said):
        _say(f"note: {message}")


def _say(message):
    line = printable(" ".join(message.split()))
    print(f"sklearn-ase: {line}", file=sys.stderr)
