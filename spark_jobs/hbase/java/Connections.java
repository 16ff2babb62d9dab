package roma.hbase;

import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.ConnectionFactory;

/** One connection to each HBase for a whole executor: it knows where the regions are, and all tasks share it. */
public final class Connections {
    private static final Map OPEN = new HashMap();

    private Connections() {}

    /** @param options of HBase's own client */
    public static AsyncConnection to(Map options, long patienceMs) throws Exception {
        synchronized (OPEN) {
            AsyncConnection open = (AsyncConnection) OPEN.get(options);
            if (open == null || open.isClosed()) {
                open = (AsyncConnection) ConnectionFactory.createAsyncConnection(configuration(options)).get(patienceMs, TimeUnit.MILLISECONDS);
                OPEN.put(options, open);
            }
            return open;
        }
    }

    /** What HBase's own classes are told. */
    public static Configuration configuration(Map options) {
        Configuration configuration = HBaseConfiguration.create();
        for (Iterator each = options.entrySet().iterator(); each.hasNext();) {
            Map.Entry option = (Map.Entry) each.next();
            configuration.set((String) option.getKey(), (String) option.getValue());
        }
        return configuration;
    }
}
