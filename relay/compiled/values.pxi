# The text of a value, by its column's kind.

cdef bint print_text(Buffer out, Column* column, Span* span, list extras, int i) except -1:
    """Append what stands within the quotes of a value that is not NULL; False when it is none of the column's.

    `extras[i]` is what the column prints from.
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
