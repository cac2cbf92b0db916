"""The command ``annotate``: label rows in the terminal."""

import sys
from contextlib import nullcontext, redirect_stdout

from sklearn_ase._annotation._console import label_rows
from sklearn_ase._cli._campaign import Campaign
from sklearn_ase._cli._labelling import check_shown, shown_cells
from sklearn_ase._cli._output import printable
from sklearn_ase._cli._stopping import reason_to_stop


def annotate(args):
    """Show row after row and record what is typed; each label is kept at once.

    Parameters
    ----------
    args : argparse.Namespace

    Returns
    -------
    result : dict of str to object
    """
    campaign = Campaign.load(args.journal)
    columns = campaign.columns()
    check_shown(columns, args)
    with campaign.open(columns) as evaluation:
        ledger = evaluation.ledger
        before, target = len(ledger), None if args.n is None else len(ledger) + args.n

        def view(index):
            cells = shown_cells(campaign, columns, args, [index])
            return {name: printable(str(some[0])) for name, some in cells.items()}

        def enough():
            if args.more:
                return ""
            return reason_to_stop(campaign, ledger, evaluation.spent)

        # With --json only the result is printed to stdout.
        with redirect_stdout(sys.stderr) if args.json else nullcontext():
            n_answers = label_rows(
                evaluation,
                view,
                target,
                enough,
                read=input,
                with_estimate=args.estimate,
            )
        if len(ledger) > before:
            evaluation.refit()
        return {
            "answers": n_answers,
            "labels": len(ledger),
            "open": len(evaluation.pending),
        }
