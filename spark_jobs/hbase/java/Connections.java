package roma.hbase;

import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.spark.SparkEnv;
import org.apache.spark.deploy.SparkHadoopUtil;

/** One connection to each HBase for a whole executor. All tasks share it, its cache of region locations, and its configuration. */
public final class Connections {
    private static final Map OPEN = new HashMap();
    private static final Map TOLD = new HashMap();

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

    /** Return the configuration of HBase's client, with Spark's spark.hadoop.* settings. Read once, because the defaults are long; never changed. */
    public static Configuration configuration(Map options) {
        synchronized (TOLD) {
            Configuration told = (Configuration) TOLD.get(options);
            if (told == null) {
                told = SparkHadoopUtil.get().newConfiguration(SparkEnv.get().conf());
                told.setClassLoader(HBaseConfiguration.class.getClassLoader());
                HBaseConfiguration.addHbaseResources(told);
                for (Iterator each = options.entrySet().iterator(); each.hasNext();) {
                    Map.Entry option = (Map.Entry) each.next();
                    told.set((String) option.getKey(), (String) option.getValue());
                }
                TOLD.put(options, told);
            }
            return told;
        }
    }
}
