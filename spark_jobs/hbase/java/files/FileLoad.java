package roma.hbase.files;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.tool.BulkLoadHFilesTool;
import org.apache.hadoop.hbase.util.Bytes;
import roma.hbase.Change;
import roma.hbase.Connections;
import roma.hbase.Refusal;

/** Hands finished files of one table over to HBase, which moves them to where its own lie; a region takes all of its files at once or none. */
public final class FileLoad implements Callable {
    private static final long PAUSE_MS = 500;
    private static final String ANSWERED = "Retry attempted";

    private final Configuration configuration;
    private final TableName table;
    private final Path folder;
    private final List names;
    private final long patienceMs;

    public FileLoad(String table, Map options, String folder, List names, long patienceMs) {
        this.configuration = Connections.configuration(options);
        this.table = TableName.valueOf(table);
        this.folder = new Path(folder);
        this.names = names;
        this.patienceMs = patienceMs;
    }

    /** As long as patience lasts, what was not taken is handed over again. */
    public Object call() throws Exception {
        NoCounters.take();
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(patienceMs);
        boolean missed = false;
        while (true) {
            try {
                load();
                return null;
            } catch (DoNotRetryIOException refused) {
                throw Refusal.of(refused, quorum());
            } catch (FileNotFoundException unseen) {
                if (missed) { // once may be a file that was taken by a call whose answer got lost
                    throw Refusal.ofStaging(unseen, folder.toString());
                }
                missed = true;
            } catch (IOException failed) {
                if (System.nanoTime() > end) {
                    throw answered(failed) ? Refusal.ofStaging(failed, folder.toString()) : Refusal.of(failed, quorum());
                }
                Thread.sleep(PAUSE_MS);
            }
        }
    }

    private void load() throws IOException {
        Map left = new TreeMap(Bytes.BYTES_COMPARATOR);
        find(Change.INFO, left);
        find(Change.UPDATE_INFO, left);
        if (!left.isEmpty()) {
            new BulkLoadHFilesTool(configuration).bulkLoad(table, left);
        }
    }

    /** Find the files that are left: HBase moves files that it takes, and leaves the folder. Without the folder that cannot be checked. */
    private void find(byte[] family, Map into) throws IOException {
        FileSystem files = folder.getFileSystem(configuration);
        List found = new ArrayList();
        for (int i = 0; i < names.size(); i++) {
            Path of = new Path(new Path(folder, (String) names.get(i)), Bytes.toString(family));
            FileStatus[] there = files.listStatus(of);
            for (int j = 0; j < there.length; j++) {
                found.add(there[j].getPath());
            }
        }
        if (!found.isEmpty()) {
            into.put(family, found);
        }
    }

    /** Whether region servers refused a file. They write the reason into their own logs; HBase's tool raises this text without a cause. */
    private static boolean answered(IOException failed) {
        return failed.getCause() == null && failed.getMessage() != null && failed.getMessage().startsWith(ANSWERED);
    }

    private String quorum() {
        return configuration.get("hbase.zookeeper.quorum");
    }
}
