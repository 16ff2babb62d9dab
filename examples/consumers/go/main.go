// Keeps the newest row of each key of one logical table: orders kafka:9092 shop-rows shop.orders
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

type change struct {
	Database, Table, Type string
	IsDdl                 bool
	Data                  []json.RawMessage // several rows in a packed message
	PkNames               []string
}

func main() {
	client, err := kgo.NewClient(kgo.SeedBrokers(os.Args[1]), kgo.ConsumeTopics(os.Args[2]),
		kgo.ConsumerGroup("orders-go"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), // without it, aborted rows appear
		kgo.DisableAutoCommit())
	if err != nil {
		log.Fatal(err)
	}
	orders := map[string]string{} // keep it beside the rows in your store
	for {
		fetched := client.PollFetches(context.Background())
		if err := fetched.Err(); err != nil {
			log.Fatal(err)
		}
		fetched.EachRecord(func(record *kgo.Record) {
			if record.Value != nil { // nil: a tombstone, see "Tombstones"
				apply(record, orders)
			}
		})
		if err := client.CommitUncommittedOffsets(context.Background()); err != nil {
			log.Fatal(err) // after the rows are applied
		}
	}
}

func apply(record *kgo.Record, orders map[string]string) {
	var row change
	if err := json.Unmarshal(record.Value, &row); err != nil {
		log.Fatal(err)
	}
	if row.IsDdl || row.Database+"."+row.Table != os.Args[3] {
		return
	}
	order := ""
	for _, header := range record.Headers {
		if header.Key == "order" {
			order = string(header.Value)
		}
	}
	for _, data := range row.Data {
		key := string(record.Key)
		if record.Key == nil {
			key = keyOf(row, data)
		}
		if key != "" {
			if order < orders[key] {
				continue // an older change of this key
			}
			orders[key] = order
		}
		if row.Type == "DELETE" {
			data = json.RawMessage("deleted")
		}
		fmt.Println(key, string(data))
	}
}

// keyOf returns the key of a row in a packed message, which has none; "" for a table without a key.
func keyOf(row change, data json.RawMessage) string {
	if row.PkNames == nil {
		return ""
	}
	values, key := map[string]any{}, []any{row.Database + "." + row.Table}
	if err := json.Unmarshal(data, &values); err != nil {
		log.Fatal(err)
	}
	for _, name := range row.PkNames {
		key = append(key, values[name])
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // as the relay writes keys
	if err := encoder.Encode(key); err != nil {
		log.Fatal(err)
	}
	return strings.TrimSpace(text.String())
}
