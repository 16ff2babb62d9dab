// Canal's server with its Kafka connector, in one process: reads a binlog from a place on and
// publishes JSON, one message for the rows of an event that go to the same partition.
// Argument: a file of properties; those that begin with `canal.` and `kafka.` are Canal's own.

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import com.alibaba.otter.canal.connector.core.producer.MQDestination;
import com.alibaba.otter.canal.connector.core.util.Callback;
import com.alibaba.otter.canal.connector.kafka.producer.CanalKafkaProducer;
import com.alibaba.otter.canal.instance.core.CanalMQConfig;
import com.alibaba.otter.canal.instance.manager.CanalInstanceWithManager;
import com.alibaba.otter.canal.instance.manager.model.Canal;
import com.alibaba.otter.canal.instance.manager.model.CanalParameter;
import com.alibaba.otter.canal.protocol.CanalEntry.Entry;
import com.alibaba.otter.canal.protocol.CanalEntry.Header;
import com.alibaba.otter.canal.protocol.Message;
import com.alibaba.otter.canal.server.CanalMQStarter;
import com.alibaba.otter.canal.server.embedded.CanalServerWithEmbedded;
import com.google.protobuf.InvalidProtocolBufferException;
import java.io.Reader;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import org.slf4j.LoggerFactory;

public class CanalToKafka {
    static final String DESTINATION = "bench";

    public static void main(String[] args) throws Exception {
        ((Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME)).setLevel(Level.WARN);
        Properties wanted = new Properties();
        try (Reader file = Files.newBufferedReader(Path.of(args[0]))) {
            wanted.load(file);
        }
        CanalServerWithEmbedded server = CanalServerWithEmbedded.instance();
        server.setCanalInstanceGenerator(name -> new Topics(wanted));
        server.start();
        server.start(DESTINATION);
        CanalKafkaProducer producer = new FinishLast(wanted.getProperty("finish"));
        producer.init(wanted);
        new CanalMQStarter(producer).start(DESTINATION);
        Thread.currentThread().join();
    }

    /** Sends the rows of the finish line when the rows before them are at the broker: Canal sends
     * the topics of a batch at the same time. */
    static class FinishLast extends CanalKafkaProducer {
        final String schema;

        FinishLast(String schema) {
            this.schema = schema;
        }

        @Override
        public void send(MQDestination destination, Message message, Callback callback) {
            int all = message.isRaw()
                    ? message.getRawEntries().size() : message.getEntries().size();
            int rows = all;
            boolean finish = false;
            for (Header last; rows > 0 && mayEnd(last = header(message, rows - 1)); rows--) {
                finish |= last.getSchemaName().equals(schema);
            }
            if (!finish || rows == 0) {
                super.send(destination, message, callback);
                return;
            }
            boolean[] sent = {false};
            super.send(destination, part(message, 0, rows), new Callback() {
                @Override
                public void commit() {
                    sent[0] = true;
                }

                @Override
                public void rollback() {
                    callback.rollback();
                }
            });
            if (sent[0]) super.send(destination, part(message, rows, all), callback);
        }

        /** Return whether an entry is of the finish line, or begins or ends a transaction. */
        boolean mayEnd(Header header) {
            return header.getSchemaName().isEmpty() || header.getSchemaName().equals(schema);
        }

        Header header(Message message, int number) {
            try {
                return message.isRaw()
                        ? Entry.parseFrom(message.getRawEntries().get(number)).getHeader()
                        : message.getEntries().get(number).getHeader();
            } catch (InvalidProtocolBufferException error) {
                throw new IllegalStateException(error);
            }
        }

        Message part(Message message, int from, int to) {
            return message.isRaw()
                    ? new Message(message.getId(), true, message.getRawEntries().subList(from, to))
                    : new Message(message.getId(), false, message.getEntries().subList(from, to));
        }
    }

    /** An instance that also names its topics. */
    static class Topics extends CanalInstanceWithManager {
        Topics(Properties wanted) {
            super(canal(wanted), wanted.getProperty("filter"));
            mqConfig = new CanalMQConfig();
            mqConfig.setTopic(wanted.getProperty("topic"));
            mqConfig.setDynamicTopic(wanted.getProperty("topics"));
            mqConfig.setPartitionHash(".*\\..*:$pk$");
            mqConfig.setPartitionsNum(Integer.valueOf(wanted.getProperty("partitions")));
        }
    }

    static Canal canal(Properties wanted) {
        CanalParameter parameters = new CanalParameter();
        parameters.setMetaMode(CanalParameter.MetaMode.MEMORY);
        parameters.setIndexMode(CanalParameter.IndexMode.MEMORY_META_FAILBACK);
        parameters.setStorageMode(CanalParameter.StorageMode.MEMORY);
        parameters.setStorageBatchMode(CanalParameter.BatchMode.MEMSIZE);
        parameters.setMemoryStorageBufferSize(65536);
        parameters.setMemoryStorageBufferMemUnit(1024);
        parameters.setSourcingType(CanalParameter.SourcingType.MYSQL);
        parameters.setHaMode(CanalParameter.HAMode.HEARTBEAT);
        parameters.setSlaveId(Long.valueOf(wanted.getProperty("server_id")));
        parameters.setParallel(true);
        int port = Integer.parseInt(wanted.getProperty("port"));
        parameters.setDbAddresses(List.of(new InetSocketAddress(wanted.getProperty("host"), port)));
        parameters.setDbUsername(wanted.getProperty("user"));
        parameters.setDbPassword(wanted.getProperty("password"));
        parameters.setDefaultDatabaseName("mysql");
        parameters.setConnectionCharset("UTF-8");
        parameters.setTsdbEnable(false);
        parameters.setPositions(List.of(wanted.getProperty("place")));
        Canal canal = new Canal();
        canal.setId(1L);
        canal.setName(DESTINATION);
        canal.setCanalParameter(parameters);
        return canal;
    }
}
