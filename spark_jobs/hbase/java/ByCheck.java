package roma.hbase;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.CheckAndMutateResult;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.RowMutations;

/** A row changes only where its order is smaller or equal, decided by HBase for the row as a whole. */
public final class ByCheck implements Guard {
    private static final long serialVersionUID = 1L;
    /** Orders are read first; then what is not there, then what is not older; those that came meanwhile are among the latter. */
    public long write(AsyncTable table, List changes) throws Exception {
        List orders = orders(table, changes);
        List fresh = new ArrayList();
        List known = new ArrayList();
        for (int i = 0; i < changes.size(); i++) {
            Change change = (Change) changes.get(i);
            byte[] present = ((Result) orders.get(i)).getValue(Change.UPDATE_INFO, Change.ORDER);
            if (present == null) {
                fresh.add(change);
            } else if (Arrays.compareUnsigned(change.order, present) >= 0) {
                known.add(change);
            }
        }
        int wanted = fresh.size() + known.size();
        known.addAll(refused(table, fresh, true));
        return wanted - refused(table, known, false).size();
    }

    private static List orders(AsyncTable table, List changes) throws Exception {
        List gets = new ArrayList(changes.size());
        for (int i = 0; i < changes.size(); i++) {
            gets.add(new Get(((Change) changes.get(i)).row).addColumn(Change.UPDATE_INFO, Change.ORDER));
        }
        return (List) table.getAll(gets).get();
    }

    /** The changes whose condition did not hold. */
    private static List refused(AsyncTable table, List changes, boolean absent) throws Exception {
        List found = new ArrayList();
        if (changes.isEmpty()) {
            return found;
        }
        List conditions = new ArrayList(changes.size());
        for (int i = 0; i < changes.size(); i++) {
            conditions.add(condition((Change) changes.get(i), absent));
        }
        List answers = (List) table.checkAndMutateAll(conditions).get();
        for (int i = 0; i < changes.size(); i++) {
            if (!((CheckAndMutateResult) answers.get(i)).isSuccess()) {
                found.add(changes.get(i));
            }
        }
        return found;
    }

    private static CheckAndMutate condition(Change change, boolean absent) throws Exception {
        CheckAndMutate.Builder builder = CheckAndMutate.newBuilder(change.row);
        if (absent) {
            return builder.ifNotExists(Change.UPDATE_INFO, Change.ORDER).build(change.values());
        }
        RowMutations mutations = new RowMutations(change.row, 2);
        Delete older = change.withoutOlder();
        if (older != null) {
            mutations.add((org.apache.hadoop.hbase.client.Mutation) older);
        }
        mutations.add((org.apache.hadoop.hbase.client.Mutation) change.values());
        // "given value OP stored value"
        return builder.ifMatches(Change.UPDATE_INFO, Change.ORDER, CompareOperator.GREATER_OR_EQUAL, change.order).build(mutations);
    }
}
