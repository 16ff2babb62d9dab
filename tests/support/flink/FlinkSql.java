import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

/**
 * Runs SQL in a Flink inside this process. Input: one statement in Base64 on each line. All SELECTs run as one job.
 * Output: a line for each change, `number of the SELECT TAB kind TAB cell TAB cell ...`; a cell is "-" for NULL, else "+" and Base64.
 */
public class FlinkSql {
    private static final Pattern SET = Pattern.compile("(?is)SET\\s+'([^']+)'\\s*=\\s*'([^']*)'");

    public static void main(String[] arguments) {
        try {
            run();
        } catch (Throwable failure) {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1); // threads of a cluster that did not start would keep the process
        }
    }

    private static void run() throws Exception {
        StreamExecutionEnvironment job = StreamExecutionEnvironment.createLocalEnvironment(1);
        StreamTableEnvironment tables = StreamTableEnvironment.create(job);
        DataStream<String> changes = null;
        int selects = 0;
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String statement = new String(Base64.getDecoder().decode(line), StandardCharsets.UTF_8).strip();
            Matcher setting = SET.matcher(statement);
            if (setting.matches()) {
                tables.getConfig().set(setting.group(1), setting.group(2));
            } else if (statement.regionMatches(true, 0, "SELECT", 0, 6)) {
                int number = selects++;
                DataStream<String> printed = tables.toChangelogStream(tables.sqlQuery(statement))
                    .map(row -> print(number, row)).returns(Types.STRING);
                changes = changes == null ? printed : changes.union(printed);
            } else {
                tables.executeSql(statement).await();
            }
        }
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        try (CloseableIterator<String> found = changes.executeAndCollect()) {
            while (found.hasNext()) {
                out.println(found.next());
            }
        }
    }

    private static String print(int number, Row row) {
        StringBuilder line = new StringBuilder().append(number).append('\t').append(row.getKind().shortString());
        for (int field = 0; field < row.getArity(); field++) {
            Object value = row.getField(field);
            line.append('\t').append(value == null ? "-" : "+" + Base64.getEncoder().encodeToString(bytes(value)));
        }
        return line.toString();
    }

    private static byte[] bytes(Object value) {
        if (value instanceof byte[]) {
            return (byte[]) value;
        }
        String text = value instanceof Object[] ? String.join(",", (String[]) value) : value.toString();
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
