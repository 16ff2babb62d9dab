// The usual loop of a client of Canal in Go: get a batch, print its rows, acknowledge it.
// Arguments: host, port, destination, user, password, filter, number of rows to end after.
package main

import (
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/withlin/canal-go/client"
	"github.com/withlin/canal-go/protocol/entry"
	"google.golang.org/protobuf/proto"
)

func main() {
	args := os.Args[1:]
	connector := client.NewSimpleCanalConnector(
		args[0], number(args[1]), args[3], args[4], args[2], 60000, 60*60*1000)
	check(connector.Connect())
	check(connector.Subscribe(args[5]))
	for left := number(args[6]); left > 0; {
		message, err := connector.Get(100, nil, nil)
		check(err)
		if message.Id == -1 || len(message.Entries) == 0 {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		for index := range message.Entries {
			left -= printed(&message.Entries[index])
		}
	}
	check(connector.DisConnection())
}

// printed prints the rows of an entry and returns how many it has.
func printed(each *entry.Entry) int {
	if each.GetEntryType() != entry.EntryType_ROWDATA {
		return 0
	}
	change := new(entry.RowChange)
	check(proto.Unmarshal(each.GetStoreValue(), change))
	table := each.GetHeader().GetSchemaName() + "." + each.GetHeader().GetTableName()
	for _, row := range change.GetRowDatas() {
		columns := row.GetAfterColumns()
		if change.GetEventType() == entry.EventType_DELETE {
			columns = row.GetBeforeColumns()
		}
		texts := []string{change.GetEventType().String(), table}
		for _, column := range columns {
			texts = append(texts, column.GetName()+"="+column.GetValue())
		}
		fmt.Println(strings.Join(texts, " "))
	}
	return len(change.GetRowDatas())
}

func number(text string) int {
	found, err := strconv.Atoi(text)
	check(err)
	return found
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
