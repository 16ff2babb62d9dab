// Keeps the newest row of each key of one logical table: java Orders kafka:9092 shop-rows shop.orders
import com.fasterxml.jackson.databind.*;
import java.time.Duration;
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.StringDeserializer;

public final class Orders {
  public static void main(String[] args) throws Exception {
    Map<String, Object> settings = Map.of(
        "bootstrap.servers", args[0], "group.id", "orders-java", "auto.offset.reset", "earliest",
        "isolation.level", "read_committed",              // without it, aborted rows appear
        "enable.auto.commit", false);
    ObjectMapper json = new ObjectMapper();
    Map<String, String> orders = new HashMap<>();         // keep it beside the rows in your store
    var text = new StringDeserializer();
    try (var consumer = new KafkaConsumer<String, String>(settings, text, text)) {
      consumer.subscribe(List.of(args[1]));
      while (true) {
        for (var record : consumer.poll(Duration.ofSeconds(1))) {
          if (record.value() == null) continue;           // a tombstone, see "Tombstones"
          JsonNode change = json.readTree(record.value());
          String table = change.get("database").asText() + "." + change.get("table").asText();
          if (change.get("isDdl").asBoolean() || !table.equals(args[2])) continue;
          Header order = record.headers().lastHeader("order");
          String mine = new String(order.value());
          boolean deleted = change.get("type").asText().equals("DELETE");
          for (JsonNode row : change.get("data")) {       // several rows in a packed message
            String key = record.key() != null ? record.key() : keyOf(table, change, row);
            if (key != null) {
              if (mine.compareTo(orders.getOrDefault(key, "")) < 0) continue;  // an older change
              orders.put(key, mine);
            }
            System.out.println(key + " " + (deleted ? "deleted" : row));
          }
        }
        consumer.commitSync();                            // after the rows are applied
      }
    }
  }

  /** The key of a row in a packed message, which has none; null for a table without a key. */
  static String keyOf(String table, JsonNode change, JsonNode row) {
    if (!change.path("pkNames").isArray()) return null;
    var key = new ObjectMapper().createArrayNode().add(table);
    for (JsonNode name : change.get("pkNames")) key.add(row.get(name.asText()));
    return key.toString();
  }
}
