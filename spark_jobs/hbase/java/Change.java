package roma.hbase;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Put;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;

/** The newest change of one key, and the cells that cells.py makes of it. */
public final class Change implements Comparable {
    public static final byte[] INFO = ascii("info");
    public static final byte[] UPDATE_INFO = ascii("update_info");
    public static final byte[] ORDER = ascii("order");
    private static final byte[] EXECUTE_TIME = ascii("execute_time");
    private static final byte[] EXECUTE_POSITION = ascii("execute_position");
    private static final byte[] DELETED = ascii("deleted");
    private static final byte[] NULLS = ascii("nulls");
    private static final byte[] YES = ascii("1");
    private static final byte[] NOTHING = new byte[0];
    private static final int TIME_DIGITS = 13;

    public final byte[] row;
    public final byte[] order;
    public final long position;
    private final boolean deleted;
    private final byte[][] names;
    private final byte[][] values;

    /** @param from table, key, order, deleted, data */
    public Change(InternalRow from, int saltBuckets) {
        this(from, RowKey.of(from.getUTF8String(1).getBytes(), saltBuckets));
    }

    /** @param row its row key */
    public Change(InternalRow from, byte[] row) {
        this.row = row;
        this.order = from.getUTF8String(2).getBytes();
        this.position = number(order, TIME_DIGITS + 1, order.length);
        this.deleted = from.getBoolean(3);
        MapData data = from.isNullAt(4) ? null : from.getMap(4);
        int count = data == null ? 0 : data.numElements();
        this.names = new byte[count][];
        this.values = new byte[count][];
        if (data != null) {
            ArrayData keys = data.keyArray();
            ArrayData texts = data.valueArray();
            for (int i = 0; i < count; i++) {
                names[i] = keys.getUTF8String(i).getBytes();
                values[i] = texts.isNullAt(i) ? null : texts.getUTF8String(i).getBytes();
            }
        }
    }

    /** In the order of the row keys. */
    public int compareTo(Object other) {
        return Arrays.compareUnsigned(row, ((Change) other).row);
    }

    /** About what it takes on the wire. */
    public int size() {
        int found = 4 * row.length + 200;
        for (int i = 0; i < names.length; i++) {
            found += row.length + names[i].length + 30 + (values[i] == null ? 0 : values[i].length);
        }
        return found;
    }

    /** A put that covers every older cell of the same columns. */
    public Put covering() {
        boolean nulls = false;
        for (int i = 0; i < names.length; i++) {
            nulls |= values[i] == null;
        }
        Put put = guarded(nulls && !deleted ? namesOfNulls() : null, position);
        for (int i = 0; i < names.length; i++) {
            put.addColumn(INFO, names[i], position, deleted || values[i] == null ? NOTHING : values[i]);
        }
        return put;
    }

    /** A put of the columns that hold a value, for a row whose older cells are removed. */
    public Put values(long timestamp) {
        Put put = guarded(null, timestamp);
        for (int i = 0; i < names.length && !deleted; i++) {
            if (values[i] != null) {
                put.addColumn(INFO, names[i], timestamp, values[i]);
            }
        }
        return put;
    }

    /** The timestamp of this change's cells where those of an older change have this one. */
    public long above(long timestamp) {
        return Math.max(position, Math.addExact(timestamp, 1L));
    }

    /** The delete of the row's cells with this timestamp. It hides no cell with another one: a later change can have a lower one. */
    public Delete cellsAt(long timestamp) {
        Delete delete = new Delete(row);
        delete.addFamilyVersion(INFO, timestamp);
        delete.addFamilyVersion(UPDATE_INFO, timestamp);
        return delete;
    }

    /** The guards, in the order in which a file has them. */
    private Put guarded(byte[] nulls, long timestamp) {
        Put put = new Put(row, timestamp);
        if (deleted) {
            put.addColumn(UPDATE_INFO, DELETED, timestamp, YES);
        }
        put.addColumn(UPDATE_INFO, EXECUTE_POSITION, timestamp, text(position));
        put.addColumn(UPDATE_INFO, EXECUTE_TIME, timestamp, text(number(order, 0, TIME_DIGITS)));
        if (nulls != null) {
            put.addColumn(UPDATE_INFO, NULLS, timestamp, nulls);
        }
        put.addColumn(UPDATE_INFO, ORDER, timestamp, order);
        return put;
    }

    /** A JSON list as Python prints it. */
    private byte[] namesOfNulls() {
        StringBuilder found = new StringBuilder("[");
        for (int i = 0; i < names.length; i++) {
            if (values[i] == null) {
                found.append(found.length() > 1 ? ", \"" : "\"");
                quoted(new String(names[i], StandardCharsets.UTF_8), found);
                found.append('"');
            }
        }
        return found.append(']').toString().getBytes(StandardCharsets.UTF_8);
    }

    private static void quoted(String name, StringBuilder into) {
        for (int i = 0; i < name.length(); i++) {
            char letter = name.charAt(i);
            int known = "\"\\\b\f\n\r\t".indexOf(letter);
            if (known >= 0) {
                into.append('\\').append("\"\\bfnrt".charAt(known));
            } else if (letter < ' ') {
                into.append(String.format("\\u%04x", new Object[] {Integer.valueOf(letter)}));
            } else {
                into.append(letter);
            }
        }
    }

    private static long number(byte[] digits, int from, int to) {
        long found = 0;
        for (int i = from; i < to; i++) {
            found = 10 * found + (digits[i] - '0');
        }
        return found;
    }

    private static byte[] text(long number) {
        return ascii(Long.toString(number));
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
