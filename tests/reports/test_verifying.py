"""A signed bundle, tampered with in every way that we can think of: each is found, with a message of its own."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports import html, signing, verifying
from reports.__main__ import main
from reports.files import ENVELOPE, STATEMENT, SUMS, read_sums, sums
from reports.signing import Signing, SigningError
from reports.verdict import Verdict
from tests.reports.made import bundle_in, new_key, pass_all


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two key pairs and a signed bundle."""
    folder = tmp_path_factory.mktemp("signed")
    private = new_key(folder, "ours")
    new_key(folder, "theirs")
    bundle = bundle_in(folder / "bundle", signing.load(private))
    pass_all(bundle.ledger)
    bundle.evidence.artefact("server.log.txt", "line\n" * 10)
    assert bundle.close(lambda: None) is Verdict.QUALIFIED
    return folder


@pytest.fixture
def bundle(made: Path, tmp_path: Path) -> Path:
    """A copy of it, to be tampered with."""
    return Path(shutil.copytree(made / "bundle", tmp_path / "bundle"))


def found(bundle: Path, made: Path, key: str = "ours") -> list[str]:
    return list(verifying.problems(bundle, signing.load_public(made / f"{key}.pub")))


def change(path: Path, **changes: Any) -> None:
    told = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(told | changes), encoding="utf-8")


def relist(bundle: Path) -> None:
    """Make the list fit again, as somebody would who cannot sign."""
    (bundle / SUMS).write_bytes(sums(bundle))


def pass_a_failure(bundle: Path) -> None:
    change(bundle / "verdict.json", verdict="NOT QUALIFIED")
    relist(bundle)


def swap_files(bundle: Path) -> None:
    first, second = bundle / "junit.xml", bundle / "ctrf.json"
    data = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(data)


def replace_by_link(bundle: Path) -> None:
    path = bundle / "artefacts" / "server.log.txt"
    moved = bundle.parent / "elsewhere.txt"
    path.rename(moved)
    path.symlink_to(moved)


def flip_signature(bundle: Path) -> None:
    told = json.loads((bundle / ENVELOPE).read_text(encoding="utf-8"))
    raw = bytearray(base64.b64decode(told["signatures"][0]["sig"]))
    raw[0] ^= 1
    told["signatures"][0]["sig"] = base64.b64encode(raw).decode()
    (bundle / ENVELOPE).write_text(json.dumps(told), encoding="utf-8")


def forge_statement(bundle: Path) -> None:
    """Change statement and payload alike, under the old signature."""
    relist(bundle)
    told = json.loads((bundle / ENVELOPE).read_text(encoding="utf-8"))
    stated = (bundle / STATEMENT).read_text(encoding="utf-8").replace('"FAILED"', '"PASSED"', 1)
    (bundle / STATEMENT).write_text(stated, encoding="utf-8")
    told["payload"] = base64.b64encode(stated.encode()).decode()
    (bundle / ENVELOPE).write_text(json.dumps(told), encoding="utf-8")


def append(name: str, text: str = " ") -> Callable[[Path], None]:
    def act(bundle: Path) -> None:
        with (bundle / name).open("a", encoding="utf-8") as file:
            file.write(text)

    return act


def remove(name: str) -> Callable[[Path], None]:
    return lambda bundle: (bundle / name).unlink()


def add(name: str) -> Callable[[Path], None]:
    def act(bundle: Path) -> None:
        (bundle / name).parent.mkdir(exist_ok=True)
        (bundle / name).write_text("new", encoding="utf-8")

    return act


TAMPERINGS: dict[str, tuple[Callable[[Path], None], str]] = {
    "page": (append("report.html"), "report.html: altered"),
    "log": (append("artefacts/server.log.txt"), "artefacts/server.log.txt: altered"),
    "fact": (add("facts/gpus.json"), "facts/gpus.json: extra"),
    "swapped": (swap_files, "junit.xml: altered"),
    "link": (replace_by_link, "artefacts/server.log.txt: altered; it is a link"),
    "missing": (remove("junit.xml"), "junit.xml: missing"),
    "missing verdict": (remove("verdict.json"), "verdict.json: No such file or directory"),
    "missing list": (remove(SUMS), "without the list nobody can tell"),
    "missing statement": (remove(STATEMENT), f"{STATEMENT}: No such file or directory"),
    "extra": (add("artefacts/more.txt"), "artefacts/more.txt: extra"),
    "hidden extra": (add(".hidden/x"), ".hidden/x: extra"),
    "verdict and list": (pass_a_failure, "the verdict does not follow from its rows"),
    "schema": (lambda bundle: change(bundle / "verdict.json", schema="other/1"), "is not of the schema"),
    "unknown field": (lambda bundle: change(bundle / "verdict.json", note="fine"), "is not of the schema"),
    "counts": (lambda bundle: change(bundle / "verdict.json", counts={"passed": 1}), "the counts are not those"),
    "headline": (lambda bundle: change(bundle / "verdict.json", headline="QUALIFIED"), "the headline is not that"),
    "list alone": (append(SUMS, f"{'0' * 64}  ghost\n"), "ghost: missing"),
    "list leads out": (append(SUMS, f"{'0' * 64}  ../../etc/passwd\n"), "leads out of the bundle"),
    "broken list": (append(SUMS, "nonsense\n"), "is no line of a list"),
    "unsigned": (remove(ENVELOPE), "unsigned: there is no statement.dsse.json"),
    "signature": (flip_signature, "the signature does not fit"),
    "forged statement": (forge_statement, "the signature does not fit"),
    "statement alone": (append(STATEMENT, "\n"), f"{STATEMENT}: altered; it is not the one that was signed"),
    "no envelope": (lambda bundle: change(bundle / ENVELOPE, payload=None), "no DSSE envelope"),
}


def test_an_untouched_bundle_is_verified(bundle: Path, made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert found(bundle, made) == []
    assert main(["verify", str(bundle), "--key", str(made / "ours.pub")]) == 0
    assert capsys.readouterr().out.startswith("verified: REHEARSAL: QUALIFIED\nrehearsal on ")
    done = subprocess.run(["sha256sum", "--check", "--strict", "--quiet", SUMS], cwd=bundle, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("name", TAMPERINGS)
def test_a_tampered_bundle_is_found(name: str, bundle: Path, made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tamper, message = TAMPERINGS[name]
    tamper(bundle)

    assert any(message in problem for problem in found(bundle, made)), found(bundle, made)
    assert main(["verify", str(bundle), "--key", str(made / "ours.pub")]) == 1
    told = capsys.readouterr()
    assert message in told.err
    assert "verified" not in told.out


def test_an_unknown_signer_is_told_as_such(bundle: Path, made: Path) -> None:
    problems = found(bundle, made, "theirs")

    assert len(problems) == 1
    assert problems[0].startswith("unknown signer: signed by ")


def test_another_signer_in_our_name_does_not_pass(bundle: Path, made: Path) -> None:
    theirs = signing.load(made / "theirs.key")
    ours = signing.load_public(made / "ours.pub").keyid
    envelope = json.loads(theirs.sign((bundle / STATEMENT).read_bytes()))
    envelope["signatures"][0]["keyid"] = ours
    (bundle / ENVELOPE).write_text(json.dumps(envelope), encoding="utf-8")

    assert found(bundle, made) == ["the signature does not fit: statement or signature was altered"]


def test_a_signature_of_another_kind_does_not_pass(bundle: Path, made: Path) -> None:
    envelope = json.loads((bundle / ENVELOPE).read_text(encoding="utf-8"))
    envelope["payloadType"] = "text/plain"
    (bundle / ENVELOPE).write_text(json.dumps(envelope), encoding="utf-8")

    assert "not of application/vnd.in-toto+json" in found(bundle, made)[0]


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_no_change_of_an_envelope_passes_or_breaks_the_verifier(made: Path, data: st.DataObject) -> None:
    whole = (made / "bundle" / ENVELOPE).read_bytes()
    key = signing.load_public(made / "ours.pub")
    place = data.draw(st.integers(0, len(whole) - 1))
    changed = whole[:place] + data.draw(st.binary(max_size=3)) + whole[place + data.draw(st.integers(0, 3)) :]
    payload = (made / "bundle" / STATEMENT).read_bytes()

    try:
        said = signing.verified(changed, key)
    except SigningError:
        return
    assert said == payload  # white space of JSON may change without any harm


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing", "No such file or directory; make one with 'openssl genpkey"),
        ("open", "others may read or change this private key; 'chmod 600' it"),
        ("ours.pub", "not a private key in PEM"),
        ("rsa", "not an Ed25519 key"),
        ("encrypted", "the key is encrypted"),
        ("text", "not a private key in PEM"),
    ],
)
def test_a_private_key_that_will_not_do_is_one_line(made: Path, tmp_path: Path, name: str, message: str) -> None:
    path = tmp_path / name
    if name == "rsa":
        subprocess.run(["openssl", "genrsa", "-out", str(path), "2048"], check=True, capture_output=True)
    elif name == "encrypted":
        argv = ["openssl", "genpkey", "-algorithm", "ed25519", "-aes256", "-pass", "pass:x", "-out", str(path)]
        subprocess.run(argv, check=True)
    elif name == "text":
        path.write_text("hello", encoding="utf-8")
    elif name != "nothing":
        shutil.copy(made / ("ours.pub" if name == "ours.pub" else "ours.key"), path)
    if path.exists():
        path.chmod(0o644 if name == "open" else 0o600)

    with pytest.raises(SigningError, match=message) as caught:
        signing.load(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["nothing", "ours.key", "rsa.pub"])
def test_a_public_key_that_will_not_do_is_one_line(made: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    if name == "rsa.pub":
        subprocess.run(["openssl", "genrsa", "-out", made / "rsa", "2048"], check=True, capture_output=True)
        subprocess.run(
            ["openssl", "rsa", "-in", made / "rsa", "-pubout", "-out", made / name], check=True, capture_output=True
        )

    assert main(["verify", str(made / "bundle"), "--key", str(made / name)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_page_is_rendered_again_and_a_listed_one_is_never_replaced_by_another(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (bundle / "report.html").read_bytes()
    assert main(["render", str(bundle)]) == 0
    assert capsys.readouterr().out.endswith("report.html: the same to the byte\n")

    (bundle / "report.html").write_bytes(b"altered")
    assert main(["render", str(bundle)]) == 0
    assert (bundle / "report.html").read_bytes() == page

    monkeypatch.setitem(html.WORDS, "QUALIFIED", "Other words, as of another version.")
    assert main(["render", str(bundle)]) == 1
    assert "this checkout makes another page than the listed one" in capsys.readouterr().err
    assert (bundle / "report.html").read_bytes() == page

    elsewhere = bundle.parent / "page.html"
    assert main(["render", str(bundle), "--output", str(elsewhere)]) == 0
    assert b"Other words" in elsewhere.read_bytes()


def test_a_run_that_was_killed_gets_its_page(bundle: Path) -> None:
    for name in ("report.html", SUMS, STATEMENT, ENVELOPE):
        (bundle / name).unlink()

    assert main(["render", str(bundle)]) == 0
    assert (bundle / "report.html").is_file()


def test_the_key_prints_nothing_of_itself(made: Path) -> None:
    private = signing.load(made / "ours.key")
    text = (made / "ours.key").read_text(encoding="utf-8").splitlines()[1]

    assert text not in repr(private) + str(vars(private))
    assert private.secret.reveal() == text
    assert isinstance(private, Signing)


def test_a_list_is_read_as_it_was_written(bundle: Path) -> None:
    listed = read_sums(sums(bundle))

    assert {"verdict.json", "report.html", "junit.xml", "ctrf.json", "deployment.json", "snapshot.json"} <= set(listed)
    assert not {SUMS, STATEMENT, ENVELOPE} & set(listed)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"rehearsal": False}, "the headline is not that of the verdict"),
        ({"headline": "QUALIFIED"}, "the headline is not that of the verdict"),
        ({"headline": "REHEARSAL: INCOMPLETE"}, "the headline is not that of the verdict"),
        (
            {"verdict": "INCOMPLETE"},
            "the verdict does not follow from its rows: it says INCOMPLETE, they make QUALIFIED",
        ),
        (
            {"interrupted": "SIGINT"},
            "the verdict does not follow from its rows: it says QUALIFIED, they make INCOMPLETE",
        ),
        ({"counts": {"passed": 1}}, "the counts are not those of the rows"),
    ],
)
def test_each_contradiction_has_its_line(bundle: Path, made: Path, changes: dict[str, Any], says: str) -> None:
    before = found(bundle, made)
    change(bundle / "verdict.json", **changes)
    relist(bundle)

    assert before == []
    assert [line for line in found(bundle, made) if line.startswith(says)]


def test_a_plain_bundle_has_no_line_of_a_contradiction(bundle: Path, made: Path) -> None:
    change(bundle / "verdict.json", host="another")

    assert not [line for line in found(bundle, made) if line.startswith(("the headline", "the verdict", "the counts"))]
