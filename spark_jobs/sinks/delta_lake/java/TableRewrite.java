package roma.delta;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The changes of one table: decides which of them win, writes the winners to a new file, and then those rows of replaced files that stay.
 * Changes are written as they come; of the copy, keys and order keys are held in memory.
 */
public final class TableRewrite {
    private final CopyFiles copy;
    private final OpenShape shape;
    private final Configuration configuration;
    private final Map held = new HashMap();
    private final Set won = new HashSet();
    private final boolean[] replaced;
    private NewFile file;
    private long written;
    private long lost;
    private long kept;

    /**
     * @param configuration reads and writes whole rows of the table
     * @param keys          reads the columns of `HeldColumns`
     */
    public TableRewrite(CopyFiles copy, OpenShape shape, Configuration configuration, Configuration keys) throws Exception {
        this.copy = copy;
        this.shape = shape;
        this.configuration = configuration;
        replaced = new boolean[copy.paths.length];
        for (int each = 0; each < replaced.length; each++) {
            hold(each, keys);
        }
    }

    public void take(InternalRow change) {
        InternalRow row = shape.row(change);
        HeldRow old = (HeldRow) held.get(row.getUTF8String(shape.key));
        if (old != null && !old.isReplacedBy(new HeldRow(-1, row, shape.time, shape.position))) {
            lost++;
            return;
        }
        if (old != null) {
            replaced[old.file] = true;
            won.add(row.getUTF8String(shape.key).clone());
        }
        write(row);
        written++;
    }

    /** Complete the new file. Return the numbers of written, replacing, lost and kept rows, the replaced files, and the new file. */
    public String finished() throws Exception {
        StringBuilder files = new StringBuilder();
        for (int each = 0; each < replaced.length; each++) {
            if (replaced[each]) {
                keepOthers(each);
                files.append(files.length() == 0 ? "" : ",").append(each);
            }
        }
        String counts = written + "\t" + won.size() + "\t" + lost + "\t" + kept + "\t" + files;
        return file == null ? counts : counts + "\t" + file.finished();
    }

    public void discard() {
        if (file != null) {
            file.discard();
        }
    }

    private void hold(int number, Configuration keys) throws Exception {
        FileRows rows = new FileRows(copy.path(number), copy.bytes[number], keys);
        try {
            for (InternalRow row = rows.next(); row != null; row = rows.next()) {
                if (held.put(row.getUTF8String(0).clone(), new HeldRow(number, row, 1, 2)) != null) {
                    throw new IllegalStateException("The copy has several rows of one key, which only a join replaces.");
                }
            }
        } finally {
            rows.close();
        }
    }

    private void keepOthers(int number) throws Exception {
        FileRows rows = new FileRows(copy.path(number), copy.bytes[number], configuration);
        try {
            for (InternalRow row = rows.next(); row != null; row = rows.next()) {
                if (!won.contains(row.getUTF8String(shape.key))) {
                    write(row);
                    kept++;
                }
            }
        } finally {
            rows.close();
        }
    }

    private void write(InternalRow row) {
        if (file == null) {
            file = new NewFile(copy.root, shape, configuration);
        }
        file.write(row);
    }
}
