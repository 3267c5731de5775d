// Writes a table of a format version with iceberg-go, below a warehouse: appends, a row delete, in version 2 an equality
// delete, a new partition field, and a rollback that leaves a snapshot behind. Prints its folder.
package main

import (
	"context"
	"fmt"
	"iter"
	"log"
	"os"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/hadoop"
	"github.com/apache/iceberg-go/table"
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func rows(columns *arrow.Schema, first, last int64) arrow.RecordBatch {
	builder := array.NewRecordBuilder(memory.DefaultAllocator, columns)
	defer builder.Release()
	for id := first; id < last; id++ {
		builder.Field(0).(*array.Int64Builder).Append(id)
		builder.Field(1).(*array.StringBuilder).Append([]string{"fig", "kiwi"}[id%2])
	}
	return builder.NewRecordBatch()
}

func main() {
	ctx, warehouse := context.Background(), os.Args[1]
	version := must(strconv.Atoi(os.Args[2]))
	schema := iceberg.NewSchema(0,
		iceberg.NestedField{ID: 1, Name: "id", Type: iceberg.PrimitiveTypes.Int64, Required: true},
		iceberg.NestedField{ID: 2, Name: "fruit", Type: iceberg.PrimitiveTypes.String},
	)
	columns := must(table.SchemaToArrowSchema(schema, nil, true, false))
	spec := iceberg.NewPartitionSpec(iceberg.PartitionField{
		SourceIDs: []int{2}, FieldID: 1000, Transform: iceberg.IdentityTransform{}, Name: "fruit",
	})
	house := must(hadoop.NewCatalog("go", warehouse, nil))
	check(house.CreateNamespace(ctx, table.Identifier{"db"}, nil))
	name := table.Identifier{"db", fmt.Sprintf("v%d", version)}
	written := must(house.CreateTable(ctx, name, schema, catalog.WithPartitionSpec(&spec),
		catalog.WithProperties(iceberg.Properties{
			"format-version": os.Args[2], table.WriteDeleteModeKey: table.WriteModeMergeOnRead,
		})))
	put := func(first, last int64) {
		batch := rows(columns, first, last)
		data := array.NewTableFromRecords(columns, []arrow.RecordBatch{batch})
		written = must(written.AppendTable(ctx, data, 1000, nil))
	}
	put(0, 10)
	put(10, 20)
	written = must(written.Delete(ctx, iceberg.EqualTo(iceberg.Reference("id"), int64(3)), nil))
	if version == 2 {
		transaction := written.NewTransaction()
		deleted := func(yield func(arrow.RecordBatch, error) bool) { yield(rows(columns, 14, 15), nil) }
		check(transaction.CommitEqualityDeletes(ctx, []int{1, 2}, iter.Seq2[arrow.RecordBatch, error](deleted), nil))
		written = must(transaction.Commit(ctx))
	}
	transaction := written.NewTransaction()
	check(transaction.UpdateSpec(true).AddField("id", iceberg.BucketTransform{NumBuckets: 4}, "id_bucket").Commit())
	written = must(transaction.Commit(ctx))
	put(20, 30)
	before := written.CurrentSnapshot().SnapshotID
	put(30, 40)
	transaction = written.NewTransaction()
	check(transaction.RollbackToSnapshot(before))
	written = must(transaction.Commit(ctx))
	put(40, 50)
	fmt.Println(written.Location())
}
