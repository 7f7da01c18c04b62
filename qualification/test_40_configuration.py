"""Stage CFG: private key, environment file and chat template."""

from __future__ import annotations

import re

import pytest

from fixtures.probes.template import Rendered
from fixtures.provisioners.settings import EnvFile, Exposure, KeyFile, Template
from recipe.deployment import Deployment, stated
from recipe.judgement import Judgement
from recipe.values import Absent, Unreadable

pytestmark = pytest.mark.qualify
PRIVATE = 0o600
CLOSED_THOUGHT = re.compile(r"<think>\s*</think>\s*\Z")


def test_cfg_01_key_has_the_documented_form(
    requirement: Judgement, deployment: Deployment, key_file: KeyFile | Absent | Unreadable
) -> None:
    length = stated(deployment.settings).key_length
    requirement.wants(f"{length} lower-case hex digits, mode 0600")
    key = requirement.needs(key_file)
    form = "lower-case hex" if key.lower_hex else "not lower-case hex"
    requirement.finds(f"{key.characters} characters, {form}, mode {key.mode:04o}")
    assert key.lower_hex
    assert key.characters == length
    assert key.mode == PRIVATE


def test_cfg_02_existing_key_is_kept(requirement: Judgement, key_file: KeyFile | Absent | Unreadable) -> None:
    requirement.wants("an existing key is unchanged and not empty; a missing one is made")
    key = requirement.needs(key_file)
    told = "empty" if key.empty else "unchanged" if key.kept else "changed during this run"
    requirement.finds(f"{'existed' if key.existed else 'made in this run'}, {told}")
    assert not key.empty
    assert key.kept


def test_cfg_03_environment_file_is_exact(
    requirement: Judgement, deployment: Deployment, env_file: EnvFile | Unreadable
) -> None:
    requirement.wants(f"{stated(deployment.settings).key_variable} with the key and nothing else, mode 0600")
    found = requirement.needs(env_file)
    told = "with the key and nothing else" if found.exact else "but not exactly the key's line"
    requirement.finds(f"{', '.join(found.variables) or 'no variable'}, {told}, mode {found.mode:04o}")
    assert found.exact
    assert found.mode == PRIVATE


def test_cfg_04_template_is_the_publishers(
    requirement: Judgement, deployment: Deployment, chat_template: Template | Absent | Unreadable
) -> None:
    wanted = stated(deployment.settings).template_sha256
    requirement.wants(f"SHA256 {wanted}, byte for byte that of chat_template.json")
    found = requirement.needs(chat_template)
    requirement.finds(f"SHA256 {found.sha256}, {found.bytes:,} bytes; in chat_template.json {found.source_sha256}")
    assert found.sha256 == wanted
    assert found.source_sha256 == wanted


def test_cfg_05_prompt_ends_in_a_closed_thought(
    requirement: Judgement, rendered_prompt: Rendered | Absent | Unreadable
) -> None:
    requirement.wants("the prompt ends in <think>, nothing, </think>")
    found = requirement.needs(rendered_prompt)
    requirement.finds(f"it ends in {found.tail[-60:]!r}")
    assert CLOSED_THOUGHT.search(found.tail)


def test_cfg_06_key_stands_nowhere(requirement: Judgement, key_exposure: Exposure | Unreadable) -> None:
    requirement.wants("the key in no file of the bundle and in no process's command line")
    found = requirement.needs(key_exposure)
    places = [*found.files, *(f"process {process}" for process in found.processes)]
    requirement.finds(", ".join(places) or "nowhere; the finished bundle is scanned again")
    assert not places
