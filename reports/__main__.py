"""What is done with bundles after their run: ``python -m reports COMMAND``. Only ``status`` asks the host.

Each command imports for itself what only it needs: templates and cryptography take longer than most answers.
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from reports import document
from reports.files import BundleError, listed_sha256, write_atomically
from reports.suite import ROOT


def verify(options: argparse.Namespace) -> int:
    """Check signature, list, schema and completeness."""
    from reports import signing, verifying

    key = signing.load_public(options.key)
    found = list(verifying.problems(options.bundle, key))
    for problem in found:
        print(problem, file=sys.stderr)
    if found:
        print(f"NOT VERIFIED: {options.bundle}", file=sys.stderr)
        return 1
    told = document.load(options.bundle)
    print(f"verified: {told.headline}")
    print(f"{told.deployment.name} on {told.host}, {document.moment(told.ended)}, signed by {key.keyid}")
    return 0


def replay(options: argparse.Namespace) -> int:
    """Judge the recorded facts again, by the tests of this checkout."""
    argv = [sys.executable, "-m", "pytest", "-m", "qualify", f"--replay={options.bundle.resolve()}"]
    return subprocess.run(argv, cwd=ROOT, check=False).returncode


def render(options: argparse.Namespace) -> int:
    """Write report.html again, the same to the byte; another page goes elsewhere, with --output."""
    from reports import html

    told = document.load(options.bundle)
    page = html.render(told, options.bundle)
    path = options.output or options.bundle / html.FILE
    listed = listed_sha256(options.bundle, html.FILE)
    if not options.output and listed and hashlib.sha256(page).hexdigest() != listed:
        print(
            f"{path}: this checkout makes another page than the listed one, by version {told.suite.version}, commit "
            f"{told.suite.commit}; nothing was written: check that one out, or name an --output",
            file=sys.stderr,
        )
        return 1
    same = path.is_file() and path.read_bytes() == page
    if not same:
        write_atomically(path, page)
    print(f"{path}: {'the same to the byte' if same else 'written'}")
    return 0


def compare(options: argparse.Namespace) -> int:
    """List what changed between two bundles; status 1 where ground or outcomes did."""
    from reports import comparing
    from reports.recording import Recording

    found = comparing.changes(Recording(options.bundle), Recording(options.other))
    for title, lines in (("ground", found.ground), ("outcomes", found.outcomes), ("measurements", found.measured)):
        print(f"{title}:" if lines else f"{title}: the same")
        for line in lines:
            print(f"  {line}")
    return 1 if found.ground or found.outcomes else 0


def status(options: argparse.Namespace) -> int:
    """Say whether a qualification still holds on this host; status 0 only where it does."""
    from reports import standing

    told = document.load(options.bundle)
    now = standing.facts_now(options.bundle, told.fingerprint.model_folder)
    aspects = standing.standing(told, now, dt.datetime.now(dt.UTC).date())
    for aspect in aspects:
        print(f"{aspect.state:8} {aspect.name:10} {aspect.told}")
    open_ones = [aspect for aspect in aspects if aspect.state is not standing.State.HOLDS]
    if not open_ones:
        print("The qualification holds.")
        return 0
    parts = dict.fromkeys(aspect.judges_again for aspect in open_ones)
    again = standing.ALL if standing.ALL in parts else "; ".join(parts)
    print(f"It does not hold: a new run must judge again: {again}.")
    print(f"pytest -m qualify --deployment={told.deployment.name}")
    return 1


def index(options: argparse.Namespace) -> int:
    """Write an overview page of all bundles below a folder."""
    from reports import overview

    print(overview.write(options.bundle))
    return 0


def summarise(options: argparse.Namespace) -> int:
    """Print a run for a CI system's job page, or as annotations."""
    from reports import summary

    told = document.load(options.bundle)
    sys.stdout.write(summary.workflow_commands(told) if options.annotations else summary.markdown(told))
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    made = argparse.ArgumentParser(prog="python -m reports", description=(__doc__ or "").partition("\n")[0])
    commands = made.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, act: Callable[[argparse.Namespace], int], where: str = "BUNDLE") -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=act.__doc__, description=act.__doc__)
        added.add_argument("bundle", metavar=where, type=Path)
        added.set_defaults(act=act)
        return added

    command("verify", verify).add_argument("--key", metavar="PUBLIC_KEY", type=Path, required=True)
    command("replay", replay)
    command("render", render).add_argument("--output", metavar="FILE", type=Path, help="write the page there")
    command("compare", compare, "A").add_argument("other", metavar="B", type=Path)
    command("status", status)
    command("index", index, "DIR")
    command("summary", summarise).add_argument("--annotations", action="store_true", help="as GitHub's annotations")
    return made


def main(arguments: list[str]) -> int:
    """Run one command. What cannot be read is one line, and status 2."""
    options = parser().parse_args(arguments)
    try:
        return int(options.act(options))
    except BundleError as error:
        print(error, file=sys.stderr)
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
