"""The source of one column's part in a printer: which numbers are read, what is done with them, and how they stand in the text.

Texts are pieces of an f-string. Names and labels of a table never enter the source but as literals of harmless characters, or as
constants by name.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from relay.generated.kinds import Kind
from relay.generated.tables import Kept, set_text
from relay.generated.texts import BYTES_AS_TEXT, held, quoted, table_text

Extra: TypeAlias = "tuple[bytes | None, ...] | Callable[[bytes], str] | None"
ColumnPlan: TypeAlias = tuple[int, int, bool, bool, bool, int, int, bytes, Extra]

_BYTES_FOR_DIGITS: Final = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)
_GROUP_DIGITS: Final = 9
_LITTLE: Final = {1: "B", 2: "H", 4: "I", 8: "Q"}
_MEANT: Final = frozenset(' ,:[]_"')


class Field(NamedTuple):
    """One number or piece of a fixed value: where it begins, its byte order and struct code, its bytes, its name's ending."""

    at: int
    order: str
    code: str
    size: int
    ending: str = ""


class Form(NamedTuple):
    """What is read of a value, the lines behind that, and its piece of an f-string. `v` stands for the value's own name."""

    fields: tuple[Field, ...]
    lines: tuple[str, ...]
    piece: str


@dataclass(frozen=True, slots=True)
class ColumnSource:
    """One column; `name` is `"a":` as a literal's characters, `constants` are the objects that its lines name."""

    ordinal: int
    kind: Kind
    width: int
    variable: bool
    nullable: bool
    by_text: bool
    name: str
    form: Form
    constants: dict[str, object]

    @property
    def raw(self) -> str:
        """What a value of variable size is cut from: the event's bytes, or the same as a text."""
        return "text" if self.kind in (Kind.UTF8, Kind.TABLE) else "body"

    @property
    def bit(self) -> int:
        return 1 << self.ordinal

    def lines(self, image: str) -> list[str]:
        """Return the lines for a value of an image, `n` or `o`."""
        return [line.replace("@", f"{image}{self.ordinal}") for line in self.form.lines]

    def piece(self, image: str) -> str:
        """Return its piece of an f-string."""
        return self.form.piece.replace("@", f"{image}{self.ordinal}")

    def hash_of(self, image: str) -> str:
        """Return the expression of Java's hash of its text, not cut to 32 bits."""
        name = f"{image}{self.ordinal}"
        if self.kind in (Kind.SIGNED, Kind.UNSIGNED):
            return f"(FRONT[{name} // 10000] + LAST_FOUR[{name} % 10000] if {name} > 9999 else SHORT[{name}])"
        if self.kind is Kind.UTF8:
            return f"utf8_hash({name})"
        return f"text_hash(f'{self.piece(image)}'[1:-1])"


def column_source(ordinal: int, plan: ColumnPlan) -> ColumnSource:
    """Return the source of a column. Raises ValueError for a plan that is none."""
    number, width, variable, nullable, by_text, digits, scale, name, extra = plan
    kind = Kind(number)
    constants: dict[str, object] = {}
    if kind in (Kind.ENUM, Kind.SET) and isinstance(extra, tuple):
        labels = tuple((label or b"").decode(BYTES_AS_TEXT) for label in extra)
        constants[f"C{ordinal}"] = ('""', *(f'"{label}"' for label in labels)) if kind is Kind.ENUM else Kept(set_text(labels))
    elif kind is Kind.TABLE and isinstance(extra, tuple):
        constants[f"C{ordinal}"] = table_text(extra)
    elif kind in (Kind.OTHER, Kind.JSON) and callable(extra):
        constants[f"C{ordinal}"] = _other_text(extra)
    form = _form(kind, width, digits, scale, ordinal)
    fields = _length(width) if variable else form.fields
    return ColumnSource(
        ordinal, kind, width, variable, nullable, by_text, literal(name[1:]), Form(fields, form.lines, form.piece), constants
    )


def literal(text: bytes) -> str:
    """Return bytes as a piece of an f-string in single quotes that can be nothing but these characters."""
    return "".join(chr(one) if (one < 128 and chr(one).isalnum()) or chr(one) in _MEANT else f"\\x{one:02x}" for one in text)


def length_of(column: ColumnSource, name: str) -> str:
    """Return the expression of a variable value's length after its fields were read."""
    return f"({name}l | {name}h << 16)" if column.width == 3 else f"{name}l"


def _length(width: int) -> tuple[Field, ...]:
    if width == 3:
        return Field(0, "<", "H", 2, "l"), Field(2, "<", "B", 1, "h")
    return (Field(0, "<", _LITTLE[width], width, "l"),)


def _other_text(text: Callable[[bytes], str]) -> Callable[[bytes], str]:
    return lambda raw: quoted(held(text(raw)))


def _form(kind: Kind, width: int, digits: int, scale: int, ordinal: int) -> Form:
    whole = (Field(0, "<", f"{width}s", width),)
    constant = f"C{ordinal}"
    match kind:
        case Kind.SIGNED | Kind.UNSIGNED:
            return _integer(width, signed=kind is Kind.SIGNED)
        case Kind.DECIMAL:
            return _decimal(digits, scale)
        case Kind.DATE:
            return Form(whole, (), '"{DATE[@]}"')
        case Kind.DATETIME:
            fields, lines, piece = _fraction(5, digits)
            # The upper 28 of 40 bits are date and hour, the lower 12 minute and second.
            clock = "{DATETIME_HOUR[@a << 20 | @b >> 12]}{BITS_SECOND[@b & 4095]}"
            return Form((Field(0, ">", "B", 1, "a"), Field(1, ">", "I", 4, "b"), *fields), lines, f'"{clock}{piece}"')
        case Kind.TIMESTAMP:
            fields, lines, piece = _fraction(4, digits)
            any_part = "@ or @f" if fields else "@"
            clock = f"{{TIMESTAMP_HOUR[@ // 3600 if {any_part} else -1]}}{{SECOND[@ % 3600]}}"
            return Form((Field(0, ">", "I", 4), *fields), lines, f'"{clock}{piece}"')
        case Kind.TIME:
            return Form(whole, (), f'"{{TIME[{digits}][@]}}"')
        case Kind.YEAR:
            return Form((Field(0, "<", "B", 1),), (), '"{YEAR[@]}"')
        case Kind.BIT:
            return _bits(width, digits)
        case Kind.FLOAT | Kind.DOUBLE:
            single = kind is Kind.FLOAT
            # Most numbers of a DOUBLE take the short way here; double_text knows all of them.
            double = "@t = shortest(@).decode() if 0.0001 <= @ < 1e15 and not @.is_integer() else double_text(@)"
            return Form((Field(0, "<", "f" if single else "d", width),), ("@t = float_text(@)" if single else double,), '"{@t}"')
        case Kind.UTF8:
            return Form((), ("@.isascii() or @.encode('latin-1').decode()",), "{quoted(@)}")
        case Kind.TABLE:
            return Form((), (f"@t = {constant}(@)",), "{@t}")
        case Kind.BASE64:
            raw = f"@.ljust({digits}, b'\\0')" if digits else "@"
            return Form((), (f"@t = base64({raw}, newline=False).decode()",), '"{@t}"')
        case Kind.ENUM:
            return Form(_integer(width, signed=False).fields, (), f"{{{constant}[@]}}")
        case Kind.SET:
            number = _integer(width, signed=False)
            return Form(number.fields, number.lines, f'"{{{constant}[@]}}"')
        case Kind.OTHER | Kind.JSON:
            return Form(whole, (f"@t = {constant}(@)",), "{@t}")


def _integer(width: int, *, signed: bool) -> Form:
    if width == 3:
        fields = Field(0, "<", "H", 2, "l"), Field(2, "<", "b" if signed else "B", 1, "h")
        return Form(fields, ("@ = @l | @h << 16",), '"{@}"')
    code = _LITTLE[width]
    return Form((Field(0, "<", code.lower() if signed else code, width),), (), '"{@}"')


def _big(at: int, size: int, ending: str) -> tuple[tuple[Field, ...], tuple[str, ...]]:
    """The fields of a big-endian number without a sign, and the line that puts them together."""
    if size == 3:
        fields = Field(at, ">", "B", 1, f"{ending}u"), Field(at + 1, ">", "H", 2, f"{ending}v")
        return fields, (f"@{ending} = @{ending}u << 16 | @{ending}v",)
    return (Field(at, ">", _LITTLE[size], size, ending),), ()


def _fraction(at: int, precision: int) -> tuple[tuple[Field, ...], tuple[str, ...], str]:
    """Hundredths in one byte, ten thousandths in two, millionths in three; a number beyond is in no table."""
    if precision == 0:
        return (), (), ""
    fields, lines = _big(at, (precision + 1) // 2, "f")
    piece = {
        1: "{T1[@f // 10]}",
        2: "{T2[@f]}",
        3: "{T3[@f // 10]}",
        4: "{T2[@f // 100]}{T2[@f % 100]}",
        5: "{T3[@f // 1000]}{T2[@f // 10 % 100]}",
        6: "{T3[@f // 1000]}{T3[@f % 1000]}",
    }
    return fields, lines, f".{piece[precision]}"


def _bits(width: int, bits: int) -> Form:
    check = (f"if @ >> {bits}: raise Refused",) if bits < 8 * width else ()
    if width in _LITTLE:
        return Form((Field(0, ">", _LITTLE[width], width),), check, '"{@}"')
    return Form((Field(0, "<", f"{width}s", width, "r"),), ("@ = int.from_bytes(@r, 'big')", *check), '"{@}"')


def _decimal(precision: int, scale: int) -> Form:
    """Groups of nine digits in four bytes, the odd ones outermost; the first bit is the sign, and negative numbers are inverted."""
    whole, behind = _groups(precision - scale, odd_first=True), _groups(scale, odd_first=False)
    fields: list[Field] = []
    joined: list[str] = []
    at = 0
    for number, digits in enumerate((*whole, *behind)):
        own, lines = _big(at, _BYTES_FOR_DIGITS[digits], f"g{number}")
        fields += own
        joined += lines
        at += _BYTES_FOR_DIGITS[digits]
    return Form(tuple(fields), (*_sign(fields), *joined, *_checked((*whole, *behind)), *_whole(whole)), _decimal_piece(whole, behind))


def _groups(digits: int, *, odd_first: bool) -> list[int]:
    odd = [digits % _GROUP_DIGITS] if digits % _GROUP_DIGITS else []
    nines = [_GROUP_DIGITS] * (digits // _GROUP_DIGITS)
    return odd + nines if odd_first else nines + odd


def _sign(fields: Sequence[Field]) -> list[str]:
    first, *others = fields
    top = 1 << 8 * first.size - 1
    inverted = "; ".join([f"@{first.ending} ^= {top - 1}", *(f"@{each.ending} ^= {(1 << 8 * each.size) - 1}" for each in others)])
    return [f"if @{first.ending} >= {top}:", f"    @{first.ending} -= {top}; @s = ''", "else:", f"    {inverted}; @s = '-'"]


def _checked(groups: Sequence[int]) -> list[str]:
    beyond = " or ".join(f"@g{number} >= {10**digits}" for number, digits in enumerate(groups))
    return [f"if {beyond}: raise Refused"]


def _whole(groups: Sequence[int]) -> list[str]:
    if len(groups) < 2:
        return []
    value = "@g0"
    for number in range(1, len(groups)):
        value = f"({value}) * {10 ** groups[number]} + @g{number}"
    return [f"@w = {value}"]


def _decimal_piece(whole: Sequence[int], behind: Sequence[int]) -> str:
    front = "{@s}" + ("{@w}" if len(whole) > 1 else "{@g0}" if whole else "0")
    back = "".join(_padded(f"@g{number}", digits) for number, digits in enumerate(behind, len(whole)))
    return f'"{front}{"." if behind else ""}{back}"'


def _padded(name: str, digits: int) -> str:
    """Digits with leading zeros, three at a time from the end."""
    if digits <= 3:
        return f"{{T{digits}[{name}]}}"
    odd = digits % 3
    front = f"{{T{odd}[{name} // {10 ** (digits - odd)}]}}" if odd else ""
    return front + "".join(f"{{T3[{name} // {10**left} % 1000]}}" for left in range(digits - odd - 3, -1, -3))
