"""Versions, byte counts and secrets."""

from __future__ import annotations

import pickle
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recipe.values import (
    Absent,
    ByteCount,
    Days,
    Positive,
    Secret,
    Unreadable,
    count_bytes,
    count_named,
    count_of,
    driver_meets,
    driver_numbers,
    driver_suffix,
    package_at_least,
    package_at_most,
    package_is,
    without_credentials,
)

NUMBERS = st.lists(st.integers(0, 9999), min_size=2, max_size=4)


@pytest.mark.parametrize(
    ("found", "meets"),
    [
        ("575.57.08", True),
        ("575.57.8", True),
        ("580.65.06", True),
        ("580.126.09", True),
        ("590.44", True),
        ("575.57", False),
        ("575.51.03", False),
        ("570.195", False),
        ("550.90.07-grid", False),
        ("[N/A]", False),
        ("", False),
    ],
)
def test_driver_is_compared_as_numbers(found: str, meets: bool) -> None:
    assert driver_meets(found, "575.57.08") is meets


def test_driver_suffix_marks_a_vgpu_driver() -> None:
    assert driver_suffix("550.90.07-grid") == "-grid"
    assert driver_suffix("575.57.08") == ""
    assert driver_suffix("unknown") == ""
    assert driver_numbers("580.65") == (580, 65)


@given(NUMBERS, NUMBERS)
def test_driver_order_is_that_of_the_numbers(first: list[int], second: list[int]) -> None:
    width = max(len(first), len(second))
    padded = [numbers + [0] * (width - len(numbers)) for numbers in (first, second)]
    one, other = (".".join(map(str, numbers)) for numbers in (first, second))

    assert driver_meets(one, other) is (padded[0] >= padded[1])
    assert driver_meets(one, other) or driver_meets(other, one)


@given(NUMBERS)
def test_leading_zeros_do_not_change_a_driver_version(numbers: list[int]) -> None:
    plain, padded = ".".join(map(str, numbers)), ".".join(f"{number:03}" for number in numbers)

    assert driver_meets(plain, padded)
    assert driver_meets(padded, plain)


@pytest.mark.parametrize(
    ("found", "allowed"),
    [
        ("4.57.6", True),
        ("4.57.1", True),
        ("4.57.6+cu129", True),
        ("4.57.7", False),
        ("4.58.0.dev0", False),
        ("5.0.0", False),
        ("none", False),
    ],
)
def test_package_bound_is_pep_440(found: str, allowed: bool) -> None:
    assert package_at_most(found, "4.57.6") is allowed


def test_package_is_exact() -> None:
    assert package_is("0.11.2", "0.11.2")
    assert not package_is("0.11.2.dev1", "0.11.2")
    assert not package_is("", "0.11.2")


def test_byte_counts_are_exact_and_rounded() -> None:
    assert count_bytes(58_817_660_680) == "58,817,660,680 bytes (54.78 GiB)"
    assert count_bytes(124_071) == "124,071 bytes (121.16 KiB)"
    assert count_bytes(3) == "3 bytes"
    assert count_bytes(5 << 20) == "5,242,880 bytes (5.00 MiB)"


def test_a_secret_cannot_print_itself() -> None:
    secret = Secret("service key", "deadbeef" * 8)

    shown = f"{secret} {secret!r} {secret:>40} {[secret]}"

    assert "deadbeef" not in shown
    assert secret.reveal() == "deadbeef" * 8
    with pytest.raises(TypeError):
        pickle.dumps(secret)


def test_facts_say_what_is_missing() -> None:
    assert str(Absent(what="Docker", detail="not installed")) == "no Docker: not installed"
    assert str(Unreadable(what="log", reason="denied")) == "log could not be read: denied"


@pytest.mark.parametrize(
    ("value", "count"),
    [
        ("0,1", 2),
        (" 1 , 0 ", 2),
        ("GPU-aa,GPU-ab", 2),
        ("0,GPU-ab", 2),
        ("0", 1),
        ("0,0", 1),
        ("", 0),
        ("all", 0),
        ("void", 0),
        ("none", 0),
        ("-1", 0),
        ("0,7,1", 1),
        ("GPU-a", 0),
        ("GPU-a,GPU-ab", 0),
    ],
)
def test_a_list_of_visible_devices_names_so_many(value: str, count: int) -> None:
    assert count_named(value, ("GPU-aa11", "GPU-ab22")) == count


def test_without_a_gpu_no_list_names_one() -> None:
    assert count_named("0", ()) == 0


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://me:word@proxy:3128/x", "http://proxy:3128/x"),
        ("me:word@proxy:3128", "proxy:3128"),
        ("http://me:w@rd/x@proxy:3128", "http://proxy:3128"),
        ("http://proxy:3128/x", "http://proxy:3128/x"),
        ("127.0.0.1,.corp", "127.0.0.1,.corp"),
        ("", ""),
    ],
)
def test_credentials_leave_an_address(address: str, shown: str) -> None:
    assert without_credentials(address) == shown


@pytest.mark.parametrize(
    ("found", "meets"),
    [
        ("0.11.0", True),
        ("0.11.2+cu129", True),
        ("0.20.2", True),
        ("0.10.9", False),
        ("0.11.0rc1", False),
        ("new", False),
    ],
)
def test_a_package_is_at_least(found: str, meets: bool) -> None:
    assert package_at_least(found, "0.11.0") is meets


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        ("575.57", "575.57.0"),
        ("575.57.0", "575.57"),
        ("575.57", "575.57.0.0"),
        ("575.57.0.0", "575.57"),
        ("575.57.8", "575.57.08"),
    ],
)
def test_a_missing_part_of_a_driver_version_is_zero(found: str, wanted: str) -> None:
    assert driver_meets(found, wanted)
    assert driver_meets(wanted, found)
    assert not driver_meets(found, f"{wanted.rpartition('.')[0]}.99")


def test_an_exact_version_is_no_newer_one() -> None:
    assert package_is("0.11.2", "0.11.2")
    assert not package_is("0.11.1", "0.11.2")
    assert not package_is("0.11.3", "0.11.2")
    assert not package_is("0.11.2.post1", "0.11.2")


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (1023, "1,023 bytes"),
        (1024, "1,024 bytes (1.00 KiB)"),
        (1 << 20, "1,048,576 bytes (1.00 MiB)"),
        (1 << 30, "1,073,741,824 bytes (1.00 GiB)"),
    ],
)
def test_a_whole_unit_is_told_in_it(number: int, told: str) -> None:
    assert count_bytes(number) == told


@pytest.mark.parametrize(("kind", "least"), [(ByteCount, 0), (Positive, 1), (Days, 1)])
def test_a_number_has_its_least(kind: Any, least: int) -> None:
    assert msgspec.convert(least, kind) == least
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(least - 1, kind)


def test_days_have_their_most() -> None:
    assert msgspec.convert(3660, Days) == 3660
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(3661, Days)


def test_a_noun_has_its_number() -> None:
    assert [count_of(number, "GPU") for number in (0, 1, 2, 1000)] == ["0 GPUs", "1 GPU", "2 GPUs", "1,000 GPUs"]
