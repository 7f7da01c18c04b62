"""Stage RMV, only with --remove: the work folder and the images are gone, and nothing else."""

from __future__ import annotations

import pytest

from fixtures.stop import Removed
from recipe.judgement import Judgement

pytestmark = pytest.mark.qualify


def test_rmv_01_work_folder_is_gone(requirement: Judgement, removed: Removed) -> None:
    requirement.wants(f"{removed.folder} is gone, and nothing beside it")
    beside = f"; also gone: {', '.join(removed.beside)}" if removed.beside else ""
    requirement.finds(f"{removed.folder_left or 'gone'}{beside}")
    assert not removed.folder_left
    assert not removed.beside


def test_rmv_02_images_are_gone(requirement: Judgement, removed: Removed) -> None:
    requirement.wants("derived and base image are gone")
    requirement.finds("; ".join(f"{name}: {why}" for name, why in removed.images_left.items()) or "both gone")
    assert not removed.images_left
