// Canal's client, and a real Canal server in the same process unless another one is named: reads a
// verb a line, prints what it gave.
// Arguments: host, port, user and password of the database, port of the server, filter, folder,
// how a batch is bounded.
// Or: client, host, port, destination, user, password.

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import com.alibaba.otter.canal.client.CanalConnector;
import com.alibaba.otter.canal.client.CanalConnectors;
import com.alibaba.otter.canal.instance.manager.CanalInstanceWithManager;
import com.alibaba.otter.canal.instance.manager.model.Canal;
import com.alibaba.otter.canal.instance.manager.model.CanalParameter;
import com.alibaba.otter.canal.protocol.CanalEntry;
import com.alibaba.otter.canal.protocol.Message;
import com.alibaba.otter.canal.server.embedded.CanalServerWithEmbedded;
import com.alibaba.otter.canal.server.netty.CanalServerWithNetty;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.LoggerFactory;

public class CanalVerbs {
    static final String DESTINATION = "example";

    public static void main(String[] args) throws Exception {
        ((Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME)).setLevel(Level.WARN);
        CanalConnector connector;
        if (args[0].equals("client")) {
            InetSocketAddress server = new InetSocketAddress(args[1], Integer.parseInt(args[2]));
            connector = CanalConnectors.newSingleConnector(server, args[3], args[4], args[5]);
        } else {
            serve(args);
            InetSocketAddress server =
                    new InetSocketAddress("127.0.0.1", Integer.parseInt(args[4]));
            connector = CanalConnectors.newSingleConnector(server, DESTINATION, "", "");
        }
        BufferedReader verbs =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("= ready");
        for (String line = verbs.readLine(); line != null; line = verbs.readLine()) {
            String said;
            try {
                said = carriedOut(connector, line.split(" "));
            } catch (Throwable error) {
                said = "error " + String.valueOf(error).replace('\n', ' ');
            }
            System.out.println("= " + said);
        }
        System.exit(0);
    }

    static void serve(String[] args) {
        CanalParameter wanted = new CanalParameter();
        wanted.setMetaMode(CanalParameter.MetaMode.LOCAL_FILE);
        wanted.setDataDir(args[6]);
        wanted.setMetaFileFlushPeriod(100);
        wanted.setIndexMode(CanalParameter.IndexMode.MEMORY_META_FAILBACK);
        wanted.setStorageMode(CanalParameter.StorageMode.MEMORY);
        wanted.setStorageBatchMode(CanalParameter.BatchMode.valueOf(args[7]));
        wanted.setSourcingType(CanalParameter.SourcingType.MYSQL);
        wanted.setHaMode(CanalParameter.HAMode.HEARTBEAT);
        wanted.setSlaveId(880088L);
        wanted.setDbAddresses(List.of(new InetSocketAddress(args[0], Integer.parseInt(args[1]))));
        wanted.setDbUsername(args[2]);
        wanted.setDbPassword(args[3]);
        wanted.setDefaultDatabaseName("mysql");
        wanted.setConnectionCharset("UTF-8");
        wanted.setTsdbEnable(false);
        Canal canal = new Canal();
        canal.setId(1L);
        canal.setName(DESTINATION);
        canal.setCanalParameter(wanted);
        CanalServerWithEmbedded server = CanalServerWithEmbedded.instance();
        server.setCanalInstanceGenerator(name -> new CanalInstanceWithManager(canal, args[5]));
        server.start();
        server.start(DESTINATION);
        CanalServerWithNetty network = CanalServerWithNetty.instance();
        network.setIp("127.0.0.1");
        network.setPort(Integer.parseInt(args[4]));
        network.start();
    }

    static String carriedOut(CanalConnector connector, String[] verb) throws Exception {
        switch (verb[0]) {
            case "connect": connector.connect(); return "done";
            case "disconnect": connector.disconnect(); return "done";
            case "subscribe": connector.subscribe(verb[1]); return "done";
            case "unsubscribe": connector.unsubscribe(); return "done";
            case "get": return shown(connector.get(
                    Integer.parseInt(verb[1]), Long.valueOf(verb[2]), TimeUnit.MILLISECONDS));
            case "get_without_ack": return shown(connector.getWithoutAck(
                    Integer.parseInt(verb[1]), Long.valueOf(verb[2]), TimeUnit.MILLISECONDS));
            case "entries": return entries(connector.getWithoutAck(
                    Integer.parseInt(verb[1]), Long.valueOf(verb[2]), TimeUnit.MILLISECONDS));
            case "ack": connector.ack(Long.parseLong(verb[1])); return "done";
            case "rollback":
                if (verb.length > 1) connector.rollback(Long.parseLong(verb[1]));
                else connector.rollback();
                return "done";
            case "drain": return drained(
                    connector, Integer.parseInt(verb[1]), Integer.parseInt(verb[2]));
            default: throw new IllegalArgumentException(verb[0]);
        }
    }

    /** Return the batch's id and its entries, each in Base64. */
    static String entries(Message message) {
        List<String> found = new ArrayList<>();
        for (CanalEntry.Entry entry : message.getEntries()) {
            found.add(Base64.getEncoder().encodeToString(entry.toByteArray()));
        }
        return "batch " + message.getId() + " " + String.join(",", found);
    }

    /** Return the seconds that it takes to get and acknowledge so many rows. */
    static String drained(CanalConnector connector, int rows, int size) throws Exception {
        long began = System.nanoTime();
        for (int seen = 0; seen < rows; ) {
            Message message = connector.getWithoutAck(size, 100L, TimeUnit.MILLISECONDS);
            if (message.getId() == -1) continue;
            for (CanalEntry.Entry entry : message.getEntries()) {
                if (entry.getEntryType() != CanalEntry.EntryType.ROWDATA) continue;
                seen += CanalEntry.RowChange.parseFrom(entry.getStoreValue()).getRowDatasCount();
            }
            connector.ack(message.getId());
        }
        return String.valueOf((System.nanoTime() - began) / 1e9);
    }

    /** Return the batch's id and the ids of its rows. */
    static String shown(Message message) throws Exception {
        List<String> rows = new ArrayList<>();
        for (CanalEntry.Entry entry : message.getEntries()) {
            if (entry.getEntryType() != CanalEntry.EntryType.ROWDATA) continue;
            CanalEntry.RowChange change = CanalEntry.RowChange.parseFrom(entry.getStoreValue());
            if (change.getIsDdl()) continue;
            for (CanalEntry.RowData row : change.getRowDatasList()) {
                rows.add(row.getAfterColumns(0).getValue());
            }
        }
        return "batch " + message.getId() + " " + String.join(",", rows);
    }
}
