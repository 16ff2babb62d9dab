package roma.hbase.files;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.api.java.UDF2;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.hash.Murmur3_x86_32;

/**
 * The first keys of the regions of tables. As a function in Spark it returns the part that a row goes to: Spark hashes the result, and the
 * results are chosen so that each piece of a region is a separate part.
 */
public final class Borders implements UDF2, java.io.Serializable {
    private static final long serialVersionUID = 1L;
    private static final int SEED = 42; // of Spark's exchanges

    private final HashMap starts = new HashMap();
    private final HashMap before = new HashMap();
    private final int pieces;
    private final int[] answers;

    /**
     * @param starts logical table to the first row keys of its regions, sorted, the first of them empty
     * @param pieces of each region
     */
    public Borders(Map starts, int pieces) {
        int regions = 0;
        Object[] tables = starts.keySet().toArray();
        Arrays.sort(tables);
        for (int i = 0; i < tables.length; i++) {
            List of = (List) starts.get(tables[i]);
            this.starts.put(tables[i], of.toArray(new byte[of.size()][]));
            this.before.put(tables[i], Integer.valueOf(regions));
            regions += of.size();
        }
        this.pieces = pieces;
        this.answers = answers(regions * pieces);
    }

    /** Into how many parts rows go. */
    public int parts() {
        return answers.length;
    }

    public Column of(Column table, Column row) {
        return functions.udf((UDF2) this, DataTypes.IntegerType).apply(new Column[] {table, row});
    }

    public Object call(Object table, Object row) {
        int region = ((Integer) before.get(table)).intValue() + region(table, (byte[]) row);
        int piece = Math.floorMod(Arrays.hashCode((byte[]) row), pieces);
        return Integer.valueOf(answers[region * pieces + piece]);
    }

    /** The first row key behind the region that holds this one; null: there is no region behind. */
    public byte[] end(String table, byte[] row) {
        byte[][] of = (byte[][]) starts.get(table);
        int behind = region(table, row) + 1;
        return behind < of.length ? of[behind] : null;
    }

    /** By part, the smallest number that Spark's hash sends there. */
    private static int[] answers(int parts) {
        int[] found = new int[parts];
        Arrays.fill(found, -1);
        int left = parts;
        for (int number = 0; left > 0; number++) {
            int part = Math.floorMod(Murmur3_x86_32.hashInt(number, SEED), parts);
            if (found[part] < 0) {
                found[part] = number;
                left--;
            }
        }
        return found;
    }

    private int region(Object table, byte[] row) {
        byte[][] of = (byte[][]) starts.get(table);
        int low = 0;
        int high = of.length - 1;
        while (low < high) {
            int middle = (low + high + 1) / 2;
            if (Arrays.compareUnsigned(of[middle], row) <= 0) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }
}
