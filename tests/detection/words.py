"""What each requirement wants and finds in a plain rehearsal, word by word: ``python -m tests.detection.words JUDGEMENTS`` writes it anew.

A report is read by people, so its words are held as its outcomes are. What differs from run to run is masked.
"""

from __future__ import annotations

import platform
import re
import sys
from pathlib import Path

import msgspec

from tests.detection import judgements
from tests.detection.judgements import PLAIN, Case

FILE = Path(__file__).with_name("words.json")
MASKS = (
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
    (re.compile(r"\bport \d+"), "port PORT"),
    (re.compile(r"\bpid[ -]\d+"), "pid PID"),
    (re.compile(r"\d+\.\d+ (s|GiB|MiB|KiB)\b"), r"N \1"),
    (re.compile(r"\b\d{2}-\d{2} \d\d:\d\d:\d\d"), "TIME"),
    (re.compile(r"nvidia-ml-py \S+"), "nvidia-ml-py VERSION"),
    (re.compile(re.escape(platform.release())), "KERNEL"),
)
NUMBERS = re.compile(r"\d[\d,.]*(?:e-\d+)?")
ROUNDED = re.compile(r" \(N [GMK]iB\)")
MEASURED = ("SRV-10", "VFY-14", "VFY-18", "VFY-19", "STP-05", "WTS-09")  # their numbers differ from run to run
HEADLINE = re.compile(r"\b[A-Z]{3,}(?: [A-Z]{2,})+\b")


def masked(identity: str, found: str) -> str:
    """Return the words of a requirement without what differs from run to run."""
    for pattern, word in MASKS:
        found = pattern.sub(word, found)
    if identity in MEASURED:
        found = ROUNDED.sub("", HEADLINE.sub("HEADLINE", NUMBERS.sub("N", found)))
    return found


def said(cases: dict[str, list[Case]]) -> dict[str, list[str]]:
    """Return what each requirement wants and finds in the plain rehearsal; of a file by file one, of its first file."""
    plain = {identity: [case for case in known if case.run == PLAIN] for identity, known in cases.items()}
    told = {identity: judgements.judge(known[0])[1] for identity, known in plain.items() if known}
    return {name: [masked(name, judged.wanted), masked(name, judged.found)] for name, judged in told.items()}


def written() -> dict[str, list[str]]:
    """Return the words that are written down."""
    return msgspec.json.decode(FILE.read_bytes(), type=dict[str, list[str]])


if __name__ == "__main__":
    told = said(judgements.load(Path(sys.argv[1])))
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(told), indent=1) + b"\n")
