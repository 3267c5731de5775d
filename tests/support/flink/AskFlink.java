import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.time.format.DateTimeFormatter;
import java.util.Map;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.SupportsNamespaces;
import org.apache.iceberg.catalog.TableIdentifier;

/** Asks Flink for the rows of Iceberg tables: one metadata file a line on stdin, a line of JSON for each on stdout. */
public class AskFlink
{
    public static void main(String[] arguments)
            throws Exception
    {
        String folder = Files.createTempDirectory("flink-catalog").toString();
        String uri = "jdbc:sqlite:" + folder + "/catalog.db";
        Map<String, String> places = Map.of("uri", uri, "warehouse", "file://" + folder);
        Catalog catalog = CatalogUtil.loadCatalog("org.apache.iceberg.jdbc.JdbcCatalog", "c", places, new Configuration());
        ((SupportsNamespaces) catalog).createNamespace(Namespace.of("s"));
        TableEnvironment flink = TableEnvironment.create(EnvironmentSettings.inBatchMode());
        flink.getConfig().set("table.local-time-zone", "UTC");
        flink.executeSql("CREATE CATALOG c WITH ('type'='iceberg', 'catalog-impl'='org.apache.iceberg.jdbc.JdbcCatalog', 'uri'='" + uri + "', 'warehouse'='file://" + folder + "')");
        System.out.println("{\"reader\": \"flink\", \"version\": \"" + System.getProperty("flink.version") + "\"}");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        int number = 0;
        for (String path = lines.readLine(); path != null; path = lines.readLine()) {
            String name = "t" + number++;
            StringBuilder answer = new StringBuilder("{\"path\": \"" + path + "\", ");
            try {
                catalog.registerTable(TableIdentifier.of("s", name), path);
                answer.append("\"rows\": [");
                String comma = "";
                try (CloseableIterator<Row> rows = flink.executeSql("SELECT id, x FROM c.s." + name).collect()) {
                    while (rows.hasNext()) {
                        Row row = rows.next();
                        answer.append(comma).append("[").append(row.getField(0)).append(", ").append(text(row.getField(1))).append("]");
                        comma = ", ";
                    }
                }
                answer.append("]");
            }
            catch (Throwable error) {
                answer = new StringBuilder("{\"path\": \"" + path + "\", \"refusal\": " + text(reason(error)));
            }
            System.out.println(answer + "}");
            System.out.flush();
        }
        System.exit(0);
    }

    private static String reason(Throwable error)
    {
        String words = error.getMessage();
        for (Throwable cause = error.getCause(); cause != null; cause = cause.getCause()) {
            words = cause.getMessage() == null ? words : cause.getMessage();
            words = cause instanceof Error ? cause.getClass().getSimpleName() + ": " + words : words;
        }
        return words == null ? error.getClass().getName() : words;
    }

    private static String text(Object value)
    {
        if (value == null) {
            return "null";
        }
        String words = value.toString();
        if (value instanceof byte[] bytes) {
            words = java.util.HexFormat.of().formatHex(bytes);
        }
        else if (value instanceof java.time.LocalDateTime time) {
            words = time.format(DateTimeFormatter.ISO_LOCAL_DATE_TIME);
        }
        else if (value instanceof java.time.Instant time) {
            words = time.toString().replace("Z", "");
        }
        else if (value instanceof org.apache.flink.types.variant.Variant variant) {
            words = variant.toJson();
        }
        else if (value instanceof java.math.BigDecimal number) {
            words = number.toPlainString();
        }
        return "\"" + words.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n").replace("\t", " ").replace("\r", " ") + "\"";
    }
}
