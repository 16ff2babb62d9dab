package roma.delta;

import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.parquet.hadoop.codec.CodecConfig;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.OutputWriter;
import org.apache.spark.sql.execution.datasources.parquet.ParquetOutputWriter;

/** A new data file of a copy. Its name is random, so that no attempt of a task overwrites another one's file. */
public final class NewFile {
    private final Configuration configuration;
    private final OpenShape shape;
    private final Path path;
    private final OutputWriter writer;

    public NewFile(String root, OpenShape shape, Configuration configuration) {
        this.configuration = configuration;
        this.shape = shape;
        TaskAttemptContextImpl context = new TaskAttemptContextImpl(configuration, new TaskAttemptID());
        String ending = CodecConfig.from(context).getCodec().getExtension() + ".parquet";
        path = new Path(root, "part-00000-" + UUID.randomUUID() + ".c000" + ending);
        writer = new ParquetOutputWriter(path.toString(), context);
        shape.begin(path.toString());
    }

    public void write(InternalRow row) {
        writer.write(row);
        shape.count(path.toString(), row);
    }

    /** Complete the file. Return its name, size in bytes, time in Unix milliseconds and statistics, separated by tabs. */
    public String finished() throws Exception {
        writer.close();
        FileStatus written = path.getFileSystem(configuration).getFileStatus(path);
        return path.getName() + "\t" + written.getLen() + "\t" + written.getModificationTime() + "\t" + shape.counted(path.toString());
    }

    /** Remove the file, as far as possible: no commit names it, and Delta's VACUUM removes what is left. */
    public void discard() {
        try {
            writer.close();
        } catch (Exception closed) {
            // The file is removed in any case.
        }
        try {
            path.getFileSystem(configuration).delete(path, false);
        } catch (Exception kept) {
            // VACUUM removes it.
        }
    }
}
