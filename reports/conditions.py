"""Under which conditions a run judges: the options and amendments that must stand beside its verdict."""

from __future__ import annotations

import msgspec

from recipe.amendments import Amendment
from recipe.sections import Unpinned
from reports.waivers import Waiver


class Conditions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an operator or a deployment file has changed in a run, and so in the meaning of its verdict.

    ``attached`` names the running container that was judged instead of one that the run starts; ``left_running`` names
    the one that lives on, which is none where nothing qualified. ``only_stage`` is the one stage that was judged.
    ``unpinned`` is what the deployment leaves open.
    """

    amendments: tuple[Amendment, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    attached: str = ""
    leaves_running: bool = False
    left_running: str = ""
    removes: bool = False
    only_stage: str = ""
    unpinned: tuple[Unpinned, ...] = ()

    @property
    def options(self) -> frozenset[str]:
        """The given options by which requirements become applicable, or not."""
        given = {"--attach": bool(self.attached), "--leave-running": self.leaves_running, "--remove": self.removes}
        return frozenset(option for option, on in given.items() if on)

    @property
    def words(self) -> str:
        """What follows the verdict, so that nobody reads it without: empty for a plain run."""
        parts = []
        if self.amendments:
            plural = "s" if len(self.amendments) > 1 else ""
            parts.append(f" under amendment{plural} {', '.join(amendment.id for amendment in self.amendments)}")
        if self.unpinned:
            parts.append(f" (unpinned: {', '.join(value.value for value in self.unpinned)})")
        if self.only_stage:
            parts.append(f": only stage {self.only_stage} was judged, which certifies nothing")
        if self.attached:
            parts.append(f", attached to {self.attached}: start and stop not judged")
        if self.leaves_running:
            done = f"{self.left_running} left running" if self.left_running else "service not left running"
            parts.append(f", {done}: stop not judged")
        return "".join(parts)
