package roma.hbase;

import org.apache.hadoop.hbase.DoNotRetryIOException;

/**
 * The error that ends a task, under its name in spark_jobs/errors: Spark passes on the text alone.
 *
 * It is an exception of the JDK, without its cause: Spark passes nothing on of a class that the driver cannot load.
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
        return named("HBaseUnreachable: HBase does not answer through the ZooKeeper at " + where + ": " + says(last) + ".", last);
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
