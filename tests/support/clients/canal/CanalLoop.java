// The usual loop of a client of Canal: get a batch, print its rows, acknowledge it.
// Arguments: host, port, destination, user, password, filter, number of rows to end after.

import com.alibaba.otter.canal.client.CanalConnector;
import com.alibaba.otter.canal.client.CanalConnectors;
import com.alibaba.otter.canal.protocol.CanalEntry.Column;
import com.alibaba.otter.canal.protocol.CanalEntry.Entry;
import com.alibaba.otter.canal.protocol.CanalEntry.EntryType;
import com.alibaba.otter.canal.protocol.CanalEntry.EventType;
import com.alibaba.otter.canal.protocol.CanalEntry.RowChange;
import com.alibaba.otter.canal.protocol.CanalEntry.RowData;
import com.alibaba.otter.canal.protocol.Message;
import java.net.InetSocketAddress;

public class CanalLoop {
    public static void main(String[] args) throws Exception {
        InetSocketAddress server = new InetSocketAddress(args[0], Integer.parseInt(args[1]));
        CanalConnector connector =
                CanalConnectors.newSingleConnector(server, args[2], args[3], args[4]);
        connector.connect();
        connector.subscribe(args[5]);
        connector.rollback();
        int left = Integer.parseInt(args[6]);
        while (left > 0) {
            Message message = connector.getWithoutAck(1000);
            if (message.getId() == -1 || message.getEntries().isEmpty()) {
                Thread.sleep(100);
                continue;
            }
            for (Entry entry : message.getEntries()) left -= printed(entry);
            connector.ack(message.getId());
        }
        connector.disconnect();
    }

    /** Print the rows of an entry; return how many it has. */
    static int printed(Entry entry) throws Exception {
        if (entry.getEntryType() != EntryType.ROWDATA) return 0;
        RowChange change = RowChange.parseFrom(entry.getStoreValue());
        String table = entry.getHeader().getSchemaName() + "." + entry.getHeader().getTableName();
        for (RowData row : change.getRowDatasList()) {
            boolean deleted = change.getEventType() == EventType.DELETE;
            StringBuilder text = new StringBuilder();
            for (Column column : deleted ? row.getBeforeColumnsList() : row.getAfterColumnsList()) {
                text.append(" ").append(column.getName()).append("=").append(column.getValue());
            }
            System.out.println(change.getEventType() + " " + table + text);
        }
        return change.getRowDatasCount();
    }
}
