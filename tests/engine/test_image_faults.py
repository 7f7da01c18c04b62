"""Faults of engine, registry, index and image, each with a real one of it: the right row, one message, nothing left."""

from __future__ import annotations

import json
from pathlib import Path

from fixtures.rehearsal.make_assets import WHEEL, wheel_bytes
from recipe.deployment import DEFAULT, FOLDER
from tests.engine.conftest import Deployed
from tests.engine.lab import REGISTRY, Lab

TINY = f"{REGISTRY}/tiny"


def test_an_engine_that_is_not_there_fails_the_host(deployed: Deployed, tmp_path: Path) -> None:
    ended = deployed(env={"DOCKER_HOST": f"unix://{tmp_path}/none.sock"})

    deployed.judge(ended, "failed", "HST-08", says="nothing listens on unix://")
    assert "sudo systemctl start docker" in ended.output


def test_a_socket_that_may_not_be_used_blocks_and_blames_nobody(deployed: Deployed, lab: Lab) -> None:
    deployed.qualify.inside += ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--")
    lab.socket.chmod(0o600)
    lab.own_socket(1)
    try:
        ended = deployed()
    finally:
        lab.own_socket(0)

    deployed.judge(ended, "blocked", "HST-08", says="is this user in the group docker?")


def test_a_digest_that_the_registry_does_not_have(deployed: Deployed) -> None:
    deployed.base(TINY, f"sha256:{'0' * 64}")

    deployed.judge(deployed(), "failed", "IMG-01", says="manifest unknown")


def test_one_flipped_byte_in_a_layer(deployed: Deployed, lab: Lab) -> None:
    digest = lab.push_tiny("tiny")
    layer = lab.blob(json.loads(lab.blob(digest).read_bytes())["layers"][0]["digest"])
    data = layer.read_bytes()
    layer.write_bytes(data[:5000] + bytes([data[5000] ^ 1]) + data[5001:])
    deployed.base(TINY, digest)

    deployed.judge(deployed(), "failed", "IMG-01", says="filesystem layer verification failed for digest sha256:")


def test_an_image_of_another_platform(deployed: Deployed, lab: Lab) -> None:
    manifest = json.loads(lab.blob(lab.push_tiny("tiny")).read_bytes())
    config = json.loads(lab.blob(manifest["config"]["digest"]).read_bytes()) | {"architecture": "arm64"}
    data = json.dumps(config).encode()
    manifest["config"] |= {"digest": lab.store("tiny", "_layers", data), "size": len(data)}
    digest = lab.store("tiny", "_manifests/revisions", json.dumps(manifest).encode())
    deployed.base(TINY, digest)
    ended = deployed()
    lab.client.images.remove(f"{TINY}@{digest}", force=True)

    assert {"IMG-02"} <= ended.ids("failed")
    deployed.judge(ended, "failed", *sorted(ended.ids("failed"), key=lambda row: row != "IMG-02"), says="linux/arm64")


def test_a_registry_that_limits_is_no_fault_of_the_host(deployed: Deployed, lab: Lab) -> None:
    deployed.base("127.0.0.1:5001/tiny", f"sha256:{'0' * 64}")
    with lab.faulty("limit", lab.registry):
        ended = deployed()

    deployed.judge(ended, "blocked", "IMG-01", says="You have reached your unauthenticated pull rate limit.")


def test_a_registry_that_goes_away_in_the_middle(deployed: Deployed, lab: Lab) -> None:
    deployed.base("127.0.0.1:5001/tiny", lab.push_tiny("tiny"))
    with lab.faulty("cut", lab.registry):
        ended = deployed()

    deployed.judge(ended, "blocked", "IMG-01", says="connection refused")


def test_a_dockerfile_that_was_changed_is_not_built(deployed: Deployed) -> None:
    deployed.workdir.mkdir()
    (deployed.workdir / "Dockerfile").write_text("FROM scratch\n", encoding="utf-8")
    ended = deployed()

    deployed.judge(ended, "failed", "IMG-03", says="found in the work folder")
    assert {"IMG-05", "IMG-06"} <= ended.ids("blocked")
    assert (deployed.workdir / "Dockerfile").read_text(encoding="utf-8") == "FROM scratch\n"


def test_an_index_that_offers_another_wheel(deployed: Deployed, lab: Lab, tmp_path: Path) -> None:
    other = tmp_path / WHEEL
    other.write_bytes(wheel_bytes() + b"\0")
    lab.offer(other)
    ended = deployed()

    assert {"IMG-04"} <= ended.ids("failed")
    deployed.judge(ended, "failed", "IMG-04", "IMG-05", says="SHA256")
    assert "DO NOT MATCH THE HASHES" in ended.row("IMG-05")["found"]


def test_a_file_host_that_gives_other_bytes_than_the_index_says(deployed: Deployed, lab: Lab) -> None:
    place = lab.packages / "files" / WHEEL
    place.write_bytes(place.read_bytes() + b"\0")
    ended = deployed()

    deployed.judge(ended, "failed", "IMG-05", says="DO NOT MATCH THE HASHES")
    assert "DO NOT MATCH THE HASHES" in (ended.bundle / "artefacts" / "image-build.txt").read_text(encoding="utf-8")


def test_a_file_host_that_goes_away_is_no_fault_of_the_host(deployed: Deployed, lab: Lab) -> None:
    with lab.faulty_files("cut"):
        ended = deployed()

    deployed.judge(ended, "blocked", "IMG-05", says="its build reached no network")


def test_two_gpus_of_four_in_the_container(deployed: Deployed, lab: Lab) -> None:
    lab.set_gpus(2)
    try:
        ended = deployed()
    finally:
        lab.set_gpus(4)

    deployed.judge(ended, "failed", "IMG-11", says="2 GPUs")


def test_an_engine_without_the_gpu_hook(deployed: Deployed, bare_lab: Lab, tmp_path: Path) -> None:
    folder = tmp_path / "bare"
    folder.mkdir()
    bare = Deployed(folder, bare_lab, bare_lab.push_base())
    ended = bare()

    bare.judge(ended, "failed", "IMG-11", says='could not select device driver "" with capabilities: [[gpu]]')
    assert {"IMG-07", "IMG-08", "IMG-09", "IMG-10", "IMG-12"} <= ended.ids("passed")
    assert "nvidia-ctk runtime configure" in ended.row("IMG-11")["remedy"]


def test_the_tested_shape_is_the_guides(deployed: Deployed) -> None:
    """The lab's deployment has the guide's arguments, mounts and environment."""
    files = (deployed.file, FOLDER / f"{DEFAULT}.toml")
    services = [path.read_text(encoding="utf-8").partition("[service]")[2].partition("[picture]")[0] for path in files]
    shapes = [text.partition("environment")[2] for text in services]

    assert shapes[0] == shapes[1] != ""
