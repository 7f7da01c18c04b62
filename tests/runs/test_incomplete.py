"""A run that was cut short, thinned out or bent is never qualified and never exits 0."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.running import ROOT, Qualify


@pytest.mark.parametrize(
    "options",
    [
        ("-k", "hst_05"),
        ("-k", "not vfy_07"),
        ("--deselect", "qualification/test_60_verification.py::test_vfy_10_no_key_is_401"),
        ("--deselect", "qualification/test_30_weights.py::test_wts_01_shard_is_documented"),
        ("--setup-plan",),
        ("--setup-only",),
        ("--collect-only",),
        ("--maxfail=1", "-k", "hst"),
    ],
    ids=" ".join,
)
def test_a_thinned_out_run_is_incomplete(qualify: Qualify, options: tuple[str, ...]) -> None:
    ended = qualify(*options)

    assert ended.status != 0
    assert ended.verdict == "INCOMPLETE", ended.output
    assert ended.ids("not run")
    assert qualify.leftovers() == []


def test_a_selected_requirement_is_still_judged(qualify: Qualify) -> None:
    ended = qualify("-k", "hst_05")

    assert ended.ids("passed") == {"HST-05"}
    assert ended.row("IMG-01")["found"] == "not selected in this run"


def test_stopping_at_the_first_failure_leaves_the_rest_not_run(qualify: Qualify) -> None:
    ended = qualify("-x", "--fault", "gpu-fifth")

    assert (ended.status, ended.verdict) == (1, "NOT QUALIFIED")
    assert ended.ids("failed") == {"HST-03"}
    assert "VFY-07" in ended.ids("not run")


def test_last_failed_is_incomplete(qualify: Qualify) -> None:
    cache = ()
    options = ("-o", f"cache_dir={qualify.folder / 'cache'}")
    qualify(*options, "--fault", "headline-misread", plugins=cache)

    ended = qualify(*options, "--lf", plugins=cache)

    assert (ended.status, ended.verdict) == (1, "INCOMPLETE"), ended.output
    assert ended.ids("passed") == {"VFY-07"}


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("skipper", "import pytest\ndef pytest_runtest_setup(item):\n    pytest.skip('not today')\n", "Skipped: not today"),
        ("quitter", "import pytest\ndef pytest_runtest_logfinish():\n    pytest.exit('enough', returncode=0)\n", ""),
        ("expecter", "import pytest\ndef pytest_collection_modifyitems(items):\n"
         "    [i.add_marker(pytest.mark.xfail(strict=False)) for i in items]\n"
         "def pytest_runtest_call(item):\n    assert 0\n", ""),
        ("emptier", "def pytest_collection_modifyitems(items):\n    items.clear()\n", ""),
        ("disorderer", "import pytest\n@pytest.hookimpl(tryfirst=True)\n"
         "def pytest_runtestloop(session):\n    session.items.reverse()\n", "out of the catalogue's order"),
        ("sorter", "import pytest\n@pytest.hookimpl(tryfirst=True)\n"
         "def pytest_collection_finish(session):\n    session.items.reverse()\n", "not in the catalogue's order"),
    ],
)  # fmt: skip
def test_a_meddling_plugin_cannot_make_it_green(qualify: Qualify, name: str, text: str, says: str) -> None:
    (qualify.folder / f"{name}.py").write_text(text, encoding="utf-8")

    ended = qualify(plugins=("no:cacheprovider", name), env={"PYTHONPATH": str(qualify.folder)})

    assert ended.status != 0
    assert ended.verdict in ("INCOMPLETE", "NOT QUALIFIED")
    assert says in ended.output
    assert qualify.leftovers() == []


def test_a_crash_leaves_an_incomplete_bundle(qualify: Qualify) -> None:
    text = "import os\ndef pytest_runtest_setup(item):\n    'vfy_01' in item.name and os._exit(0)\n"
    (qualify.folder / "crasher.py").write_text(text, encoding="utf-8")

    ended = qualify(plugins=("no:cacheprovider", "crasher"), env={"PYTHONPATH": str(qualify.folder)})

    assert ended.verdict == "INCOMPLETE"
    assert not [entry for entry in qualify.leftovers() if "standin" in entry]


@pytest.mark.parametrize("hook", ["pytest_runtest_logfinish(nodeid)", "pytest_sessionfinish()"])
def test_a_fault_after_the_last_test_is_incomplete(qualify: Qualify, hook: str) -> None:
    when = "'stp_03' in nodeid" if "nodeid" in hook else "True"
    text = f"def {hook}:\n    if {when}:\n        raise RuntimeError('too late')\n"
    (qualify.folder / "late.py").write_text(text, encoding="utf-8")

    ended = qualify(plugins=("no:cacheprovider", "late"), env={"PYTHONPATH": str(qualify.folder)})

    assert ended.status not in (0, None)
    assert ended.verdict == "INCOMPLETE", ended.output
    assert ended.told["interrupted"] == "a fault of the suite"
    assert not [entry for entry in qualify.leftovers() if "standin" in entry]


def copy_of_the_suite(folder: Path) -> Path:
    """Return a copy of the tree without history, caches and bundles."""
    target = folder / "suite"
    left_out = shutil.ignore_patterns(".*", "__pycache__", "out")
    shutil.copytree(ROOT, target, ignore=left_out)
    return target


def test_a_removed_test_is_incomplete(qualify: Qualify) -> None:
    suite = copy_of_the_suite(qualify.folder)
    path = suite / "qualification" / "test_70_stop.py"
    path.write_text(path.read_text(encoding="utf-8").replace("def test_stp_03", "def _stp_03"), encoding="utf-8")

    ended = qualify(cwd=suite)

    assert (ended.status, ended.verdict) == (1, "INCOMPLETE"), ended.output
    assert ended.ids("not run") == {"STP-03"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("\n\ndef test_stp_01_again(requirement):\n    requirement.finds(1)\n", "STP-01 has two tests"),
        ("\n\ndef test_stp_99_unknown():\n    pass\n", "no requirement of the catalogue"),
    ],
)
def test_a_test_without_a_requirement_of_its_own_is_refused(qualify: Qualify, change: str, says: str) -> None:
    suite = copy_of_the_suite(qualify.folder)
    path = suite / "qualification" / "test_70_stop.py"
    path.write_text(path.read_text(encoding="utf-8") + change, encoding="utf-8")

    ended = qualify(cwd=suite)

    assert ended.status == 4
    assert says in ended.output
    assert "Traceback" not in ended.output


def test_a_fault_of_the_suite_is_an_error_and_never_the_hosts_failure(qualify: Qualify) -> None:
    suite = copy_of_the_suite(qualify.folder)
    path = suite / "fixtures" / "probes" / "system.py"
    broken = path.read_text(encoding="utf-8").replace('text = machine.text("/etc/os-release")', "text = 1 / 0")
    path.write_text(broken, encoding="utf-8")

    ended = qualify(cwd=suite)

    assert (ended.status, ended.verdict) == (1, "INCOMPLETE"), ended.output
    assert ended.ids("error") == {"HST-01", "HST-16", "HST-24", "HST-26", "HST-27"}
    assert ended.ids("failed") == set()
    assert ended.row("IMG-01")["found"] == "blocked by HST-01"
    evidence = [path for path in ended.row("HST-01")["evidence"] if path.startswith("artefacts/error")]
    assert "ZeroDivisionError" in (ended.bundle / evidence[0]).read_text(encoding="utf-8")
    assert "A fault of the suite" in ended.output


def test_a_disk_that_fills_up_is_one_clear_line(qualify: Qualify) -> None:
    text = (
        "import reports.bundle as b\nordinary = b.write_atomically\n"
        "def full(path, data):\n    if path.name == 'junit.xml':\n        raise OSError(28, 'No space left on device')\n"
        "    ordinary(path, data)\nb.write_atomically = full\n"
    )
    (qualify.folder / "filler.py").write_text(text, encoding="utf-8")

    ended = qualify(plugins=("no:cacheprovider", "filler"), env={"PYTHONPATH": f"{qualify.folder}:{ROOT}"})

    assert ended.status == 1, ended.output
    assert "the bundle could not be written (No space left on device): free space in" in ended.output
    assert "Traceback" not in ended.output
    assert "REHEARSAL: INCOMPLETE" in ended.output


def test_without_the_report_plugin_nothing_can_pass(qualify: Qualify) -> None:
    ended = qualify(deployment=None, plugins=("no:cacheprovider", "no:reports.plugin"))

    assert ended.status != 0
    assert " passed" not in ended.output
