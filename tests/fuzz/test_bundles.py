"""The bundle verifier: no change of any file of a signed bundle is verified, and none breaks the verifier."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from securesystemslib.signer import SSlibKey

from reports import signing, verifying
from reports.files import ENVELOPE, SUMS, sums
from reports.verdict import Verdict
from tests.fuzz.making import changed_bytes, fuzz
from tests.reports.made import bundle_in, new_key, pass_all


class Signed:
    """A signed bundle, and how to put it right again after a change."""

    def __init__(self, folder: Path) -> None:
        private = new_key(folder, "ours")
        bundle = bundle_in(folder / "bundle", signing.load(private))
        pass_all(bundle.ledger)
        bundle.evidence.artefact("server.log.txt", "line\n" * 10)
        assert bundle.close(lambda: None) is Verdict.QUALIFIED
        self.folder = folder / "bundle"
        self.key: SSlibKey = signing.load_public(folder / "ours.pub")
        self.files = {p.relative_to(self.folder): p.read_bytes() for p in self.folder.rglob("*") if p.is_file()}

    def problems(self) -> list[str]:
        return list(verifying.problems(self.folder, self.key))

    def restore(self) -> None:
        shutil.rmtree(self.folder)
        for name, data in self.files.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_bytes(data)


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Signed:
    return Signed(tmp_path_factory.mktemp("signed"))


@given(st.data())
@fuzz
def test_no_change_is_verified(signed: Signed, data: st.DataObject) -> None:
    # The envelope is not compared by its bytes but by what it signs; tests/reports/test_verifying.py changes that.
    names = sorted(name for name in signed.files if name != Path(ENVELOPE))
    name, other = data.draw(st.sampled_from(names)), data.draw(st.sampled_from(names))
    path, was = signed.folder / name, signed.files[name]
    how = data.draw(
        st.sampled_from(["bytes", "bytes", "bytes", "lost", "extra", "link", "folder", "other", "relisted"])
    )
    try:
        if how in ("bytes", "relisted"):
            path.write_bytes(data.draw(changed_bytes(was)))
        elif how == "extra":
            (path.parent / data.draw(st.sampled_from(["extra.txt", ".hidden", "a b", "é\u202e.html"]))).write_bytes(b"")
        elif how == "other":
            path.write_bytes(signed.files[other])
        else:
            path.unlink()
            if how == "link":
                path.symlink_to(signed.folder / other)
            elif how == "folder":
                path.mkdir()
        if how == "relisted" and name != Path(SUMS):
            (signed.folder / SUMS).write_bytes(sums(signed.folder))
        same = how in ("bytes", "relisted", "other") and path.read_bytes() == was

        problems = signed.problems()

        assert bool(problems) != same, (how, str(name))
        assert all("\n" not in problem.strip() for problem in problems), problems
    finally:
        signed.restore()


@given(st.binary(max_size=300), st.sampled_from([SUMS, ENVELOPE, "verdict.json", "statement.json", "deployment.json"]))
@fuzz
def test_bytes_in_place_of_a_file_break_nothing(signed: Signed, raw: bytes, name: str) -> None:
    try:
        (signed.folder / name).write_bytes(raw)

        assert signed.problems()
    finally:
        signed.restore()
