package org.apache.iceberg.rest;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.rest.responses.ConfigResponse;
import org.apache.iceberg.rest.responses.ErrorResponse;

/**
 * Iceberg's REST catalog (its adapter, routes and JSON) on a free port of loopback, which is printed. Arguments are a
 * catalog's properties, key=value. Below /plain it says nothing of storage, below /vending each table comes with the s3
 * keys among the properties, below /configured /v1/config has them, and `endpoint`. A request must bear `token`.
 */
public class LoopbackServer {
  private static final String[] KEYS = {"s3.access-key-id", "s3.secret-access-key", "s3.session-token"};

  public static void main(String[] arguments) throws IOException {
    Map<String, String> properties = new HashMap<>();
    for (String argument : arguments) {
      String[] parts = argument.split("=", 2);
      properties.put(parts[0], parts[1]);
    }
    var catalog = CatalogUtil.buildIcebergCatalog("served", properties, null);
    var plain = new RESTServerCatalogAdapter(new RESTCatalogServer.CatalogContext(catalog, properties));
    Map<String, String> vending = new HashMap<>(properties);
    vending.put("include-credentials", "true");
    var vendor = new RESTServerCatalogAdapter(new RESTCatalogServer.CatalogContext(catalog, vending));
    Map<String, String> defaults = new HashMap<>();
    for (String key : KEYS) {
      if (properties.containsKey(key)) {
        defaults.put(key, properties.get(key));
      }
    }
    defaults.put("s3.region", "us-east-1");
    defaults.put("s3.endpoint", properties.get("endpoint"));
    String token = properties.get("token");
    var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/plain/", exchange -> answer(exchange, plain, new HashMap<>(), token));
    server.createContext("/vending/", exchange -> answer(exchange, vendor, new HashMap<>(), token));
    server.createContext("/configured/", exchange -> answer(exchange, plain, defaults, token));
    server.setExecutor(Executors.newCachedThreadPool());
    server.start();
    System.out.println(server.getAddress().getPort());
  }

  private static void answer(
      HttpExchange exchange, RESTCatalogAdapter adapter, Map<String, String> defaults, String token) throws IOException {
    Object[] said = {null};
    int[] status = {200};
    try {
      said[0] = ask(exchange, adapter, defaults, token, error -> {
        said[0] = error;
        status[0] = error.code();
      });
    } catch (Throwable error) { // the adapter throws after it has told
      if (status[0] == 200) {
        error.printStackTrace();
        status[0] = error instanceof SecurityException ? 401 : 500;
        said[0] = ErrorResponse.builder().responseCode(status[0]).withType(error.getClass().getSimpleName())
            .withMessage(String.valueOf(error.getMessage())).build();
      }
    }
    byte[] body = said[0] == null ? new byte[0] : RESTObjectMapper.mapper().writeValueAsBytes(said[0]);
    boolean silent = body.length == 0 || exchange.getRequestMethod().equals("HEAD");
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(said[0] == null ? 204 : status[0], silent ? -1 : body.length);
    if (!silent) {
      exchange.getResponseBody().write(body);
    }
    exchange.close();
  }

  private static Object ask(
      HttpExchange exchange, RESTCatalogAdapter adapter, Map<String, String> defaults, String token,
      java.util.function.Consumer<ErrorResponse> failed) throws IOException {
    var method = HTTPRequest.HTTPMethod.valueOf(exchange.getRequestMethod());
    String path = exchange.getRequestURI().getRawPath().substring(exchange.getHttpContext().getPath().length());
    var route = Route.from(method, path);
    if (route == null) {
      throw new IllegalArgumentException("No route for request: " + method + " " + path);
    }
    if (route.first() == Route.TOKENS) {
      String form = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      Object asked = RESTUtil.decodeFormData(form);
      return adapter.execute(adapter.buildRequest(method, path, Map.of(), Map.of(), asked), route.first().responseClass(),
          failed, headers -> {});
    }
    String bearer = exchange.getRequestHeaders().getFirst("Authorization");
    if (!("Bearer " + token).equals(bearer)) {
      throw new SecurityException("not the token: " + bearer);
    }
    Object asked = null;
    if (route.first().requestClass() != null) {
      try (var reader = new InputStreamReader(exchange.getRequestBody(), StandardCharsets.UTF_8)) {
        asked = RESTObjectMapper.mapper().readValue(reader, route.first().requestClass());
      }
    }
    Map<String, String> query = new HashMap<>();
    String raw = exchange.getRequestURI().getRawQuery();
    for (String pair : raw == null ? new String[0] : raw.split("&")) {
      String[] parts = pair.split("=", 2);
      query.put(URLDecoder.decode(parts[0], StandardCharsets.UTF_8),
          parts.length < 2 ? "" : URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
    }
    var request = adapter.buildRequest(method, path, query, Map.of(), asked);
    var response = adapter.execute(request, route.first().responseClass(), failed, headers -> {});
    if (response instanceof ConfigResponse config) {
      return ConfigResponse.builder().withDefaults(config.defaults()).withDefaults(defaults)
          .withOverrides(config.overrides()).withEndpoints(config.endpoints()).build();
    }
    return response;
  }
}
