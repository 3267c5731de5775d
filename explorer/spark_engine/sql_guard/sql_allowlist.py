"""What a statement may be made of: classes of plans and expressions of Spark 4.1 (and a few that only 3.5 has),
functions, procedures, properties.

All of these are lists of what is allowed. They were sorted by reading what Spark's parser makes, and its registry of
functions; tests/security holds that every function of the installed Spark is on one list or the other, and that the
examples of its own documentation go through."""

from __future__ import annotations


def _names(text: str, prefix: str = "") -> frozenset[str]:
    return frozenset(prefix + name for name in text.split())


FUNCTIONS = _names(
    """
    ! % & * + - / < << <= <=> = == > >= >> >>> ^ abs acos acosh add_months aes_decrypt aes_encrypt aggregate and any
    any_value approx_count_distinct approx_percentile approx_top_k approx_top_k_accumulate approx_top_k_combine
    approx_top_k_estimate array array_agg array_append array_compact array_contains array_distinct array_except
    array_insert array_intersect array_join array_max array_min array_position array_prepend array_remove
    array_repeat array_size array_sort array_union arrays_overlap arrays_zip ascii asin asinh assert_true atan atan2
    atanh avg base64 between bigint bin binary bit_and bit_count bit_get bit_length bit_or bit_xor bitmap_and_agg
    bitmap_bit_position bitmap_bucket_number bitmap_construct_agg bitmap_count bitmap_or_agg bool_and bool_or
    boolean bround btrim cardinality cast cbrt ceil ceiling char char_length character_length chr coalesce collate
    collation collect_list collect_set concat concat_ws contains conv convert_timezone corr cos cosh cot count
    count_if count_min_sketch covar_pop covar_samp crc32 csc cume_dist curdate current_catalog current_database
    current_date current_schema current_time current_timestamp current_timezone current_user date date_add date_diff
    date_format date_from_unix_date date_part date_sub date_trunc dateadd datediff datepart day dayname dayofmonth
    dayofweek dayofyear decimal decode degrees dense_rank div double e element_at elt encode endswith equal_null
    every exists exp explode explode_outer expm1 extract factorial filter find_in_set first first_value flatten
    float floor forall format_number format_string from_csv from_json from_unixtime from_utc_timestamp get
    get_json_object getbit greatest grouping grouping_id hash hex histogram_numeric hll_sketch_agg
    hll_sketch_estimate hll_union hll_union_agg hour hypot if ifnull ilike in initcap inline inline_outer
    input_file_block_length input_file_block_start input_file_name instr int is_valid_utf8 is_variant_null isnan
    isnotnull isnull json_array_length json_object_keys json_tuple kll_merge_agg_bigint kll_merge_agg_double
    kll_merge_agg_float kll_sketch_agg_bigint kll_sketch_agg_double kll_sketch_agg_float kll_sketch_get_n_bigint
    kll_sketch_get_n_double kll_sketch_get_n_float kll_sketch_get_quantile_bigint kll_sketch_get_quantile_double
    kll_sketch_get_quantile_float kll_sketch_get_rank_bigint kll_sketch_get_rank_double kll_sketch_get_rank_float
    kll_sketch_merge_bigint kll_sketch_merge_double kll_sketch_merge_float kll_sketch_to_string_bigint
    kll_sketch_to_string_double kll_sketch_to_string_float kurtosis lag last last_day last_value lcase lead least
    left len length levenshtein like listagg ln localtimestamp locate log log10 log1p log2 lower lpad ltrim
    luhn_check make_date make_dt_interval make_interval make_time make_timestamp make_timestamp_ltz
    make_timestamp_ntz make_valid_utf8 make_ym_interval map map_concat map_contains_key map_entries map_filter
    map_from_arrays map_from_entries map_keys map_values map_zip_with mask max max_by md5 mean median min min_by
    minute mod mode monotonically_increasing_id month monthname months_between named_struct nanvl negative next_day
    not now nth_value ntile nullif nullifzero nvl nvl2 octet_length or overlay parse_json parse_url percent_rank
    percentile percentile_approx percentile_cont percentile_disc pi pmod posexplode posexplode_outer position
    positive pow power printf quarter quote radians raise_error rand randn random randstr rank reduce regexp
    regexp_count regexp_extract regexp_extract_all regexp_instr regexp_like regexp_replace regexp_substr regr_avgx
    regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy repeat replace reverse right
    rint rlike round row_number rpad rtrim schema_of_csv schema_of_json schema_of_variant schema_of_variant_agg sec
    second sentences sequence session_user session_window sha sha1 sha2 shiftleft shiftright shiftrightunsigned
    shuffle sign signum sin sinh size skewness slice smallint some sort_array soundex space spark_partition_id split
    split_part sqrt st_asbinary st_geogfromwkb st_geomfromwkb st_setsrid st_srid stack startswith std stddev
    stddev_pop stddev_samp str_to_map string string_agg struct substr substring substring_index sum tan tanh
    theta_difference theta_intersection theta_intersection_agg theta_sketch_agg theta_sketch_estimate theta_union
    theta_union_agg time time_diff time_trunc timestamp timestamp_micros timestamp_millis timestamp_seconds tinyint
    to_binary to_char to_csv to_date to_json to_number to_time to_timestamp to_timestamp_ltz to_timestamp_ntz
    to_unix_timestamp to_utc_timestamp to_varchar to_variant_object transform transform_keys transform_values
    translate trim trunc try_add try_aes_decrypt try_avg try_divide try_element_at try_make_interval
    try_make_timestamp try_make_timestamp_ltz try_make_timestamp_ntz try_mod try_multiply try_parse_json
    try_parse_url try_subtract try_sum try_to_binary try_to_date try_to_number try_to_time try_to_timestamp
    try_url_decode try_validate_utf8 try_variant_get typeof ucase unbase64 unhex uniform unix_date unix_micros
    unix_millis unix_seconds unix_timestamp upper url_decode url_encode user uuid validate_utf8 var_pop var_samp
    variance variant_get version weekday weekofyear when width_bucket window window_time xxhash64 year zeroifnull
    zip_with | ~
    """,
)
"""Functions that compute from their arguments, and nothing else."""
TABLE_FUNCTIONS = _names(
    """
    collations explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer range sql_keywords
    stack variant_explode variant_explode_outer
    """,
)
"""Functions in FROM that do the same."""
REACHING = _names(
    """
    from_avro from_protobuf from_xml java_method python_worker_logs reflect schema_of_avro schema_of_xml to_avro
    to_protobuf to_xml try_reflect xpath xpath_boolean xpath_double xpath_float xpath_int xpath_long xpath_number
    xpath_short xpath_string
    """,
)
"""Functions that are not allowed: they call Java by name, or read files, addresses, logs or classes that an argument
names; and XML, whose parsers are made to."""
ICEBERG_FUNCTIONS = _names(
    """
    bucket days hours iceberg_version months truncate years
    """,
)
"""In the namespace `system` of an Iceberg catalog."""

# What Spark's parser makes. Names are without the package org.apache.spark.sql.catalyst.
_EXPRESSIONS = _names(
    """
    Add Alias And AttributeReference BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CaseWhen Cast Coalesce Collate
    Concat CreateNamedStruct Cube CurrentDate CurrentTime CurrentTimestamp CurrentUser Divide EqualNullSafe EqualTo
    Exists FunctionTableSubqueryArgumentExpression GreaterThan GreaterThanOrEqual GroupingSets Hex ILike In
    InSubquery IntegralDivide IsNotNull IsNotUnknown IsNotUnknown$$anon$1 IsNotUnknown$$anon$2 IsNull IsUnknown
    IsUnknown$$anon$1 IsUnknown$$anon$2 LambdaFunction LateralSubquery LessThan LessThanOrEqual Like LikeAll LikeAny
    ListQuery Literal Lower Multiply NamedArgumentExpression Not NotLikeAll NotLikeAny Or Overlay PipeExpression
    PipeOperator RLike Remainder Rollup ScalarSubquery SemiStructuredExtract ShiftLeft ShiftRight ShiftRightUnsigned
    SortOrder SpecifiedWindowFrame StringLocate StringTrim StringTrimLeft StringTrimRight Substring Subtract
    TimestampAdd TimestampDiff UnaryMinus UnaryPositive UnresolvedCollation UnresolvedNamedLambdaVariable
    UnresolvedWindowExpression WindowExpression WindowSpecDefinition WindowSpecReference
    aggregate.AggregateExpression aggregate.AnyValue aggregate.First aggregate.Last aggregate.PercentileCont
    aggregate.PercentileDisc
    """,
    "expressions.",
)
_UNRESOLVED = _names(
    """
    MultiAlias UnresolvedAlias UnresolvedAttribute UnresolvedExtractValue UnresolvedFunction UnresolvedGenerator
    UnresolvedOrdinal UnresolvedPipeAggregateOrdinal UnresolvedRegex UnresolvedStar UnresolvedStarExceptOrReplace
    """,
    "analysis.",
)
EXPRESSIONS = _EXPRESSIONS | _UNRESOLVED
_PLANS = _names(
    """
    Aggregate Distinct Except Filter Generate GlobalLimit Intersect Join LateralJoin LimitAll LocalLimit
    LocalRelation Offset OneRowRelation Pivot Project RepartitionByExpression Sample Sort SubqueryAlias Tail Union
    Unpivot UnresolvedHint UnresolvedWith WithWindowDefinition
    """,
    "plans.logical.",
)
_UNRESOLVED_PLANS = _names(
    """
    RelationTimeTravel UnresolvedHaving UnresolvedInlineTable UnresolvedRelation UnresolvedSubqueryColumnAliases
    UnresolvedTVFAliases UnresolvedTableValuedFunction
    """,
    "analysis.",
)
QUERIES = _PLANS | _UNRESOLVED_PLANS
"""Plans that read."""
STATEMENTS = _names(
    """
    AddColumns AddPartitionField AlterColumn AlterColumns CreateOrReplaceBranch CreateOrReplaceTag DeleteFromTable
    DropBranch DropColumns DropIdentifierFields DropPartitionField DropTag InsertIntoStatement MergeIntoTable
    RenameColumn ReplaceColumns ReplacePartitionField SetIdentifierFields SetTableProperties
    SetWriteDistributionAndOrdering TruncateTable UnsetTableProperties UpdateTable
    """,
    "plans.logical.",
)
"""Plans that write to a table; one may stand at the top of a statement."""
INSIDE_STATEMENTS = _names(
    """
    analysis.UnresolvedFieldName analysis.UnresolvedFieldPosition analysis.UnresolvedTable
    plans.logical.AlterColumnSpec plans.logical.Assignment plans.logical.BranchOptions
    plans.logical.DefaultValueExpression plans.logical.DeleteAction plans.logical.InsertAction
    plans.logical.InsertStarAction plans.logical.QualifiedColType plans.logical.TagOptions
    plans.logical.UpdateAction plans.logical.UpdateStarAction
    """,
)
"""What stands only inside one."""
LEAVES = _names(
    """
    AliasIdentifier FunctionIdentifier expressions.Ascending$ expressions.Descending$ expressions.NullsFirst$
    expressions.NullsLast$ expressions.ExprId expressions.NumericEvalContext expressions.aggregate.Complete$
    expressions.CurrentRow$ expressions.UnboundedPreceding$ expressions.UnboundedFollowing$ expressions.RowFrame$
    expressions.RangeFrame$ expressions.UnspecifiedFrame$ expressions.GenericInternalRow expressions.Literal
    plans.Inner$ plans.Cross$ plans.LeftOuter$ plans.RightOuter$ plans.FullOuter$ plans.LeftSemi$ plans.LeftAnti$
    plans.UsingJoin plans.NaturalJoin plans.logical.JoinHint scala.Enumeration$Val scala.runtime.BoxedUnit
    """
)
"""Values that hold no plan or expression."""

# What Spark's analysis makes of that.
_ANALYSED_PLANS = _names(
    """
    plans.logical.AddColumns plans.logical.AddPartitionField plans.logical.Aggregate plans.logical.AlterColumn
    plans.logical.AlterColumnSpec plans.logical.AlterColumns plans.logical.AppendData plans.logical.Assignment
    plans.logical.BranchOptions
    plans.logical.CTERelationDef plans.logical.CTERelationRef plans.logical.CreateOrReplaceBranch
    plans.logical.CreateOrReplaceTag plans.logical.Deduplicate plans.logical.DeleteFromTable plans.logical.Distinct
    plans.logical.DropBranch plans.logical.DropColumns plans.logical.DropIdentifierFields
    plans.logical.DropPartitionField plans.logical.DropTag plans.logical.Except plans.logical.Expand
    plans.logical.Filter plans.logical.Generate plans.logical.GlobalLimit plans.logical.Intersect plans.logical.Join
    plans.logical.LateralJoin plans.logical.LocalLimit plans.logical.LocalRelation plans.logical.MergeIntoTable
    plans.logical.MergeRows plans.logical.MergeRows$Discard plans.logical.MergeRows$Keep
    plans.logical.MergeRows$Split plans.logical.Offset plans.logical.OneRowRelation
    plans.logical.OverwriteByExpression plans.logical.OverwritePartitionsDynamic plans.logical.Pivot
    plans.logical.Project plans.logical.QualifiedColType plans.logical.Range plans.logical.RenameColumn
    plans.logical.Repartition plans.logical.RepartitionByExpression plans.logical.ReplaceColumns
    plans.logical.ReplaceData plans.logical.ReplacePartitionField plans.logical.ResolvedHint plans.logical.Sample
    plans.logical.SetIdentifierFields plans.logical.SetTableProperties plans.logical.SetWriteDistributionAndOrdering
    plans.logical.Sort plans.logical.SubqueryAlias plans.logical.TagOptions plans.logical.Tail
    plans.logical.TruncateTable plans.logical.Union plans.logical.UnionLoop plans.logical.UnionLoopRef
    plans.logical.Unpivot plans.logical.UnsetTableProperties plans.logical.UpdateTable plans.logical.Window
    plans.logical.WithCTE plans.logical.WriteDelta
    """,
)

_ANALYSED_EXPRESSIONS = _names(
    """
    Abs Acos Acosh Add AddMonths AesDecrypt AesEncrypt Alias And AnsiCast ApproxTopKEstimate ArrayAggregate
    ArrayAppend ArrayCompact ArrayContains ArrayDistinct ArrayExcept ArrayExists ArrayFilter ArrayForAll ArrayInsert
    ArrayIntersect ArrayJoin ArrayMax ArrayMin ArrayPosition ArrayPrepend ArrayRemove ArrayRepeat ArraySize
    ArraySort ArrayTransform ArrayUnion ArraysOverlap ArraysZip Ascii Asin Asinh AssertTrue AtLeastNNonNulls Atan
    Atan2 Atanh AttributeReference BRound Base64 Between Bin BinaryPad BinaryPredicate BitLength BitmapAndAgg
    BitmapBitPosition BitmapBucketNumber BitmapConstructAgg BitmapCount BitmapOrAgg BitwiseAnd BitwiseCount
    BitwiseGet BitwiseNot BitwiseOr BitwiseXor CaseWhen Cast Cbrt Ceil CheckOverflow Chr Coalesce Collate Collation
    Collations Concat ConcatWs Contains Conv ConvertTimezone Cos Cosh Cot Crc32 CreateArray CreateMap
    CreateNamedStruct Csc CsvToStructs CumeDist CurrentCatalog CurrentDatabase CurrentDate CurrentRow$ CurrentTime
    CurrentTimeZone CurrentTimestamp CurrentUser DateAdd DateAddInterval DateAddYMInterval DateDiff DateFormatClass
    DateFromUnixDate DateSub DatetimeAdd DatetimeSub DayName DayOfMonth DayOfWeek DayOfYear Decode DenseRank Divide
    DivideDTInterval DivideYMInterval ElementAt Elt Encode EndsWith EqualNull EqualNullSafe EqualTo EulerNumber
    Exists Exp Explode Expm1 Extract ExtractANSIIntervalDays ExtractANSIIntervalHours ExtractANSIIntervalMinutes
    ExtractANSIIntervalMonths ExtractANSIIntervalSeconds ExtractANSIIntervalYears Factorial FindInSet Flatten Floor
    FormatNumber FormatString FromUTCTimestamp FromUnixTime FunctionTableSubqueryArgumentExpression Get GetArrayItem
    GetArrayStructFields GetJsonObject GetMapValue GetStructField GreaterThan GreaterThanOrEqual Greatest Grouping
    GroupingID Hex HllSketchEstimate HllUnion Hour Hypot ILike If In InSubquery InitCap Inline InputFileBlockLength
    InputFileBlockStart InputFileName IntegralDivide IsNaN IsNotNull IsNotUnknown$$anon$1 IsNotUnknown$$anon$2
    IsNull IsUnknown$$anon$1 IsValidUTF8 JsonObjectKeys JsonToStructs JsonTuple KllSketchGetNBigint
    KllSketchGetNDouble KllSketchGetNFloat KllSketchGetQuantileBigint KllSketchGetQuantileDouble
    KllSketchGetQuantileFloat KllSketchGetRankBigint KllSketchGetRankDouble KllSketchGetRankFloat
    KllSketchMergeBigint KllSketchMergeDouble KllSketchMergeFloat KllSketchToStringBigint KllSketchToStringDouble
    KllSketchToStringFloat KnownNotNull KnownNullable Lag LambdaFunction LastDay LateralSubquery Lead Least Left
    Length LengthOfJsonArray LessThan LessThanOrEqual Levenshtein Like LikeAll LikeAny ListQuery Literal
    LocalTimestamp Log Log10 Log1p Log2 Logarithm Lower Luhncheck MakeDTInterval MakeDate MakeInterval MakeTimestamp
    MakeTimestampFromDateTime MakeTimestampNTZ MakeValidUTF8 MakeYMInterval MapConcat MapContainsKey MapEntries
    MapFilter MapFromArrays MapFromEntries MapKeys MapValues MapZipWith Mask Md5 MicrosToTimestamp MillisToTimestamp
    Minute MonotonicallyIncreasingID Month MonthName MonthsBetween Multiply MultiplyDTInterval MultiplyYMInterval
    Murmur3Hash NTile NaNvl NamedArgumentExpression NamedLambdaVariable NextDay Not NotLikeAll NotLikeAny Now
    NthValue NullIf NullIfZero Nvl Nvl2 OctetLength Or OuterReference Overlay ParseToDate ParseToTimestamp ParseUrl
    PercentRank Pi PipeOperator Pmod PosExplode Pow PreciseTimestampConversion PromotePrecision Quarter Quote RLike
    RaiseError Rand RandStr Randn Rank RegExpCount RegExpExtract RegExpExtractAll RegExpInStr RegExpReplace
    RegExpSubStr Remainder ResolvedCollation Reverse Right Rint Round RoundCeil RoundFloor RowNumber SQLKeywords
    ScalarSubquery SchemaOfCsv SchemaOfJson Sec Second SecondsToTimestamp Sentences Sequence Sha1 Sha2 ShiftLeft
    ShiftRight ShiftRightUnsigned Shuffle Signum Sin Sinh Size Slice SortArray SortOrder SoundEx SparkPartitionID
    SparkVersion SpecifiedWindowFrame SplitPart Sqrt Stack StartsWith StringInstr StringLPad StringLocate StringRPad
    StringRepeat StringReplace StringSpace StringSplit StringToMap StringTranslate StringTrim StringTrimBoth
    StringTrimLeft StringTrimRight StructsToCsv StructsToJson Substring SubstringIndex Subtract SubtractDates
    SubtractTimestamps Tan Tanh ThetaDifference ThetaIntersection ThetaSketchEstimate ThetaUnion TimeAdd
    TimestampAdd TimestampAddInterval TimestampAddYMInterval TimestampDiff ToBinary ToCharacter ToDegrees ToNumber
    ToRadians ToUTCTimestamp ToUnixTimestamp TransformKeys TransformValues TruncDate TruncTimestamp TryAdd
    TryAesDecrypt TryDivide TryElementAt TryEval TryMakeInterval TryMakeTimestamp TryMakeTimestampFromDateTime
    TryMod TryMultiply TryParseUrl TrySubtract TryToBinary TryToNumber TryUrlDecode TryValidateUTF8 TypeOf UnBase64
    UnaryMinus UnaryPositive UnboundedFollowing$ UnboundedPreceding$ Unhex Uniform UnixDate UnixMicros UnixMillis
    UnixSeconds UnixTimestamp UpCast Upper UrlDecode UrlEncode Uuid ValidateUTF8 WeekDay WeekOfYear WidthBucket
    WindowExpression WindowSpecDefinition XxHash64 Year YearOfWeek ZeroIfNull ZipWith aggregate.AggregateExpression
    aggregate.AnyValue aggregate.ApproxTopK aggregate.ApproxTopKAccumulate aggregate.ApproxTopKCombine
    aggregate.ApproximatePercentile aggregate.Average aggregate.BitAndAgg aggregate.BitOrAgg aggregate.BitXorAgg
    aggregate.BoolAnd aggregate.BoolOr aggregate.CollectList aggregate.CollectSet aggregate.Corr aggregate.Count
    aggregate.CountIf aggregate.CountMinSketchAgg aggregate.CovPopulation aggregate.CovSample aggregate.First
    aggregate.HistogramNumeric aggregate.HllSketchAgg aggregate.HllUnionAgg aggregate.HyperLogLogPlusPlus
    aggregate.KllMergeAggBigint aggregate.KllMergeAggDouble aggregate.KllMergeAggFloat aggregate.KllSketchAggBigint
    aggregate.KllSketchAggDouble aggregate.KllSketchAggFloat aggregate.Kurtosis aggregate.Last aggregate.ListAgg
    aggregate.Max aggregate.MaxBy aggregate.Median aggregate.Min aggregate.MinBy aggregate.Mode aggregate.Percentile
    aggregate.PercentileCont aggregate.PercentileDisc aggregate.PivotFirst aggregate.RegrAvgX aggregate.RegrAvgY
    aggregate.RegrCount aggregate.RegrIntercept aggregate.RegrR2 aggregate.RegrSXX aggregate.RegrSXY
    aggregate.RegrSYY aggregate.RegrSlope aggregate.Skewness aggregate.StddevPop aggregate.StddevSamp aggregate.Sum
    aggregate.ThetaIntersectionAgg aggregate.ThetaSketchAgg aggregate.ThetaUnionAgg aggregate.VariancePop
    aggregate.VarianceSamp objects.StaticInvoke variant.IsVariantNull variant.ParseJson variant.SchemaOfVariant
    variant.SchemaOfVariantAgg variant.ToVariantObject variant.VariantExplode variant.VariantGet
    """,
    "expressions.",
)

RELATIONS = frozenset({"org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation"})
"""Tables in an analysed plan."""
ANALYSED = _ANALYSED_PLANS | _ANALYSED_EXPRESSIONS | {"plans.logical.View"}
ANALYSED_LEAVES = (
    LEAVES
    | RELATIONS
    | _names("catalog.CatalogTable analysis.ResolvedTable analysis.ResolvedFieldName analysis.ResolvedFieldPosition")
    | _names("plans.logical.HintInfo util.ReplaceDataProjections util.WriteDeltaProjections")
    | _names("plans.logical.MergeRows$Copy$ plans.logical.MergeRows$Delete$ plans.logical.MergeRows$Insert$")
    | _names("plans.logical.MergeRows$Update$")
    | _names("java.util.concurrent.atomic.AtomicReference")
)
"""Values in an analysed plan; of tables, the classes are looked at."""

PROCEDURES = {
    "ancestors_of": ("table", "snapshot_id"),
    "cherrypick_snapshot": ("table", "snapshot_id"),
    "compute_partition_stats": ("table", "snapshot_id"),
    "compute_table_stats": ("table", "snapshot_id", "columns"),
    "expire_snapshots": (
        "table", "older_than", "retain_last", "max_concurrent_deletes", "stream_results", "snapshot_ids",
        "clean_expired_metadata",
    ),
    "fast_forward": ("table", "branch", "to"),
    "publish_changes": ("table", "wap_id"),
    "remove_orphan_files": (
        "table", "older_than", "location", "dry_run", "max_concurrent_deletes", "file_list_view", "equal_schemes",
        "equal_authorities", "prefix_mismatch_mode", "prefix_listing", "stream_results",
    ),
    "rewrite_data_files": ("table", "strategy", "sort_order", "options", "where", "branch"),
    "rewrite_manifests": ("table", "use_caching", "spec_id", "sort_by"),
    "rewrite_position_delete_files": ("table", "options", "where"),
    "rollback_to_snapshot": ("table", "snapshot_id"),
    "rollback_to_timestamp": ("table", "timestamp"),
    "set_current_snapshot": ("table", "snapshot_id", "ref"),
}  # fmt: skip
"""Iceberg's procedures that stay in the table's folder, with their parameters in order."""
WITHHELD = frozenset(
    {"location", "file_list_view", "equal_schemes", "equal_authorities", "prefix_mismatch_mode", "prefix_listing"}
)
"""Parameters that would lead a procedure away from the table's own files."""
PATTERNS = {
    **dict.fromkeys(
        ("regexp", "regexp_count", "regexp_extract", "regexp_extract_all", "regexp_instr", "regexp_like",
         "regexp_replace", "regexp_substr", "rlike", "split"), (1,)
    ),
    "str_to_map": (1, 2), "parse_url": (2,), "try_parse_url": (2,),
}  # fmt: skip
"""Functions that take regular expressions, or make one of a text, and which of their arguments are."""
LITERALS = frozenset({"table", "where", "sort_order", "strategy", "branch", "to", "ref", "wap_id"})
"""Parameters that must be plain texts: Iceberg or Spark takes them for names, or parses them."""
PROPERTIES = _names(
    """
    comment owner format-version gc.enabled commented-at commit.manifest.min-count-to-merge
    commit.manifest.target-size-bytes commit.manifest-merge.enabled commit.retry.max-wait-ms
    commit.retry.min-wait-ms commit.retry.num-retries commit.retry.total-timeout-ms history.expire.max-ref-age-ms
    history.expire.max-snapshot-age-ms history.expire.min-snapshots-to-keep read.parquet.vectorization.enabled
    read.split.metadata-target-size read.split.open-file-cost read.split.planning-lookback read.split.target-size
    schema.name-mapping.default write.avro.compression-codec write.delete.avro.compression-codec
    write.delete.distribution-mode write.delete.format.default write.delete.granularity write.delete.isolation-level
    write.delete.mode write.delete.target-file-size-bytes write.distribution-mode write.format.default
    write.manifest.compression-codec write.merge.distribution-mode write.merge.isolation-level write.merge.mode
    write.metadata.compression-codec write.metadata.delete-after-commit.enabled write.metadata.metrics.default
    write.metadata.metrics.max-inferred-column-defaults write.metadata.previous-versions-max
    write.orc.compression-codec write.parquet.compression-codec write.parquet.compression-level
    write.parquet.dict-size-bytes write.parquet.page-row-limit write.parquet.page-size-bytes
    write.parquet.row-group-size-bytes write.spark.accept-any-schema write.spark.fanout.enabled
    write.summary.partition-limit write.target-file-size-bytes write.update.distribution-mode
    write.update.isolation-level write.update.mode write.upsert.enabled write.wap.enabled
    """
)
"""Properties of a table that name no place and no class (Iceberg's TableProperties)."""
PROPERTY_PREFIXES = (
    "write.metadata.metrics.column.",
    "write.parquet.bloom-filter-enabled.column.",
    "write.parquet.stats-enabled.column.",
)
"""What stands before a column's name."""
