package roma.delta;

import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** The columns of a copy that decide between its row and a change. */
public final class HeldColumns {
    public static final String KEY = "_key";
    public static final String TIME = "_execute_time";
    public static final String POSITION = "_execute_position";
    public static final StructType ALL = new StructType().add(KEY, DataTypes.StringType).add(TIME, DataTypes.LongType)
        .add(POSITION, DataTypes.LongType);

    private HeldColumns() {
    }
}
