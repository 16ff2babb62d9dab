package roma.delta;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.InterpretedUnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.delta.stats.DeltaTaskStatisticsTracker;
import scala.collection.immutable.Seq;

/** A `RowShape` in use by one task. Its projections are interpreted: to compile them takes longer than the rows of a small table take. */
public final class OpenShape {
    public final RowShape shape;
    public final int key;
    public final int time;
    public final int position;
    private final List projections = new ArrayList();
    private final DeltaTaskStatisticsTracker statistics;

    public OpenShape(RowShape shape, Configuration configuration) {
        this.shape = shape;
        for (Iterator each = shape.projections.iterator(); each.hasNext();) {
            projections.add(InterpretedUnsafeProjection.createProjection((Seq) each.next()));
        }
        key = shape.columns.fieldIndex(HeldColumns.KEY);
        time = shape.columns.fieldIndex(HeldColumns.TIME);
        position = shape.columns.fieldIndex(HeldColumns.POSITION);
        statistics = new DeltaTaskStatisticsTracker(shape.counted, shape.statistics, new Path("/"), configuration);
    }

    /** Return the row of a copy for a change. The next call overwrites it. */
    public InternalRow row(InternalRow change) {
        InternalRow row = change;
        for (int each = 0; each < projections.size(); each++) {
            row = (InternalRow) ((UnsafeProjection) projections.get(each)).apply(row);
        }
        return row;
    }

    public void begin(String file) {
        statistics.newFile(file);
    }

    public void count(String file, InternalRow row) {
        statistics.newRow(file, row);
    }

    /** Return Delta's JSON of the statistics of a file. */
    public String counted(String file) {
        statistics.closeFile(file);
        return (String) statistics.results().apply(new Path(file).getName());
    }
}
