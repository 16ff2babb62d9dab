package roma.hbase.files;

import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparatorImpl;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFileContext;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.StoreFileWriter;
import org.apache.hadoop.hbase.util.Bytes;
import roma.hbase.Change;

/** Changes of one table and region as files of HBase's own, one for each family; what the table says of its families holds for them. */
public final class RegionFiles {
    public final String name = UUID.randomUUID().toString().replace("-", "");
    private final byte[] end;
    private final StoreFileWriter info;
    private final StoreFileWriter updateInfo;
    private long rows = 0;

    /** @param end the first row key that belongs to the next region; null: there is none */
    public RegionFiles(Configuration configuration, Path folder, TableDescriptor table, byte[] end) throws IOException {
        this.end = end;
        this.info = writer(configuration, new Path(folder, name), table.getColumnFamily(Change.INFO));
        this.updateInfo = writer(configuration, new Path(folder, name), table.getColumnFamily(Change.UPDATE_INFO));
    }

    public boolean holds(byte[] row) {
        return end == null || Arrays.compareUnsigned(row, end) < 0;
    }

    /** Rows come sorted by their keys. */
    public void add(Change change) throws IOException {
        java.util.Map cells = change.covering().getFamilyCellMap();
        append((List) cells.get(Change.INFO), info);
        append((List) cells.get(Change.UPDATE_INFO), updateInfo);
        rows++;
    }

    /** Close the files; returns how many rows they hold. */
    public long finished() throws IOException {
        finish(info);
        finish(updateInfo);
        return rows;
    }

    private static void append(List cells, StoreFileWriter into) throws IOException {
        if (cells == null) {
            return;
        }
        Collections.sort(cells, CellComparatorImpl.COMPARATOR);
        for (int i = 0; i < cells.size(); i++) {
            into.append((Cell) cells.get(i));
        }
    }

    private static void finish(StoreFileWriter writer) throws IOException {
        writer.appendFileInfo(HStoreFile.BULKLOAD_TIME_KEY, Bytes.toBytes(System.currentTimeMillis()));
        writer.appendTrackedTimestampsToMetadata();
        writer.close();
    }

    private static StoreFileWriter writer(Configuration configuration, Path folder, ColumnFamilyDescriptor family) throws IOException {
        HFileContext layout = new HFileContextBuilder()
            .withCompression(family.getCompressionType())
            .withDataBlockEncoding(family.getDataBlockEncoding())
            .withBlockSize(family.getBlocksize())
            .withColumnFamily(family.getName())
            .withCreateTime(System.currentTimeMillis())
            .build();
        FileSystem files = folder.getFileSystem(configuration);
        return new StoreFileWriter.Builder(configuration, CacheConfig.DISABLED, files)
            .withOutputDir(new Path(folder, family.getNameAsString()))
            .withBloomType(family.getBloomFilterType())
            .withFileContext(layout)
            .build();
    }
}
