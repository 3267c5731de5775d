import java.util.Map;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.SupportsNamespaces;

/** A stream of Flink that upserts the ids from FIRST to LAST into the table db.t of a catalog in FOLDER, with a checkpoint
 * each second: WriteFlink FOLDER FIRST LAST. */
public class WriteFlink
{
    public static void main(String[] arguments)
            throws Exception
    {
        String folder = arguments[0];
        String uri = "jdbc:sqlite:" + folder + "/catalog.db";
        Map<String, String> places = Map.of("uri", uri, "warehouse", "file://" + folder);
        Catalog catalog = CatalogUtil.loadCatalog("org.apache.iceberg.jdbc.JdbcCatalog", "c", places, new Configuration());
        SupportsNamespaces namespaces = (SupportsNamespaces) catalog;
        if (!namespaces.namespaceExists(Namespace.of("db"))) {
            namespaces.createNamespace(Namespace.of("db"));
        }
        TableEnvironment flink = TableEnvironment.create(EnvironmentSettings.inStreamingMode());
        flink.getConfig().set("execution.checkpointing.interval", "1 s");
        flink.getConfig().set("parallelism.default", "1");
        flink.executeSql("CREATE CATALOG c WITH ('type'='iceberg', 'catalog-impl'='org.apache.iceberg.jdbc.JdbcCatalog', 'uri'='" + uri + "', 'warehouse'='file://" + folder + "')");
        flink.executeSql("CREATE TABLE IF NOT EXISTS c.db.t (id BIGINT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('format-version'='2', 'write.upsert.enabled'='true')");
        flink.executeSql("CREATE TEMPORARY TABLE numbers (id BIGINT, v INT) WITH ('connector'='datagen', 'rows-per-second'='4', 'fields.id.kind'='sequence', 'fields.id.start'='" + arguments[1] + "', 'fields.id.end'='" + arguments[2] + "')");
        flink.executeSql("INSERT INTO c.db.t SELECT id, v FROM numbers").await();
        System.exit(0);
    }
}
