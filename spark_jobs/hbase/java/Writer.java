package roma.hbase;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.catalyst.InternalRow;

/** What one Spark task does: write its part of a batch. Rows are table, key, order, deleted, data; yields "rows table" call by call. */
public final class Writer implements FlatMapFunction {
    private static final long serialVersionUID = 1L;
    private static final int BYTES_PER_CALL = 4 << 20;

    private final HashMap names;
    private final HashMap options;
    private final Guard guard;
    private final int saltBuckets;
    private final int rowsPerCall;
    private final int underWay;
    private final long patienceMs;

    /** @param names logical table to the table's name in HBase */
    public Writer(Map names, Map options, boolean check, int saltBuckets, int rowsPerCall, int underWay, long patienceMs) {
        this.names = new HashMap(names);
        this.options = new HashMap(options);
        this.guard = check ? (Guard) new ByCheck() : (Guard) new ByVersion();
        this.saltBuckets = saltBuckets;
        this.rowsPerCall = rowsPerCall;
        this.underWay = underWay;
        this.patienceMs = patienceMs;
    }

    public Iterator call(Object rows) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(underWay);
        try {
            return written((Iterator) rows, threads).iterator();
        } finally {
            threads.shutdownNow();
        }
    }

    private List written(Iterator rows, ExecutorService threads) throws Exception {
        List done = new ArrayList();
        Map waiting = new HashMap();
        ArrayDeque calls = new ArrayDeque();
        while (rows.hasNext()) {
            InternalRow row = (InternalRow) rows.next();
            String table = row.getUTF8String(0).toString();
            Call call = (Call) waiting.get(table);
            if (call == null) {
                call = new Call(table, (String) names.get(table), options, guard, patienceMs);
                waiting.put(table, call);
            }
            call.add(new Change(row, saltBuckets));
            if (call.rows() >= rowsPerCall || call.bytes() >= BYTES_PER_CALL) {
                waiting.remove(table);
                if (calls.size() >= underWay) {
                    done.add(answer((Future) calls.remove()));
                }
                calls.add(threads.submit(call));
            }
        }
        for (Iterator left = waiting.values().iterator(); left.hasNext();) {
            calls.add(threads.submit((Call) left.next()));
        }
        while (!calls.isEmpty()) {
            done.add(answer((Future) calls.remove()));
        }
        return done;
    }

    private static Object answer(Future call) throws Exception {
        try {
            return call.get();
        } catch (java.util.concurrent.ExecutionException failed) {
            if (failed.getCause() instanceof Exception) {
                throw (Exception) failed.getCause();
            }
            throw failed;
        }
    }
}
