package roma.delta;

import org.apache.spark.sql.catalyst.InternalRow;

/** The order key of a row in a copy, and the number of the file that contains the row. */
public final class HeldRow {
    public final int file;
    private final boolean known;
    private final long time;
    private final long position;

    public HeldRow(int file, InternalRow row, int timeAt, int positionAt) {
        this.file = file;
        known = !row.isNullAt(timeAt) && !row.isNullAt(positionAt);
        time = known ? row.getLong(timeAt) : 0;
        position = known ? row.getLong(positionAt) : 0;
    }

    /** Return whether a change replaces this row: its order is greater or equal. An unknown order is never replaced. */
    public boolean isReplacedBy(HeldRow change) {
        return known && change.known && (change.time > time || change.time == time && change.position >= position);
    }
}
