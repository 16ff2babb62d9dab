package roma.hbase;

import org.apache.spark.sql.Column;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;

/** The row key of a message key, as a function of Spark's. */
public final class RowKeys implements UDF1 {
    private static final long serialVersionUID = 1L;
    private final int saltBuckets;

    public RowKeys(int saltBuckets) {
        this.saltBuckets = saltBuckets;
    }

    /** @param messageKey as bytes */
    public Column of(Column messageKey) {
        return functions.udf((UDF1) this, DataTypes.BinaryType).apply(new Column[] {messageKey});
    }

    public Object call(Object messageKey) {
        return RowKey.of((byte[]) messageKey, saltBuckets);
    }
}
