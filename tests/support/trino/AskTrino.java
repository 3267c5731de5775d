import io.trino.Session;
import io.trino.plugin.iceberg.IcebergPlugin;
import io.trino.testing.MaterializedRow;
import io.trino.testing.StandaloneQueryRunner;
import io.trino.testing.TestingSession;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.util.Map;

/** Asks Trino for the rows of Iceberg tables: one metadata file a line on stdin, a line of JSON for each on stdout. */
public class AskTrino
{
    private static final java.io.PrintStream OUT = System.out; // Trino's logging takes its place

    public static void main(String[] arguments)
            throws Exception
    {
        Session session = TestingSession.testSessionBuilder().setCatalog("iceberg").setSchema("s").build();
        StandaloneQueryRunner runner = new StandaloneQueryRunner(session);
        runner.installPlugin(new IcebergPlugin());
        String folder = Files.createTempDirectory("trino-catalog").toString();
        runner.createCatalog("iceberg", "iceberg", Map.of(
                "iceberg.catalog.type", "TESTING_FILE_METASTORE",
                "hive.metastore.catalog.dir", "file://" + folder,
                "fs.hadoop.enabled", "true",
                "iceberg.register-table-procedure.enabled", "true"));
        runner.execute("CREATE SCHEMA iceberg.s");
        OUT.println("{\"reader\": \"trino\", \"version\": \"" + System.getProperty("trino.version") + "\"}");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        int number = 0;
        for (String path = lines.readLine(); path != null; path = lines.readLine()) {
            String name = "t" + number++;
            int cut = path.indexOf("/metadata/");
            StringBuilder answer = new StringBuilder("{\"path\": \"" + path + "\", ");
            try {
                runner.execute("CALL iceberg.system.register_table('s', '" + name + "', '" + path.substring(0, cut) + "', '" + path.substring(cut + 10) + "')");
                answer.append("\"rows\": [");
                String comma = "";
                String kind = runner.execute("DESCRIBE iceberg.s." + name).getMaterializedRows().stream()
                        .filter(row -> row.getField(0).equals("x")).findFirst().orElseThrow().getField(1).toString();
                String x = switch (kind) {
                    case "variant" -> "json_format(CAST(x AS JSON))";
                    case "double" -> "x";
                    case "varbinary" -> "lower(to_hex(x))";
                    default -> "CAST(x AS VARCHAR)";
                };
                for (MaterializedRow row : runner.execute("SELECT id, " + x + " FROM iceberg.s." + name + " ORDER BY id").getMaterializedRows()) {
                    answer.append(comma).append("[").append(row.getField(0)).append(", ").append(text(row.getField(1))).append("]");
                    comma = ", ";
                }
                answer.append("]");
            }
            catch (Throwable error) {
                answer = new StringBuilder("{\"path\": \"" + path + "\", \"refusal\": " + text(reason(error)));
            }
            OUT.println(answer + "}");
            OUT.flush();
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
        return words;
    }

    private static String text(Object value)
    {
        return value == null ? "null" : "\"" + value.toString().replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n").replace("\t", " ").replace("\r", " ") + "\"";
    }
}
