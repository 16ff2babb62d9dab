package roma.hbase.files;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.unsafe.types.UTF8String;
import roma.hbase.Change;
import roma.hbase.Connections;
import roma.hbase.Refusal;

/**
 * What one Spark task does: write its part of a batch as files. Rows are table, key, order, deleted, data, row key, sorted by table and row
 * key; yields "rows name table" for each region, `name` being the folder of its files.
 */
public final class FileWriter implements FlatMapFunction {
    private static final long serialVersionUID = 1L;
    private final HashMap names;
    private final HashMap options;
    private final Borders borders;
    private final String folder;
    private final long patienceMs;

    /** @param names logical table to the table's name in HBase */
    public FileWriter(Map names, Map options, Borders borders, String folder, long patienceMs) {
        this.names = new HashMap(names);
        this.options = new HashMap(options);
        this.borders = borders;
        this.folder = folder;
        this.patienceMs = patienceMs;
    }

    public Iterator call(Object rows) throws Exception {
        NoCounters.take();
        List done = new ArrayList();
        Configuration configuration = Connections.configuration(options);
        UTF8String table = null;
        RegionFiles open = null;
        TableDescriptor described = null;
        for (Iterator each = (Iterator) rows; each.hasNext();) {
            InternalRow row = (InternalRow) each.next();
            UTF8String of = row.getUTF8String(0);
            boolean same = of.equals(table);
            Change change = new Change(row, row.getBinary(5));
            if (open == null || !same || !open.holds(change.row)) {
                finish(open, table, done);
                if (!same) {
                    table = of.clone();
                    described = described(table.toString());
                }
                open = opened(configuration, described, borders.end(table.toString(), change.row));
            }
            write(open, change);
        }
        finish(open, table, done);
        return done.iterator();
    }

    private RegionFiles opened(Configuration configuration, TableDescriptor table, byte[] end) {
        try {
            return new RegionFiles(configuration, new Path(folder), table, end);
        } catch (IOException failed) {
            throw Refusal.ofStaging(failed, folder);
        }
    }

    private void write(RegionFiles files, Change change) {
        try {
            files.add(change);
        } catch (IOException failed) {
            throw Refusal.ofStaging(failed, folder);
        }
    }

    private void finish(RegionFiles files, UTF8String table, List done) {
        if (files == null) {
            return;
        }
        try {
            done.add(files.finished() + " " + files.name + " " + table);
        } catch (IOException failed) {
            throw Refusal.ofStaging(failed, folder);
        }
    }

    private TableDescriptor described(String table) throws Exception {
        TableName name = TableName.valueOf((String) names.get(table));
        try {
            return (TableDescriptor) Connections.to(options, patienceMs).getTable(name).getDescriptor().get();
        } catch (ExecutionException failed) {
            throw Refusal.of(failed.getCause(), (String) options.get("hbase.zookeeper.quorum"));
        }
    }
}
