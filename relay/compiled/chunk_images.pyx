# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
"""Converts the cells of a SELECT's answer into the row images of row events, so that the same code prints copied and live rows.

Types and their bytes are those of relay.decode. A cell whose text is not valid for its column gives no image. The readable printer
then prints the rows, or raises an error that names the cell (tests/unit/compiled).
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.float cimport PyFloat_AsDouble
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from cython cimport final
from libc.stdint cimport uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from relay.compiled.values.buffer cimport Buffer
from relay.compiled.values.cell_texts cimport (
    Field, digits, put_date, put_datetime, put_decimal, put_little, put_time, put_timestamp, put_whole,
)
from relay.compiled.values.column cimport BIT, DATE, DATETIME, DECIMAL, DOUBLE, ENUM, FLOAT, SET, SIGNED, TIME, TIMESTAMP, UNSIGNED, UTF8, YEAR

cdef enum:
    NULL_CELL = 0xFB
    HEAD_BYTES = 4
    MOST_BYTES = 0xFFFFFF
    END_BYTES = 9


def packets(bytes data, list rows):
    """Append the rows of complete packets to `rows`; return (bytes read, the packet that ends the answer, or None if rows follow).

    It stops before an incomplete packet, and before one that continues in the next packet. Raises ValueError for bytes that are not a row.
    """
    cdef const uint8_t* begin = <const uint8_t*>PyBytes_AS_STRING(data)
    cdef const uint8_t* at = begin
    cdef const uint8_t* stop = begin + PyBytes_GET_SIZE(data)
    cdef Py_ssize_t size
    while stop - at >= HEAD_BYTES:
        size = at[0] | at[1] << 8 | at[2] << 16
        if size == MOST_BYTES or stop - at - HEAD_BYTES < size:
            break
        at += HEAD_BYTES
        if size and (at[0] == 0xFF or (at[0] == 0xFE and size < END_BYTES)):
            return at + size - begin, PyBytes_FromStringAndSize(<const char*>at, size)
        rows.append(row_of(at, at + size))
        at += size
    return at - begin, None


def cells(bytes packet):
    """Return the cells of a row of the text protocol; None is NULL. Raises ValueError for bytes that are not a row."""
    cdef const uint8_t* at = <const uint8_t*>PyBytes_AS_STRING(packet)
    return row_of(at, at + PyBytes_GET_SIZE(packet))


cdef tuple row_of(const uint8_t* at, const uint8_t* stop):
    cdef list found = []
    cdef uint64_t size
    cdef int more, i
    while at < stop:
        size = at[0]
        at += 1
        if size == NULL_CELL:
            found.append(None)
            continue
        if size > NULL_CELL:
            more = 2 if size == 0xFC else 3 if size == 0xFD else 8
            if size == 0xFF or stop - at < more:
                raise ValueError("the row is damaged")
            size = 0
            for i in range(more - 1, -1, -1):
                size = size << 8 | at[i]
            at += more
        if <uint64_t>(stop - at) < size:
            raise ValueError("the row is damaged")
        found.append(PyBytes_FromStringAndSize(<const char*>at, <Py_ssize_t>size))
        at += size
    return tuple(found)


@final
cdef class ImageWriter:
    """Writes row images of one table. It reads kind, width, variable, digits and scale of each ColumnPlan in `columns`."""

    cdef Field* fields
    cdef int count
    cdef Buffer out

    def __cinit__(self, columns, unpadded):
        cdef int i
        self.count = len(columns)
        self.fields = <Field*>malloc(max(1, self.count) * sizeof(Field))
        if self.fields == NULL:
            raise MemoryError
        self.out = Buffer()
        for i in range(self.count):
            each = columns[i]
            self.fields[i].kind = each.kind
            self.fields[i].width = each.width
            self.fields[i].variable = each.variable
            self.fields[i].digits = each.digits
            self.fields[i].scale = each.scale
            self.fields[i].unpadded = unpadded[i]

    def __dealloc__(self):
        free(self.fields)

    def body(self, rows):
        """Return the images of rows, one after another; None if the text of a cell is not valid for its column.

        Cells after the last column are ignored.
        """
        cdef tuple row
        cdef Buffer out = self.out
        out.empty()
        for each in rows:
            row = <tuple?>each
            if PyTuple_GET_SIZE(row) < self.count:
                return None
            if not self.image(out, row):
                return None
        return PyBytes_FromStringAndSize(out.data, out.size)

    cdef bint image(self, Buffer out, tuple row) except -1:
        cdef Py_ssize_t nulls = out.size
        cdef int null_bytes = (self.count + 7) // 8
        cdef int i
        cdef object cell
        out.need(null_bytes)
        memset(out.data + nulls, 0, null_bytes)
        out.size += null_bytes
        for i in range(self.count):
            cell = <object>PyTuple_GET_ITEM(row, i)
            if cell is None:
                out.data[nulls + (i >> 3)] |= 1 << (i & 7)
            elif not put_cell(out, &self.fields[i], <bytes?>cell):
                return False
        return True


cdef bint put_cell(Buffer out, Field* field, bytes cell) except -1:
    cdef const uint8_t* text = <const uint8_t*>PyBytes_AS_STRING(cell)
    cdef Py_ssize_t size = PyBytes_GET_SIZE(cell)
    cdef int kind = field.kind
    cdef uint64_t number
    cdef double real
    cdef float single
    if kind == SIGNED or kind == UNSIGNED or kind == ENUM or kind == SET:
        return put_whole(out, field, text, size)
    if kind == UTF8:
        if field.unpadded:
            while size and text[size - 1] == 0:
                size -= 1
        if field.width < 8 and <uint64_t>size >> (8 * field.width):
            return False
        put_little(out, <uint64_t>size, field.width)
        out.put(<const char*>text, size)
        return True
    if kind == DECIMAL:
        return put_decimal(out, field, text, size)
    if kind == DATETIME:
        return put_datetime(out, field, text, size)
    if kind == TIMESTAMP:
        return put_timestamp(out, field, text, size)
    if kind == DATE:
        return put_date(out, text, size)
    if kind == TIME:
        return put_time(out, field, text, size)
    if kind == YEAR:
        if not digits(text, size, &number) or (number and not 1900 < number < 2156):
            return False
        out.byte(<char>(number - 1900 if number else 0))
        return True
    if kind == BIT:
        if size != field.width:
            return False
        out.put(<const char*>text, size)
        return True
    if kind == DOUBLE or kind == FLOAT:
        try:
            real = PyFloat_AsDouble(float(cell))
        except ValueError:
            return False
        if kind == DOUBLE:
            out.put(<const char*>&real, 8)
        else:
            single = <float>real
            out.put(<const char*>&single, 4)
        return True
    return False
