package roma.delta;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.delta.DeltaLog;
import org.apache.spark.sql.delta.OptimisticTransaction;
import org.apache.spark.sql.delta.VersionChecksum;
import org.apache.spark.sql.delta.actions.AddFile;
import org.apache.spark.sql.delta.actions.Metadata;
import org.apache.spark.sql.delta.actions.Protocol;
import org.apache.spark.sql.types.StructField;
import scala.Option;
import scala.collection.immutable.Map$;
import scala.collection.immutable.Seq;

/** All files of one copy, by the summary of its last commit, for a task that writes some of them again. */
public final class CopyFiles implements Serializable {
    private static final long serialVersionUID = 1L;
    private static final Set FEATURES = new HashSet(Arrays.asList(new Object[] {"appendOnly", "invariants", "timestampNtz",
        "deletionVectors", "typeWidening", "typeWidening-preview"}));
    private static final Set PROPERTIES = new HashSet(Arrays.asList(new Object[] {"delta.checkpointInterval",
        "delta.enableDeletionVectors", "delta.enableTypeWidening", "delta.logRetentionDuration", "delta.deletedFileRetentionDuration"}));
    private static final int WITH_FEATURES = 7;
    private static final int WITHOUT_FEATURES = 2;
    public int number;
    public RowShape shape;
    public final String root;
    public final String[] paths;
    public final long[] bytes;
    private final transient AddFile[] files;
    private final boolean plain;
    private long rows;
    private long size;

    /** The files are empty if the summary does not list them, or if the table is not plain. */
    public CopyFiles(DeltaLog log, OptimisticTransaction transaction) {
        Option summary = transaction.snapshot().checksumOpt();
        Option listed = summary.isDefined() ? ((VersionChecksum) summary.get()).allFiles() : Option.empty();
        boolean known = listed.isDefined() && isPlain(transaction);
        files = new AddFile[known ? ((Seq) listed.get()).size() : 0];
        root = log.dataPath().toString();
        paths = new String[files.length];
        bytes = new long[files.length];
        for (int each = 0; each < files.length; each++) {
            files[each] = (AddFile) ((Seq) listed.get()).apply(each);
            paths[each] = files[each].absolutePath(log).toString();
            bytes[each] = files[each].size();
            size += bytes[each];
            known = known && files[each].deletionVector() == null && files[each].numPhysicalRecords().isDefined();
            rows += known ? ((Long) files[each].numPhysicalRecords().get()).longValue() : 0;
        }
        plain = known;
    }

    /**
     * Return whether the files contain the rows of the copy and nothing else, and may be replaced without further rules: no partitions, no
     * constraints, no removed rows, no columns under other names, and no property or feature that is unknown here.
     */
    public boolean isWithin(long mostFiles, long mostBytes, long mostRows) {
        return plain && files.length <= mostFiles && size <= mostBytes && rows <= mostRows;
    }

    /**
     * Return the actions of a commit that adds a new file instead of some of these.
     *
     * @param replaced numbers of the files, separated by commas
     * @param file     name, size, time in Unix milliseconds and statistics of the new file; empty: there is none
     */
    public List actions(String replaced, List file) {
        List actions = new ArrayList();
        if (!file.isEmpty()) {
            actions.add(new AddFile((String) file.get(0), Map$.MODULE$.empty(), Long.parseLong((String) file.get(1)),
                Long.parseLong((String) file.get(2)), true, (String) file.get(3), null, null, Option.empty(), Option.empty(),
                Option.empty()));
        }
        String[] numbers = replaced.isEmpty() ? new String[0] : replaced.split(",");
        for (int each = 0; each < numbers.length; each++) {
            actions.add(files[Integer.parseInt(numbers[each])].removeWithTimestamp(System.currentTimeMillis(), true));
        }
        return actions;
    }

    public Path path(int file) {
        return new Path(paths[file]);
    }

    private static boolean isPlain(OptimisticTransaction transaction) {
        Metadata table = transaction.metadata();
        return hasKnownFeatures(transaction.protocol()) && hasKnownProperties(table) && table.getPartitionColumns().isEmpty()
            && hasPlainColumns(table.schema().fields());
    }

    private static boolean hasKnownFeatures(Protocol protocol) {
        return protocol.minWriterVersion() <= WITHOUT_FEATURES
            || protocol.minWriterVersion() == WITH_FEATURES && FEATURES.containsAll(protocol.getWriterFeatures());
    }

    private static boolean hasKnownProperties(Metadata table) {
        for (Iterator each = table.getConfiguration().keySet().iterator(); each.hasNext();) {
            String name = (String) each.next();
            if (name.startsWith("delta.") && !PROPERTIES.contains(name)) {
                return false;
            }
        }
        return true;
    }

    private static boolean hasPlainColumns(StructField[] columns) {
        for (int each = 0; each < columns.length; each++) {
            if (!columns[each].nullable() || !columns[each].metadata().json().equals("{}")) {
                return false;
            }
        }
        return true;
    }
}
