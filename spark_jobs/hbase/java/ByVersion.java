package roma.hbase;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.client.AsyncTable;

/** HBase itself shows the greater execute position, which is the timestamp of the cells; nothing is read. */
public final class ByVersion implements Guard {
    private static final long serialVersionUID = 1L;
    public long write(AsyncTable table, List changes) throws Exception {
        List puts = new ArrayList(changes.size());
        for (int i = 0; i < changes.size(); i++) {
            puts.add(((Change) changes.get(i)).covering());
        }
        table.putAll(puts).get();
        return changes.size();
    }
}
