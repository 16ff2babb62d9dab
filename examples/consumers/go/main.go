// Keeps the newest row of each key of one logical table: orders kafka:9092 shop-rows shop.orders
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/twmb/franz-go/pkg/kgo"
)

type change struct {
	Database, Table, Type string
	IsDdl                 bool
	Data                  []json.RawMessage
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
	key := string(record.Key)
	for _, header := range record.Headers {
		if header.Key == "order" && string(header.Value) >= orders[key] { // else an older change
			orders[key] = string(header.Value)
			if row.Type == "DELETE" {
				fmt.Println(key, "deleted")
			} else {
				fmt.Println(key, string(row.Data[0]))
			}
		}
	}
}
