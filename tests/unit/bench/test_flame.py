"""Folded stacks become a tree and a picture."""

from tools.bench.measuring.flame import boxes, svg, tree

STACKS = [
    "thread (read);events (/a/b/relay/source/binlog_reader.py:43);crc32 (zlib.so) 30",
    "thread (read);events (/a/b/relay/source/binlog_reader.py:59) 10",
    "thread (77): walk;take <x> (walk.py:1) 60",
    "",
]


def test_stacks_with_the_same_beginning_are_one_frame() -> None:
    found = {
        (box.name, box.depth): (round(box.left, 2), round(box.width, 2), box.samples)
        for box in boxes(tree(STACKS), 100)
    }
    assert found == {
        ("all", 0): (0.0, 1.0, 100),
        ("thread walk", 1): (0.0, 0.6, 60),
        ("take <x> (walk.py)", 2): (0.0, 0.6, 60),
        ("thread (read)", 1): (0.6, 0.4, 40),
        ("events (binlog_reader.py)", 2): (0.6, 0.4, 40),
        ("crc32 (zlib.so)", 3): (0.6, 0.3, 30),
    }


def test_the_picture_can_be_read_and_names_no_folder() -> None:
    picture = svg(tree(STACKS))
    assert picture.count("<rect ") == 6
    assert "/a/b" not in picture
    assert "take &lt;x&gt;" in picture


def test_no_stacks_are_an_empty_picture() -> None:
    assert "<rect" not in svg(tree([]))
