"""The pytest plugin: options, the two modes of a run, and the catalogue's fixtures.

``pytest`` runs the suite's own tests; ``pytest -m qualify`` judges a host, and only then the `Qualification` plugin
takes part.
"""

from __future__ import annotations

import datetime as dt
import shutil
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from recipe import catalogue as catalogues
from recipe import deployment as deployments
from recipe import snapshot as snapshots
from recipe.catalogue import Catalogue
from recipe.deployment import DEFAULT, Deployment, stated
from recipe.errors import RecipeError
from recipe.snapshot import Snapshot
from reports import hooks, waivers
from reports.conditions import Conditions
from reports.exchange import Exchange
from reports.files import BundleError
from reports.log import Log
from reports.preflight import refuse_disorder, wants_qualification
from reports.qualification import Qualification
from reports.recording import Recording
from reports.replay import Replay

if TYPE_CHECKING:
    from reports.signing import Signing

ROOT = Path(__file__).resolve().parent.parent
# Options that mean nothing outside a qualification.
LONE = (
    "deployment", "bundle", "waivers", "attach", "leave_running", "remove", "stage", "plan", "fault", "world",
    "snapshot_from", "jobs", "sign_key", "replay",
)  # fmt: skip
HOST = "hst"
QUALIFICATION = pytest.StashKey[Qualification]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("qualify", "vllm-qualify: qualification of a host (with -m qualify)")
    group.addoption("--deployment", metavar="NAME|FILE", help=f"which deployment to qualify (default: {DEFAULT})")
    group.addoption("--bundle", metavar="DIR", help="where this run's bundle goes (default: a new one in reports/out)")
    group.addoption("--sign-key", metavar="FILE", help="sign the bundle with this Ed25519 private key, in PEM")
    group.addoption("--waivers", metavar="FILE", help="waivers of failed requirements, a .toml file (see README)")
    group.addoption(
        "--attach",
        metavar="NAME",
        default="",
        help="qualify the container that runs under that name; start and stop none",
    )
    group.addoption(
        "--leave-running", action="store_true", help="leave a service running that qualifies, and judge no stop"
    )
    group.addoption(
        "--remove", action="store_true", help="after the stop, remove work folder and images and judge that"
    )
    group.addoption(
        "--stage",
        choices=[HOST],
        help="judge the host alone, and change nothing on it; the verdict is INCOMPLETE at best",
    )
    group.addoption("--replay", metavar="BUNDLE", help="judge the recorded facts of a bundle again, without its host")
    group.addoption(
        "--plan", action="store_true", help="judge the host alone, then print what a run would do, and do none of it"
    )


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(hooks)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "qualify: a requirement of the qualification (pytest -m qualify)")
    if not wants_qualification(config.option.markexpr):
        _refuse_lone_options(config)
        return
    refuse_disorder(config)
    try:
        qualification = _replay(config) if config.option.replay else _qualification(config)
    except RecipeError as error:
        raise pytest.UsageError(f"recipe: {error}") from error
    except BundleError as error:
        raise pytest.UsageError(f"{'--replay' if config.option.replay else '--sign-key'} {error}") from error
    config.stash[QUALIFICATION] = qualification
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args = [str(ROOT / "qualification")]
    config.pluginmanager.register(qualification, "qualification")
    config.pluginmanager.register(Exchange(qualification.bundle, qualification.interrupts), "exchange")
    config.pluginmanager.register(Log(qualification.bundle), "log")


def _qualification(config: pytest.Config) -> Qualification:
    """Make the run that the options ask for."""
    catalogue = catalogues.load()
    deployment = deployments.load(config.option.deployment or DEFAULT)
    snapshot = snapshots.documented(deployment.snapshot)
    conditions = _conditions(config, catalogue, deployment)
    return Qualification(config, catalogue, deployment, snapshot, conditions, _signing(config))


def _signing(config: pytest.Config) -> Signing | None:
    """Return the key that signs, None where none was given."""
    if not config.option.sign_key:
        return None
    from reports import signing  # cryptography takes its time, and only a signed run needs it

    return signing.load(Path(config.option.sign_key))


def _replay(config: pytest.Config) -> Qualification:
    """Make the run that judges a bundle's facts again, under its own conditions; what it writes is thrown away."""
    for name in ("workdir", *LONE):
        if name != "replay" and config.getoption(name, default=None):
            raise pytest.UsageError(f"--replay takes all from the bundle: leave {_spelt(name)} out")
    recording = Recording(Path(config.option.replay).expanduser().resolve())
    folder = Path(tempfile.mkdtemp(prefix="vllm-qualify-replay-"))
    config.add_cleanup(partial(shutil.rmtree, folder, ignore_errors=True))
    config.option.bundle = str(folder / "bundle")
    told = recording.document
    qualification = Qualification(config, catalogues.load(), recording.deployment, recording.snapshot, told.conditions)
    config.pluginmanager.register(Replay(recording, qualification), "replay")
    return qualification


def _conditions(config: pytest.Config, catalogue: Catalogue, deployment: Deployment) -> Conditions:
    """Return what the options say. Raises RecipeError for a broken file of waivers, UsageError for a contradiction."""
    option = config.option
    alone = tuple(name for name in ("stage", "plan") if getattr(option, name))
    given = [name for name in ("attach", "leave_running", "remove", *alone[:1]) if getattr(option, name)]
    if len(given) > 1:
        raise pytest.UsageError(f"{' and '.join(_spelt(name) for name in given)} exclude each other")
    if given[:1] in (["attach"], ["leave_running"]) and deployment.engine != "docker":
        raise pytest.UsageError(f"{_spelt(given[0])} needs a container; {deployment.name} runs in none")
    today = dt.datetime.now(dt.UTC).date()
    return Conditions(
        amendments=deployment.amendments,
        waivers=waivers.load(Path(option.waivers), catalogue, today) if option.waivers else (),
        attached=option.attach,
        leaves_running=option.leave_running,
        removes=option.remove,
        only_stage=HOST.upper() if alone else "",
        unpinned=deployment.unpinned,
    )


def _spelt(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _refuse_lone_options(config: pytest.Config) -> None:
    for name in LONE:
        if config.getoption(name, default=None):
            option = _spelt(name)
            raise pytest.UsageError(f"{option} belongs to a qualification: say 'pytest -m qualify {option} …'")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Outside a qualification no requirement is judged, however its test was named on the command line."""
    if QUALIFICATION not in config.stash and any(ROOT / "qualification" in item.path.parents for item in items):
        raise pytest.UsageError("tests of qualification/ run only as 'pytest -m qualify'")


@pytest.fixture(scope="session")
def deployment(request: pytest.FixtureRequest) -> Deployment:
    """The deployment under qualification, as its file states it."""
    return request.config.stash[QUALIFICATION].deployment


@pytest.fixture(scope="session")
def snapshot(request: pytest.FixtureRequest) -> Snapshot:
    """The documented snapshot of the model, every file with bytes and SHA256."""
    return stated(request.config.stash[QUALIFICATION].snapshot)
