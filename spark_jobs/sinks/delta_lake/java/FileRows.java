package roma.delta;

import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.parquet.HadoopReadOptions;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.ParquetRecordReader;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.DataSourceUtils;
import org.apache.spark.sql.execution.datasources.parquet.ParquetReadSupport;
import scala.Function1;
import scala.Option;
import scala.runtime.AbstractFunction1;

/** The rows of one Parquet file, as Spark reads them. The configuration has the columns that are read. */
public final class FileRows {
    private static final String DATES = "spark.sql.parquet.datetimeRebaseModeInRead";
    private static final String TIMES = "spark.sql.parquet.int96RebaseModeInRead";
    private final ParquetRecordReader reader;

    public FileRows(Path file, long bytes, Configuration configuration) throws Exception {
        Function1 notes = new Notes(notesOf(file, configuration));
        ParquetReadSupport support = new ParquetReadSupport(Option.empty(), false,
            DataSourceUtils.datetimeRebaseSpec(notes, configuration.get(DATES)),
            DataSourceUtils.int96RebaseSpec(notes, configuration.get(TIMES)));
        reader = new ParquetRecordReader(support);
        reader.initialize(new FileSplit(file, 0L, bytes, new String[0]), new TaskAttemptContextImpl(configuration, new TaskAttemptID()));
    }

    /** Return the next row, which the next call overwrites; null: there is none. */
    public InternalRow next() throws Exception {
        return reader.nextKeyValue() ? (InternalRow) reader.getCurrentValue() : null;
    }

    public void close() throws Exception {
        reader.close();
    }

    private static Map notesOf(Path file, Configuration configuration) throws Exception {
        // Without options, Hadoop would read its own configuration files again for each file.
        ParquetFileReader footer = ParquetFileReader.open(HadoopInputFile.fromPath(file, configuration),
            HadoopReadOptions.builder(configuration).build());
        try {
            return footer.getFooter().getFileMetaData().getKeyValueMetaData();
        } finally {
            footer.close();
        }
    }

    /** What the writer of the file noted about itself, by name. */
    private static final class Notes extends AbstractFunction1 {
        private final Map notes;

        Notes(Map notes) {
            this.notes = notes;
        }

        public Object apply(Object name) {
            return notes.get(name);
        }
    }
}
