package roma.delta;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.parquet.ParquetReadSupport;
import org.apache.spark.sql.execution.datasources.parquet.ParquetWriteSupport;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.util.SerializableConfiguration;

/**
 * What one Spark task does: write the changes of its tables. Rows are changes, those of one table together; yields one text for each table,
 * in fields that tabs separate: the table's place in the list, an error that is empty if there was none, and the result of `TableRewrite`.
 */
public final class Rewriter implements FlatMapFunction {
    private static final long serialVersionUID = 1L;
    private final HashMap copies = new HashMap();
    private final SerializableConfiguration configuration;

    /**
     * @param tables        names of the logical tables
     * @param files         `CopyFiles` of each table
     * @param shapes        `RowShape` of each table
     * @param configuration Hadoop's, with what Spark's reader and writer of Parquet need
     */
    public Rewriter(List tables, List files, List shapes, Configuration configuration) {
        for (int each = 0; each < tables.size(); each++) {
            CopyFiles copy = (CopyFiles) files.get(each);
            copy.number = each;
            copy.shape = (RowShape) shapes.get(each);
            copies.put(tables.get(each), copy);
        }
        this.configuration = new SerializableConfiguration(configuration);
    }

    public Iterator call(Object rows) {
        return new Task(copies, configuration.value()).results((Iterator) rows).iterator();
    }

    /** The state of one task. */
    private static final class Task {
        private final Map copies;
        private final Configuration whole;
        private final Configuration keys;
        private final Map shapes = new IdentityHashMap();
        private final List done = new ArrayList();
        private CopyFiles copy;
        private TableRewrite open;
        private Exception failure;

        Task(Map copies, Configuration configuration) {
            this.copies = copies;
            whole = new Configuration(configuration);
            keys = new Configuration(configuration);
            setColumns(keys, HeldColumns.ALL, HeldColumns.ALL.json());
        }

        /** An error of the changes themselves is raised: Spark then repeats the task, or the stage before it. */
        List results(Iterator rows) {
            UTF8String name = null;
            while (rows.hasNext()) {
                InternalRow row = (InternalRow) rows.next();
                if (name == null || !row.getUTF8String(0).equals(name)) {
                    finish();
                    name = row.getUTF8String(0).clone();
                    begin((CopyFiles) copies.get(name.toString()));
                }
                take(row);
            }
            finish();
            return done;
        }

        private void begin(CopyFiles given) {
            copy = given;
            failure = null;
            open = null;
            try {
                setColumns(whole, copy.shape.columns, copy.shape.json);
                open = new TableRewrite(copy, opened(copy.shape), whole, keys);
            } catch (Exception failed) {
                fail(failed);
            }
        }

        private void take(InternalRow row) {
            if (failure != null) {
                return;
            }
            try {
                open.take(row);
            } catch (Exception failed) {
                fail(failed);
            }
        }

        private void finish() {
            if (copy == null) {
                return;
            }
            String result = "";
            try {
                result = failure == null ? open.finished() : "";
            } catch (Exception failed) {
                fail(failed);
            }
            done.add(copy.number + "\t" + (failure == null ? "\t" + result : text(failure)));
        }

        private void fail(Exception failed) {
            if (open != null) {
                open.discard();
            }
            if (TaskContext.get() != null && TaskContext.get().isInterrupted()) {
                throw new IllegalStateException("the task is stopped", failed);
            }
            failure = failed;
        }

        private OpenShape opened(RowShape shape) {
            OpenShape found = (OpenShape) shapes.get(shape);
            if (found == null) {
                found = new OpenShape(shape, whole);
                shapes.put(shape, found);
            }
            return found;
        }

        private static void setColumns(Configuration configuration, StructType columns, String json) {
            configuration.set(ParquetReadSupport.SPARK_ROW_REQUESTED_SCHEMA(), json);
            ParquetWriteSupport.setSchema(columns, configuration);
        }

        private static String text(Exception failed) {
            StringWriter text = new StringWriter();
            failed.printStackTrace(new PrintWriter(text, true));
            return text.toString().replaceAll("[\t\r\n]+", " ");
        }
    }
}
