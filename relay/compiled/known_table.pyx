# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
"""The tables whose rows the printer of whole transactions can print, and the counts of their rows."""

from cython cimport final

from relay.compiled.row_printer cimport RowPrinter
from relay.compiled.values.buffer cimport Buffer


@final
cdef class LogicalTable:
    """The counts of one call by operation, for all real tables of one logical table."""

    def __cinit__(self, name):
        self.name = name
        self.reset()

    cdef int reset(self) except -1:
        cdef int i
        self.counted = False
        for i in range(3):
            self.rows[i] = self.transactions[i] = self.value_bytes[i] = 0
            self.last_transaction[i] = -1
        return 0

    cdef int add(self, Tally* tally) except -1:
        cdef int operation = tally.operation
        self.counted = True
        self.rows[operation] += tally.rows
        self.value_bytes[operation] += tally.value_bytes
        if self.last_transaction[operation] != tally.transaction:
            self.last_transaction[operation] = tally.transaction
            self.transactions[operation] += 1
        return 0

    cdef int move_to(self, list found) except -1:
        """Append (name, operation, rows, transactions, bytes of values) for each operation to `found`, and reset the counts."""
        cdef int i
        for i in range(3):
            if self.transactions[i]:
                found.append((self.name, i, self.rows[i], self.transactions[i], self.value_bytes[i]))
        self.reset()
        return 0


@final
cdef class KnownTable:
    """A table whose rows can be printed. The caller gets `plan` back with the table's messages.

    `largest` is the limit of a packed message in bytes, -1 for one message a row.
    `parts` has four texts for each of insert, update and delete: the bytes before and after the fields from `es` to the batch, and those
    before and after the time of publishing.
    """

    def __cinit__(self, table, plan, RowPrinter printer not None, Py_ssize_t largest, tuple parts not None, LogicalTable logical not None):
        self.table = table  # the reference keeps its address, which is the lookup key, from being reused
        self.plan = plan
        self.logical = logical
        self.printer = printer
        self.largest = largest
        self.parts = parts
        self.publish_time = None
        self.behind = []
        self.encoder = plan.rows
        self.marked_in = -1
        self.undecodable = 0

    cdef int mark(self, Py_ssize_t transaction) except -1:
        """Store how many undecodable values were printed before this transaction, because the printer may refuse the transaction."""
        if self.marked_in != transaction:
            self.marked_in = transaction
            self.undecodable = self.encoder.undecodable_values
        return 0

    cdef bytes behind_old(self, int operation, bytes publish_time):
        if self.publish_time is not publish_time:
            self.behind = [each[2] + publish_time + each[3] for each in self.parts]
            self.publish_time = publish_time
        return <bytes>self.behind[operation]


@final
cdef class Tallies:
    """The counts of the events of one call, in their order. So the counts of a refused transaction can be removed from the end."""

    def __cinit__(self):
        self.data = Buffer()

    cdef int empty(self) except -1:
        self.data.empty()
        return 0

    cdef Py_ssize_t number(self):
        return self.data.size // <Py_ssize_t>sizeof(Tally)

    cdef int cut(self, Py_ssize_t number) except -1:
        self.data.size = number * <Py_ssize_t>sizeof(Tally)
        return 0

    cdef int add(self, LogicalTable logical, int operation, Py_ssize_t rows, Py_ssize_t value_bytes, Py_ssize_t transaction) except -1:
        cdef Tally tally
        tally.logical = <void*>logical
        tally.operation = operation
        tally.rows = rows
        tally.value_bytes = value_bytes
        tally.transaction = transaction
        self.data.put(<char*>&tally, sizeof(Tally))
        return 0

    cdef list counted(self):
        """Return (logical name, operation, rows, transactions, bytes of values) of all events."""
        cdef list found = [], met = []
        cdef Py_ssize_t i
        cdef Tally* tallies = <Tally*>self.data.data
        cdef LogicalTable logical
        for i in range(self.number()):
            logical = <LogicalTable>tallies[i].logical
            if not logical.counted:
                met.append(logical)
            logical.add(&tallies[i])
        for logical in met:
            logical.move_to(found)
        return found
