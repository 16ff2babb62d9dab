# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
"""Prints many whole source transactions in one call. Nearly all of them are small, so the cost per transaction matters."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cython cimport final
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from relay.compiled.contracts import check_fields
from relay.compiled.fields cimport (
    BEGIN_COMMIT_TIME_MS, BEGIN_GTID, BEGIN_HEADER_TIME_S, BEGIN_POSITION,
    EVENT_BODY, EVENT_HEADER_TIME_S, EVENT_IMAGES_AT, EVENT_OPERATION, EVENT_POSITION, EVENT_ROWS, EVENT_SIZE_BYTES, EVENT_TABLE,
    POSITION_FILE, POSITION_OFFSET,
)
from relay.compiled.known_table cimport DELETED, INSERTED, UPDATED, KnownTable, LogicalTable, Tallies
from relay.compiled.message_printer cimport LATEST_TIME_MS, PrintBuffers, borrow_buffers, give_back
from relay.compiled.row_printer cimport RowPrinter
from relay.compiled.values.buffer cimport Buffer
from relay.compiled.values.texts cimport put_bytes
from relay.model.change import Operation, RowsEvent, TransactionBegin, TransactionEnd
from relay.model.positions.position import BinlogPosition

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL

cdef object INSERT = Operation.INSERT
cdef object UPDATE = Operation.UPDATE

cdef int64_t MOST_OFFSET = 0xFFFFFFFF


cdef struct Cut:            # messages of one plan in the buffer
    Py_ssize_t end          # offset in the buffer after them
    Py_ssize_t rows
    Py_ssize_t messages
    Py_ssize_t value_bytes


@final
cdef class TransactionPrinter:
    """Prints the source transactions that are complete in a list of items. It stops before a transaction with a statement, with rows of a
    table that is not registered by `know`, or with an event that it cannot print."""

    cdef dict tables  # KnownTable by the address of its table map
    cdef Buffer frame
    cdef Buffer text
    cdef list plans   # the plan of each cut
    cdef Buffer cuts
    cdef dict logical  # LogicalTable by name
    cdef Tallies tallies
    cdef Py_ssize_t transactions  # printed or refused so far, over all calls

    def __cinit__(self):
        self.tables = {}
        self.logical = {}
        self.tallies = Tallies()
        self.frame = Buffer()
        self.text = Buffer()
        self.cuts = Buffer()
        self.transactions = 0

    def __len__(self):
        return len(self.tables)

    def know(self, table, plan, RowPrinter printer not None, largest, tuple parts not None, logical):
        """Register a table map: its rows are printed by `printer` from now on, and counted under the name `logical`.

        `largest` is the limit of a packed message in bytes; None: one message a row.
        """
        if logical not in self.logical:
            self.logical[logical] = LogicalTable(logical)
        self.tables[<size_t><void*>table] = KnownTable(
            table, plan, printer, -1 if largest is None else largest, parts, self.logical[logical]
        )

    def forget(self):
        """Remove all registered tables."""
        self.tables.clear()
        self.logical.clear()

    def print_transactions(
        self, list items not None, Py_ssize_t at, Py_ssize_t most_bytes, str file not None, int64_t base, uint64_t time, uint64_t position,
        int64_t latest_ms, bint names_gtid, bytes batch not None, bytes publish_time not None,
    ):
        """Print transactions of about `most_bytes` bytes of events, from item `at` on. Return None if none can be printed, otherwise
        (items, transactions, rows, bytes of the events, time, position, last begin, last end, GTIDs, printed, counted).

        All must begin in the binlog file `file`; `base` is its part of the execute position. The parameters `time` and `position` are the
        order key of the last change before them; the returned ones are that of their last change. No execute time is after `latest_ms`.
        `batch` and `publish_time` are in every message. `printed` is a list of (plan, rows, messages, bytes of their values, block),
        `counted` a list of (logical name, operation, rows, transactions, bytes of values).
        """
        cdef PrintBuffers buffers = borrow_buffers()
        cdef Py_ssize_t first = at, end, transactions = 0, rows = 0, taken_bytes = 0, event_bytes, added
        cdef Buffer out = buffers.out
        cdef uint64_t next_time, next_position
        cdef list gtids = []
        cdef tuple begin, last_begin = None
        out.empty()
        self.cuts.empty()
        self.tallies.empty()
        self.plans = []
        try:
            while taken_bytes < most_bytes:
                end = self.end_of(items, at, most_bytes, file, &event_bytes)
                if end < 0:
                    break
                begin = <tuple>items[at]
                next_time, next_position = time, position
                start_pair(begin, base, latest_ms, &next_time, &next_position)
                if next_time > LATEST_TIME_MS or not self.begin_frame(<str>begin[BEGIN_GTID] if names_gtid else ""):
                    break
                added = self.add_transaction(buffers, items, at + 1, end, next_time, &next_position, batch, publish_time, transactions)
                if added < 0:
                    break
                if added:
                    time, position = next_time, next_position
                if begin[BEGIN_GTID]:
                    gtids.append(begin[BEGIN_GTID])
                last_begin = begin
                transactions += 1
                rows += added
                taken_bytes += event_bytes
                at = end + 1
            if at == first:
                return None
            return at - first, transactions, rows, taken_bytes, time, position, last_begin, items[at - 1], gtids, self.printed(out), self.tallies.counted()
        finally:
            self.plans = None
            give_back(buffers)

    cdef Py_ssize_t end_of(self, list items, Py_ssize_t at, Py_ssize_t most_bytes, str file, Py_ssize_t* event_bytes) except -2:
        """Return the index of the last item of the transaction that begins at `at`; -1 if it is incomplete or cannot be printed here."""
        cdef Py_ssize_t count = len(items), size = 0
        cdef tuple item
        if at >= count or type(items[at]) is not TransactionBegin or (<tuple>(<tuple>items[at])[BEGIN_POSITION])[POSITION_FILE] != file:
            return -1
        at += 1
        while at < count:
            item = <tuple>items[at]
            if type(item) is RowsEvent:
                if item[EVENT_IMAGES_AT] is None or <size_t><void*>item[EVENT_TABLE] not in self.tables:
                    return -1
                size += <Py_ssize_t>item[EVENT_SIZE_BYTES]
                if size > most_bytes:
                    return -1
            elif type(item) is TransactionEnd:
                event_bytes[0] = size
                return at
            else:
                return -1
            at += 1
        return -1

    cdef bint begin_frame(self, str gtid) except -1:
        """Store the text between the times and the batch id, which contains the GTID; return False if the GTID needs JSON escapes."""
        cdef Buffer frame = self.frame
        cdef Py_ssize_t size
        cdef const char* text = PyUnicode_AsUTF8AndSize(gtid, &size)
        cdef Py_ssize_t i
        for i in range(size):
            if text[i] < 32 or text[i] > 126 or text[i] == b'"' or text[i] == b"\\":
                return False
        frame.empty()
        frame.put(b',"gtid":"', 9)
        frame.put(text, size)
        frame.put(b'","id":', 7)
        return True

    cdef Py_ssize_t add_transaction(
        self, PrintBuffers buffers, list items, Py_ssize_t at, Py_ssize_t end, uint64_t time, uint64_t* position, bytes batch, bytes publish_time,
        Py_ssize_t transaction,
    ) except -2:
        """Append the messages of the events up to `end`; return how many rows they have. Return -1 and append nothing if one is refused."""
        cdef Buffer out = buffers.out
        cdef Py_ssize_t begun = out.size, cut = self.cuts.size, tallied = self.tallies.number(), rows = 0, added, plans = len(self.plans)
        cdef tuple event
        cdef KnownTable known
        cdef RowPrinter printer
        cdef Cut before = self.last_cut()
        cdef int operation, last_operation = -1
        cdef int64_t seconds, last_seconds = -1
        cdef KnownTable last = None
        cdef bytes before_old = None, behind_old = None
        cdef Py_ssize_t first = at
        self.transactions += 1
        while at < end:
            event = <tuple>items[at]
            known = <KnownTable>(self.tables[<size_t><void*>event[EVENT_TABLE]])
            operation = UPDATED if event[EVENT_OPERATION] is UPDATE else INSERTED if event[EVENT_OPERATION] is INSERT else DELETED
            seconds = event[EVENT_HEADER_TIME_S]
            if known is not last or operation != last_operation or seconds != last_seconds:
                before_old = self.before_old(<tuple>known.parts[operation], seconds, batch)
                behind_old = known.behind_old(operation, publish_time)
                last, last_operation, last_seconds = known, operation, seconds
            known.mark(self.transactions)
            printer = known.printer
            printer.use(buffers)
            try:
                if known.largest < 0:
                    added = printer.add_event(<bytes>event[EVENT_BODY], event[EVENT_IMAGES_AT], operation == UPDATED, before_old, behind_old, time, position[0], 0, 1)
                else:
                    added = printer.add_packed_event(
                        <bytes>event[EVENT_BODY], event[EVENT_IMAGES_AT], operation == UPDATED, before_old, behind_old, time, position[0], 0, known.largest
                    )
            finally:
                printer.leave()
            if added < 0:
                out.size = begun
                self.cuts.size = cut
                self.tallies.cut(tallied)
                del self.plans[plans:]
                if cut:
                    memcpy(self.cuts.data + cut - sizeof(Cut), &before, sizeof(Cut))
                self.take_back(items, first, at)
                return -1
            position[0] += <uint64_t>added
            rows += added
            self.grown(known.plan, out.size, added, printer.messages, printer.value_bytes)
            self.tallies.add(known.logical, operation, added, printer.value_bytes, transaction)
            at += 1
        return rows

    cdef int take_back(self, list items, Py_ssize_t at, Py_ssize_t last) except -1:
        """Reset the counts of undecodable values to those before a refused transaction, because the caller prints it again. Items are read
        backwards: of two table maps with one encoder, the first one has the count from before the transaction."""
        cdef KnownTable known
        while last >= at:
            known = <KnownTable>(self.tables[<size_t><void*>(<tuple>items[last])[EVENT_TABLE]])
            known.encoder.undecodable_values = known.undecodable
            last -= 1
        return 0

    cdef bytes before_old(self, tuple parts, int64_t seconds, bytes batch):
        cdef Buffer text = self.text
        text.empty()
        put_bytes(text, <bytes>parts[0])
        text.put(b'"es":', 5)
        text.signed_number(seconds * 1000)
        text.put(self.frame.data, self.frame.size)
        put_bytes(text, batch)
        put_bytes(text, <bytes>parts[1])
        return PyBytes_FromStringAndSize(text.data, text.size)

    cdef Cut last_cut(self):
        cdef Cut cut
        cut.end = cut.rows = cut.messages = cut.value_bytes = 0
        if self.cuts.size:
            memcpy(&cut, self.cuts.data + self.cuts.size - sizeof(Cut), sizeof(Cut))
        return cut

    cdef int grown(self, plan, Py_ssize_t end, Py_ssize_t rows, Py_ssize_t messages, Py_ssize_t value_bytes) except -1:
        """Count appended rows and messages: in the last cut if it has the same plan, otherwise in a new cut."""
        cdef Cut cut
        cut.rows = cut.messages = cut.value_bytes = 0
        if self.plans and self.plans[len(self.plans) - 1] is plan:
            cut = self.last_cut()
            self.cuts.size -= sizeof(Cut)
        else:
            self.plans.append(plan)
        cut.end = end
        cut.rows += rows
        cut.messages += messages
        cut.value_bytes += value_bytes
        self.cuts.put(<char*>&cut, sizeof(Cut))
        return 0

    cdef list printed(self, Buffer out):
        cdef list found = []
        cdef Py_ssize_t start = 0, i
        cdef Cut* cuts = <Cut*>self.cuts.data
        for i in range(len(self.plans)):
            block = PyBytes_FromStringAndSize(out.data + start, cuts[i].end - start)
            found.append((self.plans[i], cuts[i].rows, cuts[i].messages, cuts[i].value_bytes, block))
            start = cuts[i].end
        return found


cdef int start_pair(tuple begin, int64_t base, int64_t latest_ms, uint64_t* time, uint64_t* position) except -1:
    """Apply the rule of relay.order.begin_transaction. `base` is the file's part of the execute position."""
    cdef object commit = begin[BEGIN_COMMIT_TIME_MS]
    cdef int64_t changed_ms = <int64_t>begin[BEGIN_HEADER_TIME_S] * 1000 if commit is None else <int64_t>commit
    cdef int64_t offset = (<tuple>begin[BEGIN_POSITION])[POSITION_OFFSET]
    cdef int64_t before = base + min(offset, <int64_t>MOST_OFFSET) - 1
    changed_ms = min(changed_ms, latest_ms)
    if changed_ms > <int64_t>time[0]:
        time[0] = <uint64_t>changed_ms
    if before > <int64_t>position[0]:
        position[0] = <uint64_t>before
    return 0


check_fields(
    RowsEvent, operation=EVENT_OPERATION, table=EVENT_TABLE, rows=EVENT_ROWS, header_time_s=EVENT_HEADER_TIME_S, position=EVENT_POSITION,
    size_bytes=EVENT_SIZE_BYTES, body=EVENT_BODY, images_at=EVENT_IMAGES_AT,
)
check_fields(
    TransactionBegin, position=BEGIN_POSITION, gtid=BEGIN_GTID, commit_time_ms=BEGIN_COMMIT_TIME_MS, header_time_s=BEGIN_HEADER_TIME_S,
)
check_fields(BinlogPosition, file=POSITION_FILE, offset=POSITION_OFFSET)
