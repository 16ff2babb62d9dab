package roma.hbase.files;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import roma.hbase.Connections;
import roma.hbase.Refusal;

/** The folder in which batches put their files, each into a folder of its own, until HBase takes them. */
public final class Staging {
    private final Configuration configuration;
    private final Path root;

    public Staging(Map options, String root) {
        this.configuration = Connections.configuration(options);
        this.root = new Path(root);
    }

    /** The folder of a batch goes, with whatever HBase left there. */
    public void remove(String batch) {
        try {
            files().delete(new Path(root, batch), true);
        } catch (IOException failed) {
            throw Refusal.ofStaging(failed, root.toString());
        }
    }

    /** What jobs left behind that were killed. */
    public void removeOlder(long ageMs) {
        long youngest = System.currentTimeMillis() - ageMs;
        try {
            FileStatus[] batches = files().listStatus(root);
            for (int i = 0; i < batches.length; i++) {
                if (batches[i].getModificationTime() < youngest) {
                    files().delete(batches[i].getPath(), true);
                }
            }
        } catch (FileNotFoundException nothing) {
            return;
        } catch (IOException failed) {
            throw Refusal.ofStaging(failed, root.toString());
        }
    }

    private FileSystem files() throws IOException {
        return root.getFileSystem(configuration);
    }
}
