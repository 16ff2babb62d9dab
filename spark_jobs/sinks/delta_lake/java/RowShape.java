package roma.delta;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.delta.stats.DeltaJobStatisticsTracker;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;

/** The rows of all tables with one definition: their columns, how they are computed from changes, and the statistics of their files. */
public final class RowShape implements Serializable {
    private static final long serialVersionUID = 1L;
    public final StructType columns;
    public final String json;
    public final ArrayList projections;
    public final Seq counted;
    public final Expression statistics;

    /**
     * @param columns     the columns of the copies
     * @param projections Scala sequences of expressions, the first one for changes and each other one for the result before it; the last
     *                    result has the columns of the copies
     * @param statistics  Delta's collector of the statistics of files
     */
    public RowShape(StructType columns, List projections, DeltaJobStatisticsTracker statistics) {
        this.columns = columns;
        this.json = columns.json();
        this.projections = new ArrayList(projections);
        this.counted = statistics.dataCols();
        this.statistics = statistics.prepareForEval(statistics.statsColExpr());
    }
}
