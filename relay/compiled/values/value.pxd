# Prints one value of a row image: as text for JSON, and in Avro's binary encoding.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport int64_t, uint8_t, uint64_t

from relay.compiled.values.avro cimport put_blob, put_characters, put_zigzag, unescape
from relay.compiled.values.buffer cimport Buffer
from relay.compiled.values.column cimport (
    BASE64, BIT, BYTES, DATE, DATETIME, DECIMAL, DOUBLE, ENUM, FLOAT, FLOATING, JSON, SET, SIGNED, TABLE, TIME, TIMESTAMP, UNSIGNED, UTF8,
    VARINT, YEAR, Column, Span, big, little, signed_little,
)
from relay.compiled.values.decimals cimport print_decimal
from relay.compiled.values.floating cimport print_floating
from relay.compiled.values.json_document cimport print_json
from relay.compiled.values.texts cimport print_base64, print_set, print_table, print_utf8, put_bytes
from relay.compiled.values.times cimport print_datetime, print_day, print_time, print_timestamp


cdef inline bint print_text(Buffer out, Column* column, Span* span, list extras, int i) except -1:
    """Append a value that is not NULL, without quotes; return False if it is not valid for its column.

    `extras[i]` is ColumnPlan.extra of the column: labels, a table of characters, or a function.
    """
    cdef int kind = column.kind
    cdef const uint8_t* at = span.start
    cdef uint64_t number
    if kind == SIGNED:
        out.signed_number(signed_little(at, column.width))
    elif kind == UNSIGNED:
        out.number(little(at, column.width))
    elif kind == UTF8:
        if not print_utf8(out, at, span.size):
            return False
    elif kind == DECIMAL:
        if not print_decimal(out, at, column.digits, column.scale):
            return False
    elif kind == DATETIME:
        if not print_datetime(out, at, column):
            return False
    elif kind == TIMESTAMP:
        if not print_timestamp(out, at, column):
            return False
    elif kind == DOUBLE or kind == FLOAT:
        if not print_floating(out, at, kind == FLOAT):
            return False
    elif kind == DATE:
        number = little(at, 3)
        if not print_day(out, number >> 9, number >> 5 & 15, number & 31):
            return False
    elif kind == TIME:
        if not print_time(out, at, column):
            return False
    elif kind == YEAR:
        out.padded(1900 + at[0] if at[0] else 0, 4)
    elif kind == BIT:
        number = big(at, column.width)
        if column.digits < 64 and number >> column.digits:
            return False
        out.number(number)
    elif kind == BASE64:
        print_base64(out, at, span.size, column.digits)
    elif kind == ENUM:
        number = little(at, column.width)
        if number > <uint64_t>column.digits:
            return False
        if number:
            put_bytes(out, (<tuple>extras[i])[number - 1])
    elif kind == SET:
        if not print_set(out, little(at, column.width), column.digits, extras[i]):
            return False
    elif kind == TABLE:
        if not print_table(out, at, span.size, extras[i]):
            return False
    elif kind == JSON:
        if not print_json(out, at, span.size):
            return False
    else:
        text = (<str>extras[i]((<const char*>at)[:span.size])).encode()
        if not print_utf8(out, <const uint8_t*>PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text)):
            return False
    return True


cdef inline bint print_binary(Buffer out, Buffer scratch, Column* column, Span* span, list extras, int i) except -1:
    """Append a value as Avro's union of null and the column's type."""
    cdef uint64_t bits
    if span.size < 0:
        out.byte(0)
        return True
    out.byte(2)
    if column.wire == VARINT:
        if column.kind == SIGNED:
            return put_zigzag(out, signed_little(span.start, column.width))
        if column.kind == YEAR:
            return put_zigzag(out, 1900 + span.start[0] if span.start[0] else 0)
        bits = big(span.start, column.width) if column.kind == BIT else little(span.start, column.width)
        if column.kind == BIT and bits >> column.digits:
            return False
        return put_zigzag(out, <int64_t>bits)
    if column.wire == FLOATING:
        out.put(<const char*>span.start, span.size)
        return True
    if column.wire == BYTES:
        return put_blob(out, span.start, span.size, column.digits)
    scratch.empty()
    if not print_text(scratch, column, span, extras, i):
        return False
    unescape(scratch)
    return put_characters(out, scratch.data, scratch.size)
