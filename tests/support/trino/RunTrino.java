import io.trino.Session;
import io.trino.plugin.iceberg.IcebergPlugin;
import io.trino.testing.MaterializedRow;
import io.trino.testing.StandaloneQueryRunner;
import io.trino.testing.TestingSession;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Map;

/** Runs statements in Trino: one a line on stdin, of each a line on stdout, which begins with yes, or with no and the cause. */
public class RunTrino
{
    private static final java.io.PrintStream OUT = System.out; // Trino's logging takes its place

    public static void main(String[] arguments)
            throws Exception
    {
        Session session = TestingSession.testSessionBuilder().setCatalog("iceberg").setSchema("demo").build();
        StandaloneQueryRunner runner = new StandaloneQueryRunner(session);
        runner.installPlugin(new IcebergPlugin());
        runner.createCatalog("iceberg", "iceberg", Map.of(
                "iceberg.catalog.type", "TESTING_FILE_METASTORE",
                "hive.metastore.catalog.dir", "file://" + arguments[0],
                "fs.hadoop.enabled", "true",
                "iceberg.register-table-procedure.enabled", "true"));
        runner.execute("CREATE SCHEMA iceberg.demo");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String sql = lines.readLine(); sql != null; sql = lines.readLine()) {
            StringBuilder answer = new StringBuilder("yes");
            try {
                for (MaterializedRow row : runner.execute(sql).getMaterializedRows()) {
                    answer.append("\t").append(row.getFields());
                }
            }
            catch (Throwable error) {
                answer = new StringBuilder("no\t" + String.valueOf(error.getMessage()).replace("\n", " "));
            }
            OUT.println(answer);
            OUT.flush();
        }
        System.exit(0);
    }
}
