package roma.hbase;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.AsyncTableBuilder;

/** Changes of one table that go to HBase together; tried again for as long as patience lasts, which changes nothing that is there. */
public final class Call implements Callable {
    private final String table;
    private final String name;
    private final Map options;
    private final Guard guard;
    private final long patienceMs;
    private final List changes = new ArrayList();
    private int bytes = 0;

    public Call(String table, String name, Map options, Guard guard, long patienceMs) {
        this.table = table;
        this.name = name;
        this.options = options;
        this.guard = guard;
        this.patienceMs = patienceMs;
    }

    public void add(Change change) {
        changes.add(change);
        bytes += change.size();
    }

    public int rows() {
        return changes.size();
    }

    public int bytes() {
        return bytes;
    }

    public Object call() throws Exception {
        try {
            Collections.sort(changes); // neighbours find their place in HBase's memory sooner
            return guard.write(patient(), changes) + " " + table;
        } catch (ExecutionException failed) {
            throw Refusal.of(failed.getCause(), quorum());
        } catch (TimeoutException silent) {
            throw Refusal.of(silent, quorum());
        } catch (IOException failed) {
            throw Refusal.of(failed, quorum());
        }
    }

    private AsyncTable patient() throws Exception {
        AsyncTableBuilder builder = Connections.to(options, patienceMs).getTableBuilder(TableName.valueOf(name));
        return builder.setOperationTimeout(patienceMs, TimeUnit.MILLISECONDS).setMaxAttempts(Integer.MAX_VALUE).build();
    }

    private String quorum() {
        return (String) options.get("hbase.zookeeper.quorum");
    }
}
