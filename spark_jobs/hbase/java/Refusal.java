package roma.hbase;

import org.apache.hadoop.hbase.DoNotRetryIOException;

/**
 * What ends a task, under the name that spark_jobs/errors has for it: Spark hands on the words alone.
 *
 * It is an exception of Java's own, without its cause: of a class that the driver does not know, Spark would tell nothing.
 */
public final class Refusal {
    private Refusal() {}

    /** @param where the quorum */
    public static RuntimeException of(Throwable cause, String where) {
        Throwable last = cause;
        for (Throwable each = cause; each != null; each = each.getCause()) {
            if (each instanceof DoNotRetryIOException) {
                return named("HBaseRefused: HBase says: " + says(each) + ".", each);
            }
            last = each;
        }
        return named("HBaseUnreachable: HBase does not answer behind " + where + ": " + says(last) + ".", last);
    }

    /** @param where the folder for files */
    public static RuntimeException ofStaging(Throwable cause, String where) {
        return named("HBaseStagingRefused: " + where + " is not what HBase and the executors can both use: " + says(cause) + ".", cause);
    }

    private static RuntimeException named(String words, Throwable cause) {
        RuntimeException found = new RuntimeException("spark_jobs.errors." + words);
        found.setStackTrace(cause.getStackTrace());
        return found;
    }

    private static String says(Throwable cause) {
        String message = cause.getMessage();
        String line = message == null ? "" : message.trim().split("\n", 2)[0].trim();
        while (line.endsWith(".")) {
            line = line.substring(0, line.length() - 1);
        }
        return line.isEmpty() ? cause.getClass().getSimpleName() : line;
    }
}
