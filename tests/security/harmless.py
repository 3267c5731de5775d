"""Queries and statements of the kind people write over one table `t`: the guard must let every one of them through.

Columns of `t`: id bigint, name string, price double, amount decimal(10,2), born date, ts timestamp, tags array<string>,
attrs map<string,string>, address struct<city string, zip int>, flag boolean,
    payload string (JSON). `u` is a second view
of it. A statement stands on a line, or on several of which the later ones are indented."""

from __future__ import annotations

import re


def _statements(text: str) -> list[str]:
    return re.sub(r"\n +", " ", text).strip().splitlines()


SIMPLE = _statements("""
SELECT * FROM t
SELECT id, name FROM t
SELECT t.* FROM t
SELECT * EXCEPT (payload) FROM t
SELECT DISTINCT name FROM t
SELECT count(*) FROM t
SELECT count(DISTINCT name), count(1) FROM t
SELECT 1
SELECT 1 AS one, 'text' AS two, NULL AS three, TRUE, 1.5, 1e3, 12L, X'1F', DATE '2024-01-01',
    TIMESTAMP '2024-01-01 00:00:00'
SELECT id + 1, id - 1, id * 2, id / 2, id % 2, -id, +id, id DIV 2 FROM t
SELECT id & 1, id | 2, id ^ 3, ~id, id << 1, id >> 1, id >>> 1 FROM t
SELECT * FROM t WHERE id = 1
SELECT * FROM t WHERE id <> 1 AND name != 'jack' OR NOT flag
SELECT * FROM t WHERE id IN (1, 2, 3)
SELECT * FROM t WHERE id NOT IN (1, 2, 3)
SELECT * FROM t WHERE id BETWEEN 1 AND 3
SELECT * FROM t WHERE name LIKE 'a%' ESCAPE '/'
SELECT * FROM t WHERE name ILIKE '%A%'
SELECT * FROM t WHERE name LIKE ANY ('a%', 'b%')
SELECT * FROM t WHERE name LIKE ALL ('a%', '%b')
SELECT * FROM t WHERE name NOT LIKE ALL ('a%', '%b')
SELECT * FROM t WHERE name RLIKE '^a.*'
SELECT * FROM t WHERE name IS NULL OR price IS NOT NULL
SELECT * FROM t WHERE name <=> NULL
SELECT * FROM t WHERE flag IS TRUE OR flag IS NOT FALSE OR flag IS UNKNOWN
SELECT * FROM t WHERE name IS DISTINCT FROM 'jack'
SELECT * FROM t WHERE isnan(price)
SELECT * FROM t WHERE born >= DATE '2024-01-01' AND ts < TIMESTAMP '2025-01-01 00:00:00'
SELECT * FROM t WHERE born > current_date() - INTERVAL 30 DAYS
SELECT * FROM t WHERE date(ts) = '2024-01-01'
SELECT * FROM t WHERE year(ts) = 2024
SELECT * FROM t WHERE address.city = 'Oslo'
SELECT * FROM t WHERE tags[0] = 'a' OR attrs['k'] = 'v'
SELECT * FROM t WHERE array_contains(tags, 'a')
SELECT * FROM t WHERE exists(tags, x -> x = 'a')
SELECT * FROM t ORDER BY id
SELECT * FROM t ORDER BY id DESC NULLS LAST, name ASC NULLS FIRST
SELECT * FROM t ORDER BY 1, 2
SELECT id, name FROM t ORDER BY ALL
SELECT * FROM t SORT BY id
SELECT * FROM t DISTRIBUTE BY id SORT BY name
SELECT * FROM t CLUSTER BY id
SELECT * FROM t LIMIT 5
SELECT * FROM t LIMIT 5 OFFSET 2
SELECT * FROM t LIMIT ALL
SELECT * FROM t LIMIT 2 + 3
SELECT name, count(*) FROM t GROUP BY name
SELECT name, count(*) AS n FROM t GROUP BY name HAVING count(*) > 1
SELECT name, count(*) AS n FROM t GROUP BY 1 HAVING n > 1
SELECT name, count(*) FROM t GROUP BY ALL
SELECT name, flag, count(*) FROM t GROUP BY CUBE (name, flag)
SELECT name, flag, count(*) FROM t GROUP BY ROLLUP (name, flag)
SELECT name, flag, grouping_id() FROM t GROUP BY GROUPING SETS ((name), (flag), ())
SELECT name, grouping(name) FROM t GROUP BY name WITH ROLLUP
SELECT sum(price), avg(price), min(price), max(price), stddev(price), variance(price) FROM t
SELECT sum(amount), avg(amount) FROM t
SELECT count(*) FILTER (WHERE flag) FROM t
SELECT first(name), last(name, TRUE), any_value(name) FROM t
SELECT collect_list(name), collect_set(name), array_agg(id) FROM t
SELECT percentile(price, 0.5), approx_percentile(price, 0.9), median(price), mode(name) FROM t
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY price) FROM t
SELECT listagg(name, ',') WITHIN GROUP (ORDER BY name) FROM t
SELECT string_agg(name, ',') FROM t
SELECT approx_count_distinct(name) FROM t
SELECT max_by(name, id), min_by(name, id) FROM t
SELECT corr(id, price), covar_pop(id, price), regr_slope(price, id) FROM t
SELECT bool_and(flag), bool_or(flag), every(flag), some(flag) FROM t
SELECT bit_and(id), bit_or(id), bit_xor(id) FROM t
SELECT count_if(flag) FROM t
SELECT histogram_numeric(price, 3) FROM t
SELECT kurtosis(price), skewness(price) FROM t
SELECT a.id, b.name FROM t a JOIN u b ON a.id = b.id
SELECT * FROM t JOIN u USING (id)
SELECT * FROM (SELECT id, name FROM t) NATURAL JOIN (SELECT id, flag FROM u)
SELECT * FROM t LEFT JOIN u ON t.id = u.id
SELECT * FROM t RIGHT OUTER JOIN u ON t.id = u.id
SELECT * FROM t FULL OUTER JOIN u ON t.id = u.id
SELECT * FROM t CROSS JOIN u
SELECT * FROM t, u WHERE t.id = u.id
SELECT * FROM t LEFT SEMI JOIN u ON t.id = u.id
SELECT * FROM t LEFT ANTI JOIN u ON t.id = u.id
SELECT t.id, x.n FROM t, LATERAL (SELECT count(*) AS n FROM u WHERE u.id = t.id) x
SELECT t.id, x.n FROM t JOIN LATERAL (SELECT u.id AS n FROM u WHERE u.id > t.id) x ON TRUE
SELECT id, tag FROM t LATERAL VIEW explode(tags) x AS tag
SELECT id, tag FROM t LATERAL VIEW OUTER explode(tags) x AS tag
SELECT id, pos, tag FROM t LATERAL VIEW posexplode(tags) x AS pos, tag
SELECT id, explode(tags) FROM t
SELECT id, k, v FROM t LATERAL VIEW explode(attrs) x AS k, v
SELECT inline(array(struct(1, 'a'), struct(2, 'b')))
SELECT stack(2, 1, 2, 3, 4)
SELECT id, name FROM t UNION SELECT id, name FROM u
SELECT id FROM t UNION ALL SELECT id FROM u
SELECT id FROM t INTERSECT SELECT id FROM u
SELECT id FROM t INTERSECT ALL SELECT id FROM u
SELECT id FROM t EXCEPT SELECT id FROM u
SELECT id FROM t EXCEPT ALL SELECT id FROM u
SELECT id FROM t MINUS SELECT id FROM u
(SELECT id FROM t) UNION ALL (SELECT id FROM u) ORDER BY id
SELECT * FROM (SELECT id, name FROM t) x
SELECT * FROM (SELECT id, name FROM t) AS x (a, b)
SELECT * FROM t WHERE id = (SELECT max(id) FROM u)
SELECT * FROM t WHERE id IN (SELECT id FROM u WHERE flag)
SELECT * FROM t WHERE (id, name) IN (SELECT id, name FROM u)
SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id)
SELECT * FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.id = t.id + 100)
SELECT (SELECT count(*) FROM u) AS n, id FROM t
SELECT CASE WHEN id > 1 THEN 'big' ELSE 'small' END FROM t
SELECT CASE name WHEN 'jack' THEN 1 WHEN 'tom' THEN 2 END FROM t
SELECT if(flag, 1, 0), coalesce(name, '?'), nullif(id, 1), nvl(name, ''), nvl2(name, 1, 0), ifnull(name, '') FROM t
SELECT CAST(id AS STRING), CAST(price AS INT), id::string, try_cast(name AS INT) FROM t
SELECT CAST('2024-01-01' AS DATE), CAST(NULL AS MAP<STRING, INT>), CAST(id AS DECIMAL(20, 2)) FROM t
SELECT upper(name), lower(name), length(name), trim(name), concat(name, '!'), name || '!' FROM t
SELECT substring(name, 1, 2), substr(name FROM 2 FOR 3), left(name, 1), right(name, 1) FROM t
SELECT trim(BOTH 'a' FROM name), trim(LEADING FROM name), trim(TRAILING 'x' FROM name) FROM t
SELECT position('a' IN name), locate('a', name), instr(name, 'a'), overlay(name PLACING 'x' FROM 1) FROM t
SELECT replace(name, 'a', 'b'), regexp_replace(name, 'a', 'b'), regexp_extract(name, '(a)', 1), translate(name, 'a',
    'b') FROM t
SELECT split(name, ','), split_part(name, ',', 1), concat_ws('-', tags), lpad(name, 9, ' '), rpad(name, 9) FROM t
SELECT format_string('%s-%d', name, id), format_number(price, 2), initcap(name), reverse(name), repeat(name, 2) FROM t
SELECT ascii(name), chr(65), md5(name), sha2(name, 256), crc32(name), hash(id, name), xxhash64(id),
    base64(CAST(name AS BINARY)) FROM t
SELECT startswith(name, 'a'), endswith(name, 'b'), contains(name, 'c'), levenshtein(name, 'jack'), soundex(name) FROM t
SELECT abs(price), round(price, 1), ceil(price), floor(price), sqrt(price), power(price, 2), exp(1), ln(2), log(2,
    8), sign(id) FROM t
SELECT greatest(id, 2), least(id, 2), mod(id, 2), pmod(id, 2), bround(price, 1), width_bucket(price, 0, 10, 5) FROM t
SELECT rand(1) > 2, randn(1) > 100, uuid() IS NULL, monotonically_increasing_id(), spark_partition_id() FROM t
SELECT year(ts), month(ts), day(ts), hour(ts), minute(ts), second(ts), quarter(born), weekofyear(born),
    dayofweek(born) FROM t
SELECT date_trunc('MONTH', ts), trunc(born, 'YEAR'), date_add(born, 1), date_sub(born, 1), datediff(born,
    DATE '2024-01-01') FROM t
SELECT date_format(ts, 'yyyy-MM'), to_date('2024-01-01'), to_timestamp('2024-01-01 00:00:00'), unix_timestamp(ts),
    from_unixtime(0) FROM t
SELECT extract(YEAR FROM ts), extract(DOW FROM born), date_part('month', ts), timestampadd(HOUR, 1, ts),
    timestampdiff(DAY, ts, ts) FROM t
SELECT ts + INTERVAL 1 DAY, ts - INTERVAL '1' HOUR, born + INTERVAL 2 MONTHS FROM t
SELECT add_months(born, 1), months_between(born, born), last_day(born), next_day(born, 'MON'), make_date(2024, 1,
    1) FROM t
SELECT current_date, current_timestamp IS NULL, now() IS NULL, localtimestamp() IS NULL, current_user IS NULL
SELECT date_diff(born, DATE '2023-01-01') FROM t
SELECT from_utc_timestamp(ts, 'UTC'), to_utc_timestamp(ts, 'UTC'), convert_timezone('UTC', ts) FROM t
SELECT array(1, 2), size(tags), sort_array(tags), array_distinct(tags), array_union(tags, tags),
    flatten(array(tags)) FROM t
SELECT transform(tags, x -> upper(x)), filter(tags, x -> x <> 'a'), aggregate(array(1, 2), 0, (a, x) -> a + x) FROM t
SELECT transform(tags, (x, i) -> concat(x, i)), zip_with(tags, tags, (a, b) -> a || b), forall(tags,
    x -> x IS NOT NULL) FROM t
SELECT element_at(tags, 1), array_max(tags), array_position(tags, 'a'), slice(tags, 1, 1), sequence(1, 3),
    array_join(tags, ',') FROM t
SELECT map('a', 1), map_keys(attrs), map_values(attrs), map_entries(attrs), map_filter(attrs, (k, v) -> k = 'k') FROM t
SELECT named_struct('a', 1, 'b', name), struct(id, name), address.city, address.* FROM t
SELECT to_json(address), from_json(payload, 'a INT'), get_json_object(payload, '$.a'), schema_of_json('{"a": 1}') FROM t
SELECT json_tuple(payload, 'a') FROM t
SELECT json_array_length('[1]'), json_object_keys(payload) FROM t
SELECT from_csv('1,a', 'a INT, b STRING'), to_csv(address), schema_of_csv('1,a') FROM t
SELECT parse_json(payload), variant_get(parse_json(payload), '$.a', 'int'), is_variant_null(parse_json('null')) FROM t
SELECT parse_json(payload):a FROM t
SELECT parse_url('https://example.org/a?b=1', 'QUERY'), url_encode(name), url_decode('a%20b') FROM t
SELECT typeof(id), version() IS NULL, current_catalog() IS NULL, current_database() IS NULL FROM t
SELECT input_file_name() IS NULL FROM t
SELECT assert_true(TRUE)
SELECT bin(id), hex(id), unhex('1F'), conv('10', 10, 2), bit_count(id), shiftleft(id, 1) FROM t
SELECT sentences('Hi there. You!'), mask(name), luhn_check('79927398713') FROM t
SELECT row_number() OVER (ORDER BY id) FROM t
SELECT rank() OVER (PARTITION BY name ORDER BY id), dense_rank() OVER (PARTITION BY name ORDER BY id) FROM t
SELECT lag(id) OVER (ORDER BY id), lead(id, 1, 0) OVER (ORDER BY id), ntile(2) OVER (ORDER BY id) FROM t
SELECT sum(price) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t
SELECT sum(price) OVER (ORDER BY id RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM t
SELECT avg(price) OVER w, max(price) OVER w FROM t WINDOW w AS (PARTITION BY name ORDER BY id)
SELECT first_value(name) OVER (ORDER BY id), nth_value(name, 2) OVER (ORDER BY id),
    last_value(name) OVER (ORDER BY id) FROM t
SELECT percent_rank() OVER (ORDER BY id), cume_dist() OVER (ORDER BY id) FROM t
SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY name ORDER BY id DESC) AS n FROM t) WHERE n = 1
WITH x AS (SELECT id FROM t) SELECT * FROM x
WITH x AS (SELECT id FROM t), y AS (SELECT id + 1 AS id FROM x) SELECT * FROM x JOIN y USING (id)
WITH x (a, b) AS (SELECT id, name FROM t) SELECT a, b FROM x
WITH X AS (SELECT id FROM t) SELECT * FROM x UNION ALL SELECT * FROM X
WITH x AS (WITH y AS (SELECT id FROM t) SELECT * FROM y) SELECT * FROM x
SELECT * FROM (WITH x AS (SELECT id FROM t) SELECT * FROM x)
SELECT * FROM t WHERE id IN (WITH x AS (SELECT id FROM u) SELECT id FROM x)
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r
SELECT * FROM VALUES (1, 'a'), (2, 'b') AS v (id, name)
VALUES (1, 'a'), (2, 'b')
SELECT * FROM range(10)
SELECT * FROM range(1, 10, 2) r WHERE r.id > 3
SELECT * FROM explode(array(1, 2))
SELECT * FROM t TABLESAMPLE (50 PERCENT)
SELECT * FROM t TABLESAMPLE (2 ROWS)
SELECT * FROM t PIVOT (count(*) FOR name IN ('jack', 'tom'))
SELECT * FROM (SELECT id, name, flag FROM t) PIVOT (count(id) FOR name IN ('jack' AS j, 'tom' AS m))
SELECT * FROM (SELECT id, price, CAST(amount AS DOUBLE) AS amount FROM t) UNPIVOT (v FOR k IN (price, amount))
SELECT /*+ BROADCAST(u) */ * FROM t JOIN u ON t.id = u.id
SELECT /*+ COALESCE(1) */ * FROM t
SELECT /*+ REPARTITION(2, id) */ * FROM t
FROM t SELECT id WHERE id > 1
FROM t |> WHERE id > 1 |> SELECT id, name |> ORDER BY id |> LIMIT 2
FROM t |> AGGREGATE count(*) AS n GROUP BY name
FROM t |> EXTEND id + 1 AS next |> SET next = next + 1 |> DROP payload
TABLE t
SELECT id AS `a b`, `name` FROM `t`
SELECT "text" FROM t
SELECT * FROM t -- a comment
SELECT /* a comment */ id FROM t
SELECT date_trunc('DAY', ts) AS d, count(*) AS n FROM t GROUP BY date_trunc('DAY', ts) ORDER BY d
SELECT window.start, count(*) FROM t GROUP BY window(ts, '1 hour')
SELECT session_window.start, count(*) FROM t GROUP BY session_window(ts, '1 hour')
SELECT 'gone' AS what, * FROM (SELECT id, name FROM t EXCEPT ALL SELECT id, name FROM u)
SELECT name, count(*) * 100.0 / sum(count(*)) OVER () AS share FROM t GROUP BY name
SELECT id AS `_file` FROM t
SELECT approx_top_k(name, 2), count_min_sketch(name, 0.5D, 0.5D, 1) IS NULL FROM t
SELECT name COLLATE UTF8_LCASE = 'JACK' FROM t
SELECT * FROM t ORDER BY name COLLATE UNICODE
SELECT sum(DISTINCT id), avg(DISTINCT price) FROM t
SELECT id, transform_values(attrs, (k, v) -> upper(v)), transform_keys(attrs, (k, v) -> upper(k)) FROM t
SELECT array_sort(tags, (a, b) -> CASE WHEN a < b THEN -1 WHEN a > b THEN 1 ELSE 0 END) FROM t
SELECT element_at(attrs, 'k'), try_element_at(tags, 9), get(tags, 0), arrays_overlap(tags, tags), array_repeat('a',
    2) FROM t
SELECT try_divide(1, 0), try_add(1, 1), try_to_number('1', '9'), to_number('12', '99'), to_char(12, '99') FROM t
SELECT bucket FROM (SELECT sandbox.system.bucket(4, id) AS bucket FROM t)
SELECT sandbox.system.days(ts), sandbox.system.months(ts), sandbox.system.years(ts), sandbox.system.hours(ts) FROM t
SELECT sandbox.system.truncate(2, name), sandbox.system.iceberg_version() IS NULL FROM t
""")

WRITES = _statements("""
INSERT INTO {t} VALUES (1, 'a', 1.5)
INSERT INTO {t} (id, name, price) VALUES (1, 'a', 1.5)
INSERT INTO {t} SELECT * FROM {t}
INSERT INTO {t} BY NAME SELECT 1 AS id, 'a' AS name, 2.5 AS price
INSERT INTO {t} SELECT id, upper(name), price * 2 FROM {t} WHERE id IN (SELECT max(id) FROM {t})
INSERT INTO {t} WITH x AS (SELECT 1 AS id) SELECT id, 'b', 1.0 FROM x
INSERT OVERWRITE {t} SELECT * FROM {t} WHERE id > 1
WITH x AS (SELECT 1 AS id) INSERT INTO {t} SELECT id, 'c', 2.0 FROM x
DELETE FROM {t} WHERE id = 1
DELETE FROM {t} WHERE id IN (SELECT id FROM {t} WHERE price > 2)
DELETE FROM {t}
UPDATE {t} SET name = 'x' WHERE id = 1
UPDATE {t} SET name = upper(name), price = price + 1
UPDATE {t} AS a SET a.price = (SELECT max(price) FROM {t})
MERGE INTO {t} USING (SELECT 1 AS id, 'm' AS name) s ON {t}.id = s.id WHEN MATCHED THEN UPDATE SET name = s.name
MERGE INTO {t} a USING {t} b ON a.id = b.id WHEN MATCHED AND b.price > 1 THEN DELETE WHEN NOT MATCHED THEN INSERT *
MERGE INTO {t} a USING (SELECT 9 AS id, 'n' AS name, 1D AS price) b ON a.id = b.id WHEN NOT MATCHED THEN INSERT (id,
    name) VALUES (b.id, 'z')
MERGE INTO {t} a USING {t} b ON a.id = b.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED BY SOURCE THEN DELETE
TRUNCATE TABLE {t}
ALTER TABLE {t} ADD COLUMN color STRING
ALTER TABLE {t} ADD COLUMNS (place STRUCT<city: STRING>, n INT COMMENT 'how many')
ALTER TABLE {t} RENAME COLUMN color TO colour
ALTER TABLE {t} ALTER COLUMN n TYPE BIGINT
ALTER TABLE {t} ALTER COLUMN n COMMENT 'count'
ALTER TABLE {t} ALTER COLUMN n FIRST
ALTER TABLE {t} DROP COLUMN colour
ALTER TABLE {t} SET TBLPROPERTIES ('write.delete.mode' = 'merge-on-read', 'comment' = 'mine')
ALTER TABLE {t} UNSET TBLPROPERTIES ('comment')
ALTER TABLE {t} ADD PARTITION FIELD bucket(4, id)
ALTER TABLE {t} ADD PARTITION FIELD truncate(2, name) AS short
ALTER TABLE {t} REPLACE PARTITION FIELD short WITH truncate(3, name)
ALTER TABLE {t} DROP PARTITION FIELD bucket(4, id)
ALTER TABLE {t} WRITE ORDERED BY name DESC NULLS LAST
ALTER TABLE {t} WRITE UNORDERED
ALTER TABLE {t} CREATE BRANCH audit
ALTER TABLE {t} CREATE TAG v1 RETAIN 10 DAYS
ALTER TABLE {t} DROP BRANCH audit
ALTER TABLE {t} DROP TAG v1
INSERT INTO {t}.branch_main (id, name, price) VALUES (7, 'g', 1.0)
CALL sandbox.system.rewrite_data_files(table => '{name}')
CALL sandbox.system.rewrite_data_files('{name}')
CALL sandbox.system.rewrite_data_files(table => '{name}', strategy => 'sort', sort_order => 'id DESC NULLS LAST,
    name', where => 'id > 1')
CALL sandbox.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true'))
CALL sandbox.system.rewrite_manifests('{name}')
CALL sandbox.system.rewrite_position_delete_files(table => '{name}')
CALL sandbox.system.expire_snapshots(table => '{name}', older_than => TIMESTAMP '2020-01-01 00:00:00', retain_last => 1)
CALL sandbox.system.expire_snapshots('{name}', TIMESTAMP_MILLIS(1000L), 5)
CALL sandbox.system.remove_orphan_files(table => '{name}', dry_run => true)
CALL sandbox.system.ancestors_of('{name}')
CALL sandbox.system.compute_table_stats(table => '{name}', columns => array('id'))
""")
