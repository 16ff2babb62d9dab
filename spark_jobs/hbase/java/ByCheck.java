package roma.hbase;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.CheckAndMutateResult;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.RowMutations;

/** A row changes only where its order (time, then position) is smaller or equal, decided by HBase for the row as a whole. */
public final class ByCheck implements Guard {
    private static final long serialVersionUID = 1L;
    /** Orders are read first. The condition of a row is the order that was read; a row that changed meanwhile is read again. */
    public long write(AsyncTable table, List changes) throws Exception {
        long written = 0;
        List left = changes;
        while (!left.isEmpty()) {
            List orders = orders(table, left);
            List due = new ArrayList();
            List conditions = new ArrayList();
            for (int i = 0; i < left.size(); i++) {
                Change change = (Change) left.get(i);
                Cell present = ((Result) orders.get(i)).getColumnLatestCell(Change.UPDATE_INFO, Change.ORDER);
                if (present == null || Arrays.compareUnsigned(change.order, CellUtil.cloneValue(present)) >= 0) {
                    due.add(change);
                    conditions.add(condition(change, present));
                }
            }
            left = refused(table, due, conditions);
            written += due.size() - left.size();
        }
        return written;
    }

    private static List orders(AsyncTable table, List changes) throws Exception {
        List gets = new ArrayList(changes.size());
        for (int i = 0; i < changes.size(); i++) {
            gets.add(new Get(((Change) changes.get(i)).row).addColumn(Change.UPDATE_INFO, Change.ORDER));
        }
        return (List) table.getAll(gets).get();
    }

    /** The changes whose condition did not hold. */
    private static List refused(AsyncTable table, List changes, List conditions) throws Exception {
        List found = new ArrayList();
        if (changes.isEmpty()) {
            return found;
        }
        List answers = (List) table.checkAndMutateAll(conditions).get();
        for (int i = 0; i < changes.size(); i++) {
            if (!((CheckAndMutateResult) answers.get(i)).isSuccess()) {
                found.add(changes.get(i));
            }
        }
        return found;
    }

    /** The change, on condition that the row still has the order that was read. */
    private static CheckAndMutate condition(Change change, Cell present) throws Exception {
        CheckAndMutate.Builder builder = CheckAndMutate.newBuilder(change.row);
        if (present == null) {
            return builder.ifNotExists(Change.UPDATE_INFO, Change.ORDER).build(change.values(change.position));
        }
        byte[] order = CellUtil.cloneValue(present);
        builder.ifEquals(Change.UPDATE_INFO, Change.ORDER, order);
        if (Arrays.equals(order, change.order)) { // applied again: its cells are replaced
            return builder.build(change.values(present.getTimestamp()));
        }
        RowMutations mutations = new RowMutations(change.row, 2);
        mutations.add((Mutation) change.cellsAt(present.getTimestamp()));
        mutations.add((Mutation) change.values(change.above(present.getTimestamp())));
        return builder.build(mutations);
    }
}
