import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Table;

/** The classic consumer through HBase's own client: one thread; for each message a get, a comparison and a checkAndPut, one row a call.

    The casts are for Janino, to which what a method returns is what its oldest ancestor says. */
public final class ClassicLoop {
    private static final byte[] INFO = bytes("info");
    private static final byte[] UPDATE_INFO = bytes("update_info");
    private static final byte[] TIME = bytes("execute_time");
    private static final byte[] POSITION = bytes("execute_position");

    private final Table table;
    private final long timeMs;
    private final ObjectMapper json = new ObjectMapper();

    public ClassicLoop(String quorum, String table, Long timeMs) throws Exception {
        Configuration told = HBaseConfiguration.create();
        told.setClassLoader(HBaseConfiguration.class.getClassLoader());
        told.set("hbase.zookeeper.quorum", quorum);
        this.table = ConnectionFactory.createConnection(told).getTable(TableName.valueOf(table));
        this.timeMs = timeMs.longValue();
    }

    /** @param file lines of an order, a blank and a message; they are read first
        @return nanoseconds that it took to apply them */
    public long apply(String file) throws Exception {
        List lines = Files.readAllLines(Paths.get(file, new String[0]));
        long began = System.nanoTime();
        for (int i = 0; i < lines.size(); i++) {
            String line = (String) lines.get(i);
            int blank = line.indexOf(' ');
            JsonNode rows = (JsonNode) ((JsonNode) json.readTree(line.substring(blank + 1))).get("data");
            apply((JsonNode) rows.get(0), Long.parseLong(line.substring(0, blank)));
        }
        return System.nanoTime() - began;
    }

    private void apply(JsonNode columns, long order) throws Exception {
        byte[] row = bytes(((JsonNode) columns.get("id")).asText());
        Result found = table.get(new Get(row).addColumn(UPDATE_INFO, TIME).addColumn(UPDATE_INFO, POSITION));
        byte[] position = found.getValue(UPDATE_INFO, POSITION);
        if (position != null && isOlder(order, Long.parseLong(text(found.getValue(UPDATE_INFO, TIME))), Long.parseLong(text(position)))) {
            return;
        }
        Put put = new Put(row);
        for (Iterator each = columns.fields(); each.hasNext();) {
            Map.Entry column = (Map.Entry) each.next();
            put.addColumn(INFO, bytes((String) column.getKey()), bytes(((JsonNode) column.getValue()).asText()));
        }
        put.addColumn(UPDATE_INFO, TIME, bytes(Long.toString(timeMs)));
        put.addColumn(UPDATE_INFO, POSITION, bytes(Long.toString(order)));
        CheckAndMutate.Builder check = CheckAndMutate.newBuilder(row);
        check = position == null ? check.ifNotExists(UPDATE_INFO, POSITION) : check.ifEquals(UPDATE_INFO, POSITION, position);
        table.checkAndMutate(check.build(put));
    }

    private boolean isOlder(long order, long heldMs, long held) {
        return timeMs < heldMs || (timeMs == heldMs && order < held);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
