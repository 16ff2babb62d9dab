import io.debezium.data.Envelope;
import io.debezium.transforms.ExtractNewRecordState;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.source.SourceRecord;

/** Reads Base64 values line by line with Debezium's classes; prints operation, table and the row that a sink would get. */
public class ReadEnvelopes {
    public static void main(String[] arguments) throws Exception {
        JsonConverter reader = new JsonConverter();
        reader.configure(Map.of("schemas.enable", "true"), false);
        JsonConverter printer = new JsonConverter();
        printer.configure(Map.of("schemas.enable", "false"), false);
        ExtractNewRecordState<SourceRecord> extract = new ExtractNewRecordState<>();
        extract.configure(Map.of("delete.tombstone.handling.mode", "rewrite", "add.fields", "op,source.sequence"));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            SchemaAndValue message = reader.toConnectData("t", Base64.getDecoder().decode(line));
            Struct value = (Struct) message.value();
            if (!Envelope.isEnvelopeSchema(message.schema())) {
                throw new IllegalStateException("no envelope: " + message.schema().name());
            }
            Envelope envelope = Envelope.fromSchema(message.schema());
            Envelope.Operation operation = Envelope.operationFor(new SourceRecord(Map.of(), Map.of(), "t", message.schema(), value));
            SourceRecord record = new SourceRecord(Map.of(), Map.of(), "t", 0, null, null, envelope.schema(), value);
            SourceRecord row = extract.apply(record);
            out.println(operation.code() + "\t" + value.getStruct("source").getString("table") + "\t"
                + new String(printer.fromConnectData("t", row.valueSchema(), row.value()), StandardCharsets.UTF_8));
        }
    }
}
