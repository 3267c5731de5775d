# `make demo` and `make test` do all the set-up on a machine that has only Python 3.10+ and make.
PYTHON ?= python3
BIN := .venv/bin
PORT ?= 5006
# Three processes, with one sandbox, take whole files in the order of tests/conftest.py: one often waits for Java or a
# browser. Tests of one file share a Spark, a page or tables (tests/unit/test_processes.py holds that it is so).
PROCESSES := -n 3 --dist loadfile --no-loadscope-reorder
STAMP := .venv/.installed
# Who keeps pip's cache keeps uv's: it lies beside it.
ifdef PIP_CACHE_DIR
export UV_CACHE_DIR ?= $(PIP_CACHE_DIR)/uv
endif
# Modules are compiled when they are imported: most never are.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# uv, which requirements/build.txt pins, installs in a fraction of the time; where it cannot reach what pip can, pip does.
INSTALL = $(BIN)/uv pip install --quiet --python $(BIN)/python $(1) || $(PIP) $(1)

# The native decoder is built where cargo is; everything works without it.
NATIVE := $(if $(shell command -v cargo),native)

.PHONY: demo native bench-decode teaching-tables test test-rest test-all first-tests quick test-servers test-readers test-pythons test-extras spark35 wheel release lab lint bench bench-remote bench-size bench-plan bench-lesson \
	bench-sessions bench-pages bench-start plan-fuzz race pairs attacks screens follow fuzz robustness coverage browser frontend \
	clean requirements docs test-docs test-image test-jupyters

demo: $(STAMP)  ## unpack the teaching tables and open the page on loopback
	$(BIN)/icedive demo
	$(BIN)/icedive serve --browser --port $(PORT)

test: $(STAMP) browser $(NATIVE)  ## lint, what needs no Spark and no browser, and a pass of each (tests/support/tiers.py); minutes
	$(MAKE) --no-print-directory -j 2 lint first-tests

test-rest: $(STAMP) browser $(NATIVE)  ## every other test, in a real browser and on real Spark
	$(BIN)/python -m pytest $(PROCESSES) -m rest

test-all: test test-rest test-docs  ## every test

first-tests:
	$(BIN)/python -m pytest $(PROCESSES) -m "not rest"

# Dozens of processes would compile Panel, pandas and pyiceberg anew where the environment forbids to keep it compiled.
quick first-tests test-rest: export PYTHONDONTWRITEBYTECODE :=

quick: $(STAMP) lint  ## what needs neither Spark nor a browser, with a quarter of the examples
	ICEDIVE_QUICK=1 $(BIN)/python -m pytest -q $(PROCESSES) tests/unit tests/properties \
		tests/security/test_places.py tests/security/test_web.py

CONNECT := .venv-connect
test-servers: $(STAMP)  ## minutes: every server there is, some of them fetched by maven
	-for pom in tests/servers/*/pom.xml; do mvn -B -q -f $$pom dependency:build-classpath -Dmdep.outputFile=/dev/null; done
	$(BIN)/uv pip install --quiet --target $(CONNECT) --require-hashes -r requirements/connect.txt
	ICEDIVE_CONNECT=$(CURDIR)/$(CONNECT) ICEDIVE_EVERY_SERVER=1 $(BIN)/python -m pytest tests/servers

# Other readers of Iceberg have an environment of their own; Trino needs Java 25, which TRINO_JAVA names.
READERS := .venv-readers
OLDER_ICEBERG := org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.10.1
TRINO := 483
TRINO_JAVA ?= java
test-readers: $(STAMP)  ## minutes: ask DuckDB, ClickHouse, iceberg-rust, iceberg-go, Trino and an older Iceberg for a table of each feature; all are fetched
	test -x $(READERS)/bin/python || $(PYTHON) -m venv $(READERS)
	$(BIN)/uv pip install --quiet --python $(READERS)/bin/python --require-hashes -r requirements/readers.txt
	mvn -B -q dependency:copy -Dartifact=$(OLDER_ICEBERG) -DoutputDirectory=$(CURDIR)/$(READERS)
	mvn -B -q -f tests/support/trino/pom.xml -Dtrino=$(TRINO) dependency:build-classpath \
		-Dmdep.outputFile=$(CURDIR)/$(READERS)/trino.txt
	cd tests/support/go && go build -o $(CURDIR)/$(READERS)/iceberg-go .
	ICEDIVE_GO=$(CURDIR)/$(READERS)/iceberg-go ICEDIVE_READERS=$(CURDIR)/$(READERS)/bin/python ICEBERG_JAR=$$(ls $(CURDIR)/$(READERS)/iceberg-spark-runtime-*.jar) \
		ICEDIVE_TRINO="$(TRINO_JAVA) $(CURDIR)/$(READERS)/trino.txt $(TRINO)" \
		$(BIN)/python -m pytest -n 0 tests/spark/test_reader_support.py tests/spark/test_trino_statements.py

# Spark 3.5 has a Python environment of its own, with the last pyspark 3.5; it needs Python 3.10 or 3.11.
SPARK35 := .venv-spark35
SPARK35_JAR := org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.12.0
SPARK35_PACKAGES := -c $(SPARK35)/pins.txt -e '.[spark,notebook,panel,graphviz]' --group dev pyspark==3.5.7
SPARK35_TESTS := $(addprefix tests/spark/test_,rows.py reads.py jobs.py maintenance.py lab.py users_spark.py)
spark35: $(STAMP)  ## a quarter of an hour: the engine on Spark 3.5, and what is printed, put to its real parser; both are fetched
	test -x $(SPARK35)/bin/python || $(PYTHON) -m venv $(SPARK35)
	sed -nE '/^(pyspark|py4j)==/d; s/^([A-Za-z0-9._-]+==.*) \\$$/\1/p' requirements/all.txt > $(SPARK35)/pins.txt
	$(BIN)/uv pip install --quiet --python $(SPARK35)/bin/python $(SPARK35_PACKAGES)
	$(SPARK35)/bin/python -m pytest -n 2 --dist loadfile $(SPARK35_TESTS) tests/security/test_sql.py
	mvn -B -q dependency:copy -Dartifact=$(SPARK35_JAR) -DoutputDirectory=$(CURDIR)/$(SPARK35)
	ICEDIVE_SPARK35="$(SPARK35)/bin/python,$$(ls $(SPARK35)/iceberg-spark-runtime-*.jar)" \
		$(BIN)/python -m pytest tests/unit/test_statements.py tests/spark/test_remedies35.py

teaching-tables: $(STAMP)  ## minutes: have Spark build the teaching tables, and pack them into explorer/lab/scenarios/tables
	$(BIN)/python -m tests.pack_tables

test-pythons: $(STAMP)  ## the tests of quick on Python 3.10, 3.12 and 3.13, where they are
	$(BIN)/python -m tests.pythons

native: $(STAMP)  ## a minute or two: build the native decoder (native/); needs cargo
	$(BIN)/python native/build.py

wheel: $(STAMP)  ## build the wheel into dist/
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation -w dist .

release: $(STAMP)  ## minutes: write wheel, source distribution and notes to dist/, and use both on every Python that is here
	$(BIN)/python -m tests.release

# Notebook 7 and JupyterHub have an environment of their own; JupyterHub's proxy needs Node.
JUPYTERS := .venv-jupyters
test-jupyters: $(STAMP) browser  ## minutes: the extension in a real Notebook 7 and a real JupyterHub, which are fetched
	test -x $(JUPYTERS)/bin/python || $(PYTHON) -m venv $(JUPYTERS)
	sed -nE 's/^([A-Za-z0-9._-]+==.*) \\$$/\1/p' requirements/all.txt > $(JUPYTERS)/pins.txt
	$(BIN)/uv pip install --quiet --python $(JUPYTERS)/bin/python -c $(JUPYTERS)/pins.txt -e '.[notebook]' notebook jupyterhub
	npm install --silent --no-audit --no-fund --prefix $(JUPYTERS)/proxy configurable-http-proxy
	ICEDIVE_JUPYTERS=$(CURDIR)/$(JUPYTERS)/bin/python PATH="$(CURDIR)/$(JUPYTERS)/proxy/node_modules/.bin:$$PATH" \
		$(BIN)/python -m pytest tests/browser/test_jupyters.py

test-image: $(STAMP)  ## minutes: execute the steps of the Dockerfile in an empty folder and environment, and ask its health check
	$(BIN)/python -m tests.image

test-extras: $(STAMP)  ## minutes: install the wheel with each extra into an environment of its own, and use it
	$(BIN)/python -m tests.extras

# What builds the site has an environment of its own: no test and no user needs it.
DOCS_STAMP := .venv-docs/.installed
$(DOCS_STAMP): $(STAMP) requirements/docs.txt
	test -x .venv-docs/bin/python || $(PYTHON) -m venv .venv-docs
	$(BIN)/uv pip install --quiet --python .venv-docs/bin/python --require-hashes -r requirements/docs.txt || \
		.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/docs.txt
	touch $@

docs: $(DOCS_STAMP)  ## build the documentation site in site/, with the teaching tables as live pages; broken links are errors
	.venv-docs/bin/python website/build.py $(CURDIR)/$(BIN)/icedive

test-docs: docs browser  ## build the site, and open it in a real browser
	ICEDIVE_SITE=$(CURDIR)/site $(BIN)/python -m pytest tests/browser/test_site.py

lab: $(STAMP)  ## JupyterLab on notebooks/
	$(BIN)/icedive demo
	$(BIN)/jupyter lab --notebook-dir notebooks $(if $(filter 0,$(shell id -u)),--allow-root)

frontend:  ## for those who change frontend/: types, tests, the bundle, and the extension of JupyterLab; needs Node
	cd frontend && npm ci --ignore-scripts && npx tsc --noEmit && npx vitest run && node build.mjs
	cd frontend/lab && npm ci --ignore-scripts && node build.mjs

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry explorer

bench: $(STAMP)  ## minutes: decoding, first screen, cache, memory; writes docs/benchmarks.md
	$(BIN)/python -m benchmarks.run

bench-decode: $(STAMP) $(NATIVE)  ## half an hour: decode manifests of many kinds, in turns with others; writes docs/decoding.md
	$(BIN)/python -m benchmarks.decode

bench-remote: $(STAMP)  ## minutes: a table in a store, behind 0, 5 and 50 ms a request; writes docs/remote.md
	$(BIN)/python -m benchmarks.remote

bench-size: $(STAMP)  ## two hours: one and ten million entries; writes docs/size.md
	$(BIN)/python -m benchmarks.size

bench-plan: $(STAMP)  ## minutes: a plan over a million entries; writes docs/planning.md
	$(BIN)/python -m benchmarks.planning

bench-sessions: $(STAMP)  ## a quarter of an hour: fifty sessions, a thousand pages; writes docs/sessions.md
	$(BIN)/python -m benchmarks.sessions

bench-pages: $(STAMP)  ## half an hour: the page of ab84dd4 and the page now, in turns, and fifty sessions; writes docs/pages.md
	$(BIN)/python -m benchmarks.page_pairs

bench-start: $(STAMP)  ## minutes: Spark's start with and without kept classes; writes docs/spark.md
	$(BIN)/python -m benchmarks.spark_start

bench-lesson: $(STAMP)  ## minutes: the lesson with thirty seats; writes docs/lesson-measured.md
	$(BIN)/python -m benchmarks.lesson

follow: $(STAMP) browser  ## minutes: a page follows a table with two hundred commits: times, and the memory
	ICEDIVE_EVERY_COMMIT=1 $(BIN)/python -m pytest -n 0 -s tests/browser/test_followed.py

plan-fuzz: $(STAMP)  ## half an hour: 50,000 verdicts on generated tables and filters, held against Iceberg's evaluators
	ICEDIVE_PLANS=160 $(BIN)/python -m pytest tests/spark/test_planning.py -k every_verdict

race: $(STAMP)  ## minutes: eight writer processes, fifty commits each; a hundred kills; faults at chosen points
	$(BIN)/icedive lab race
	$(BIN)/icedive lab race --kills 100
	$(BIN)/icedive lab race --faults
	ICEDIVE_EVERY_PAIR=1 $(BIN)/python -m pytest tests/spark/test_race.py

pairs: $(STAMP)  ## a quarter of an hour: every pair of operations, each validation on its own
	ICEDIVE_EVERY_PAIR=1 $(BIN)/python -m pytest tests/spark/test_lab.py tests/spark/test_layout_exercises.py

screens: $(STAMP) browser  ## an hour and a half: pictures of every view of seven tables, and what does not fit
	ICEDIVE_EVERY_SCREEN=1 $(BIN)/python -m pytest -n 2 --dist load tests/browser/test_rooms_fit.py

fuzz: $(STAMP) $(NATIVE)  ## half an hour: thousands of tables damaged where meaning sits, and a million blocks, from another seed each day
	ICEDIVE_MUTATIONS=4000 ICEDIVE_SEED=$$(date +%j) \
		$(BIN)/python -m pytest tests/security/test_damage.py
	$(if $(NATIVE),$(BIN)/python -m tests.support.native_mutations 1000000 $$(date +%j))

# Parts can be run one by one, on several machines or days: make attacks PART=3/12. Each test is in one of them.
attacks: export ICEDIVE_PART = $(PART)
attacks: $(STAMP)  ## ten hours, or a part of it with PART=1/40: 5,000 statements that reach out, every example of Spark's pages, large tables of every kind, and the largest of 2 MB in each
	ICEDIVE_EVERY_STATEMENT=1 $(BIN)/python -m pytest tests/security/test_sql.py tests/browser/test_markup.py \
		tests/browser/test_outlives.py tests/spark/test_projection.py
	ICEDIVE_EVERY_SIZE=1 $(BIN)/python -m pytest $(PROCESSES) tests/security/test_growth.py tests/security/test_regexes.py
	ICEDIVE_EVERY_BOUND=1 $(BIN)/python -m pytest -n 0 -s tests/security/test_bounds.py

robustness: $(STAMP)  ## a quarter of an hour: tables damaged one place at a time; writes docs/robustness.md
	$(BIN)/icedive demo
	$(BIN)/python -m tests.robustness.corpus --out docs/robustness.md

coverage: $(STAMP)  ## seconds: what of the three texts can be seen, run and is asked; writes docs/coverage.md
	$(BIN)/python -m tests.texts

browser: $(STAMP)
	$(BIN)/python -m tests.browser.find_browser --install

# pyspark comes as source: its build needs the pinned setuptools, not the newest, and takes half as long where the jars
# that it packs and unpacks at once are not compressed anew.
$(STAMP): export DIST_EXTRA_CONFIG := $(CURDIR)/requirements/build.cfg
$(STAMP): requirements/all.txt requirements/build.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 10) \
		else "Python 3.10 or newer is needed: make PYTHON=python3.x")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) --require-hashes -r requirements/build.txt
	$(call INSTALL,--no-build-isolation --require-hashes -r requirements/all.txt)
	$(call INSTALL,--no-build-isolation --no-deps -e .)
	touch $@

ALL := --extra spark --extra notebook --extra panel --extra graphviz --extra polars --extra mcp --extra keyring
COMPILE := $(BIN)/uv pip compile -q --universal --generate-hashes --python-version 3.10 --no-emit-index-url --no-header
requirements: $(STAMP)  ## compile the pinned requirements anew, for Python 3.10 to 3.13
	$(COMPILE) requirements/build.in -o requirements/build.txt
	$(COMPILE) $(ALL) --group dev pyproject.toml -o requirements/all.txt
	$(COMPILE) requirements/docs.in -o requirements/docs.txt
	$(COMPILE) requirements/readers.in -o requirements/readers.txt
	$(COMPILE) requirements/connect.in -o requirements/connect.txt
	$(COMPILE) --extra all pyproject.toml -c requirements/all.txt --annotation-style line -o requirements/run.txt

clean:
	rm -rf .venv .venv-docs .venv-readers .venv-connect site test-artifacts
