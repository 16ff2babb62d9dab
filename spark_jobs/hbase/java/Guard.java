package roma.hbase;

import java.util.List;
import org.apache.hadoop.hbase.client.AsyncTable;

/** What keeps an older change from replacing a newer one, as guards.py tells. */
public interface Guard extends java.io.Serializable {
    /** Write changes of different rows and return how many were written. */
    long write(AsyncTable table, List changes) throws Exception;
}
