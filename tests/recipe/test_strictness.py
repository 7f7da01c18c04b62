"""What recipe files may say: one schema, exact types, ids in order, and bounds to the last unit."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from recipe import advisories, loading, routes
from recipe import catalogue as catalogues
from recipe import deployment as deployments
from recipe import snapshot as snapshots
from recipe.advisories import covering
from recipe.deployment import DEFAULT, Deployment
from recipe.errors import RecipeError

AMENDED = f"{DEFAULT}-amended"
FILES: list[tuple[Path, Callable[[Path], Any]]] = [
    (deployments.FOLDER / f"{DEFAULT}.toml", lambda path: deployments.load(str(path))),
    (deployments.FOLDER / f"{AMENDED}.toml", lambda path: deployments.load(str(path))),
    (catalogues.FILE, catalogues.load),
    (advisories.FILE, lambda path: covering("vllm", "0.11.2", path)),
    (routes.FILE, lambda path: loading.read(path, routes._Routes)),
]


def changed(tmp_path: Path, original: Path, old: str, new: str) -> Path:
    """Return a copy of a recipe file with one text in it changed."""
    text = original.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / original.name
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


def deployment(tmp_path: Path, old: str, new: str) -> Deployment:
    return deployments.load(str(changed(tmp_path, deployments.FOLDER / f"{DEFAULT}.toml", old, new)))


@pytest.mark.parametrize("number", ["0", "2"])
@pytest.mark.parametrize(("original", "load"), FILES, ids=[path.name for path, _ in FILES])
def test_there_is_one_schema(tmp_path: Path, original: Path, load: Callable[[Path], Any], number: str) -> None:
    path = changed(tmp_path, original, "schema = 1", f"schema = {number}")

    with pytest.raises(RecipeError, match="schema"):
        load(path)


@pytest.mark.parametrize(("original", "load"), FILES, ids=[path.name for path, _ in FILES])
def test_a_name_that_nobody_knows_is_refused(tmp_path: Path, original: Path, load: Callable[[Path], Any]) -> None:
    path = changed(tmp_path, original, "schema = 1", "schema = 1\ncolour = 1")

    with pytest.raises(RecipeError, match="unknown field `colour`"):
        load(path)


def test_a_number_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="Expected `int`, got `str`"):
        deployment(tmp_path, "gpu_count = 4", 'gpu_count = "4"')
    with pytest.raises(RecipeError, match="Expected `int`, got `str`"):
        deployments.load(
            str(
                changed(
                    tmp_path,
                    deployments.FOLDER / f"{AMENDED}.toml",
                    '"image.python" = "python3"',
                    '"host.gpu_count" = "2"',
                )
            )
        )


def test_a_missing_file_is_told_in_these_words(tmp_path: Path) -> None:
    with pytest.raises(RecipeError) as caught:
        loading.read(tmp_path / "none.toml", Deployment)

    assert str(caught.value) == f"{tmp_path}/none.toml: No such file or directory; name an existing recipe file"


def test_a_name_with_line_ends_is_told_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text('{"a\\nb\\u2028c": 1}', encoding="utf-8")

    with pytest.raises(RecipeError, match="unknown field `a b c`; correct the file"):
        loading.read(path, Deployment)


@pytest.mark.parametrize(
    ("value", "taken"), [("nan", False), ("inf", False), ("-inf", False), ("0.3", True), ("[1.0, nan]", False)]
)
def test_a_number_is_finite(tmp_path: Path, value: str, taken: bool) -> None:
    if taken:
        assert deployment(tmp_path, "\ntemperature = 0.2", f"\ntemperature = {value}").request is not None
    else:
        with pytest.raises(RecipeError, match="nan and inf are no numbers that JSON could hold"):
            deployment(tmp_path, "\ntemperature = 0.2", f"\ntemperature = {value}")


def test_only_a_toml_file_is_read_as_one(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text('{"a": 1}', encoding="utf-8")

    assert loading.read(path, dict[str, int]) == {"a": 1}


@pytest.mark.parametrize("pixels", [784, 100 * 784, 256 * 784, 257 * 784 - 1])
def test_a_bound_of_pixels_within_the_grid_is_taken(tmp_path: Path, pixels: int) -> None:
    picture = deployment(tmp_path, "\nmax_pixels = 200704", f"\nmax_pixels = {pixels}").picture

    assert picture is not None
    assert picture.max_pixels == pixels


@pytest.mark.parametrize("pixels", [257 * 784, 300 * 784 + 5, 1 << 20, 1 << 22])
def test_a_bound_of_pixels_beyond_the_grid_is_refused(tmp_path: Path, pixels: int) -> None:
    with pytest.raises(RecipeError, match=r"picture.max_pixels: allows more than 256 grid tokens"):
        deployment(tmp_path, "\nmax_pixels = 200704", f"\nmax_pixels = {pixels}")


@pytest.mark.parametrize(
    ("word", "refused"),
    [("--api-key", True), ("--api-key=k", True), ("--aa", False), ("--api-keys", False), ("--zz", False)],
)
def test_the_key_is_in_no_argument(tmp_path: Path, word: str, refused: bool) -> None:
    def act() -> Deployment:
        return deployment(tmp_path, '"--trust-remote-code",', f'"--trust-remote-code", "{word}",')

    if refused:
        with pytest.raises(RecipeError, match="--api-key would put the key into the process list"):
            act()
    else:
        assert act().service is not None


def test_a_deployment_holds_for_ninety_days_unless_it_says() -> None:
    assert deployments.load(DEFAULT).validity_days == 90


@pytest.mark.parametrize("project", ["a", "vll", "vllm2", "zzz", ""])
def test_an_advisory_covers_its_own_project(project: str) -> None:
    assert covering(project, "0.11.2") == ()


def test_amendments_count_up(tmp_path: Path) -> None:
    path = changed(tmp_path, deployments.FOLDER / f"{AMENDED}.toml", 'id = "A2"', 'id = "A1"')
    with pytest.raises(RecipeError, match="A2 is next"):
        deployments.load(str(path))
    path = changed(tmp_path, deployments.FOLDER / f"{AMENDED}.toml", 'id = "A2"', 'id = "A3"')
    with pytest.raises(RecipeError, match="A2 is next"):
        deployments.load(str(path))


HEAD = 'schema = 1\n[[stages]]\nid = "HST"\ntitle = "h"\n[[stages]]\nid = "IMG"\ntitle = "i"\n'


@pytest.mark.parametrize(
    ("order", "says"),
    [
        (("HST-01", "HST-03", "HST-02"), "requirements[HST-02]: stands after HST-03: ids of a stage go up"),
        (("HST-01", "IMG-05", "IMG-02"), "requirements[IMG-02]: stands after IMG-05: ids of a stage go up"),
        (("HST-01", "IMG-01", "HST-02"), "requirements[HST-02]: stands after IMG-01, which belongs to a later stage"),
        (("IMG-01", "IMG-02", "HST-09"), "requirements[HST-09]: stands after IMG-02, which belongs to a later stage"),
        (("HST-01", "HST-02", "HST-02"), "requirements[HST-02]: this id stands twice"),
        (("HST-01", "HST-05", "IMG-01"), ""),
        (("HST-02", "HST-09", "IMG-01", "IMG-02"), ""),
    ],
)
def test_requirements_stand_in_order(tmp_path: Path, order: tuple[str, ...], says: str) -> None:
    entries = [
        f'[[requirements]]\nid = "{name}"\nlevel = "MUST"\nsays = "s"\nsource = "g"\nremedy = "r"\n' for name in order
    ]
    path = tmp_path / "requirements.toml"
    path.write_text(HEAD + "".join(entries), encoding="utf-8")

    if says:
        with pytest.raises(RecipeError, match=re.escape(says)):
            catalogues.load(path)
    else:
        assert tuple(entry.id for entry in catalogues.load(path).requirements) == order


@pytest.mark.parametrize(("port", "taken"), [(-1, False), (0, True), (8000, True), (65535, True), (65536, False)])
def test_a_port_is_one(tmp_path: Path, port: int, taken: bool) -> None:
    if taken:
        service = deployment(tmp_path, "\nport = 8000", f"\nport = {port}").service
        assert service is not None
        assert service.port == port
    else:
        with pytest.raises(RecipeError, match=r"service.port: Expected `int`"):
            deployment(tmp_path, "\nport = 8000", f"\nport = {port}")


def test_a_mount_is_writable_unless_it_says() -> None:
    service = deployments.load(DEFAULT).service

    assert service is not None
    assert [mount.read_only for mount in service.mounts] == [True, True, False]


@pytest.mark.parametrize("before", range(4))
def test_the_limit_of_media_is_what_follows_its_argument(before: int) -> None:
    service = deployments.load(DEFAULT).service
    assert service is not None
    words = ("x",) * before
    changed_to = msgspec.structs.replace(service, arguments=(*words, "--limit-mm-per-prompt", "limit", "y"))

    assert changed_to.media_limit == "limit"
    assert msgspec.structs.replace(service, arguments=(*words, "--limit-mm-per-prompt")).media_limit == ""
    assert msgspec.structs.replace(service, arguments=words).media_limit is None


@pytest.mark.parametrize(
    ("status", "heading"),
    [
        (401, "protected"),
        (403, "protected"),
        (402, "unknown"),
        (400, "unknown"),
        (404, "not there"),
        (410, "not there"),
        (409, "unknown"),
        (411, "unknown"),
        (405, "unknown"),
        (200, "unknown"),
    ],
)
def test_a_route_that_nobody_knows_is_sorted_by_its_answer(status: int, heading: str) -> None:
    assert routes.sort("/made/up", status) == heading


@pytest.mark.parametrize("more", [-1, 1])
def test_the_shards_add_up_to_the_byte(tmp_path: Path, more: int) -> None:
    total = snapshots.load("rehearsal").shard_bytes
    path = changed(
        tmp_path, snapshots.FOLDER / "rehearsal.json", f'"shard_bytes": {total}', f'"shard_bytes": {total + more}'
    )

    with pytest.raises(RecipeError, match=f"states {total + more:,}, but the shards add up to {total:,}"):
        snapshots.load(path.stem, path.parent)


def test_the_first_file_that_is_listed_twice_is_named(tmp_path: Path) -> None:
    told = json.loads((snapshots.FOLDER / "rehearsal.json").read_text(encoding="utf-8"))
    told["auxiliaries"] |= told["shards"]
    (tmp_path / "mine.json").write_text(json.dumps(told), encoding="utf-8")

    with pytest.raises(RecipeError, match=r"auxiliaries: model-00001-of-00002\.safetensors is also a shard"):
        snapshots.load("mine", tmp_path)
