"""Which offset may be committed, whatever the order of acknowledgements."""

from hypothesis import given
from hypothesis import strategies as st

from roma_client.records.ack_book import AckBook, Receipt

AT = ("shop", 0)


def delivered(book: AckBook, offset: int, changes: int) -> Receipt:
    return book.deliver(AT, offset, changes)


def test_an_offset_waits_for_all_changes_of_its_record_and_for_those_before_it() -> None:
    book = AckBook()
    book.assign(AT, 7)
    first, second = delivered(book, 7, 2), delivered(book, 9, 1)
    assert book.committable() == {AT: 7}
    assert book.ack(second)
    assert book.committable() == {AT: 7}
    assert (book.ack(first), book.committable()) == (True, {AT: 7})
    assert (book.ack(first), book.committable(), book.ack(first)) == (True, {AT: 10}, False)


def test_receipts_of_an_earlier_assignment_are_void() -> None:
    book = AckBook()
    book.assign(AT, 0)
    receipt = delivered(book, 0, 1)
    book.revoke(AT)
    book.assign(AT, 0)
    assert (book.is_current(receipt), book.ack(receipt)) == (False, False)
    delivered(book, 0, 1)
    assert (book.ack(receipt), book.committable()) == (False, {AT: 0})


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_what_is_committed_is_exactly_what_has_nothing_open_before_it(
    sizes: list[int], random: object
) -> None:
    book = AckBook()
    book.assign(AT, 0)
    receipts = [delivered(book, offset, size) for offset, size in enumerate(sizes)]
    waiting: list[Receipt] = [
        receipt for receipt, size in zip(receipts, sizes, strict=True) for _ in range(size)
    ]
    random.shuffle(waiting)  # type: ignore[attr-defined]  # hypothesis gives a Random
    while True:
        first_open = min((each.offset for each in waiting), default=len(sizes))
        assert book.committable() == {AT: first_open}
        assert book.is_open(AT) == bool(waiting)
        if not waiting:
            return
        assert book.ack(waiting.pop())
