"""One browser's conversation with the server: requests come, answers and progress go. A host carries the messages.

A session holds nothing that a browser cannot ask for again: tables that are open, graphs, answers whose rows are asked
for. So a new session goes on where one that was lost ended. The run of the lab is the exception: it ends with its
session, and a page plays it again in a new one."""

from __future__ import annotations

import json
import os
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from functools import cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from explorer.app import graphs, protocol
from explorer.app.blocks import ShownAnswer
from explorer.app.downloads import file_of
from explorer.app.error_messages import error_message
from explorer.app.forms import groups, is_asked, questions, read_arguments
from explorer.app.graph_state import GraphState, ViewState
from explorer.app.kept_tables import KEPT_TABLES
from explorer.app.protocol import (
    AddCatalog,
    Ask,
    BadMessage,
    Cancel,
    Catalogs,
    DrawGraph,
    GetFacts,
    GetOffers,
    GetPreview,
    GetRows,
    Hello,
    Open,
    Request,
    UseCredentials,
    UseLab,
    read_request,
)
from explorer.app.rights import Rights
from explorer.app.start import TABLE_VARIABLE, catalog_names, header, namespaces, tables, teaching_tables
from explorer.errors import AccessRefused, ExplorerError, NotPossible, TableNotFound, WrongUsage
from explorer.progress import BytesRead, as_one_step, check_cancellation
from explorer.questions import QUESTIONS, Question
from explorer.questions.offers import offers
from explorer.questions.parameters import CatalogAt, TableAt
from explorer.render.svg import vocabulary
from explorer.render.text import clean_lines
from explorer.serving import places
from explorer.serving.pools import AWAY, CLICKS, ELSEWHERE, HERE, Pool, PoolTask
from explorer.spark_engine.spark import shared_engine
from explorer.storage.catalogs import catalogs
from explorer.storage.catalogs.credentials import CREDENTIALS, check_credentials, check_whole
from explorer.storage.catalogs.new_catalogs import SCHEMES, SETTINGS, add_new, check_form
from explorer.storage.catalogs.sandbox_entries import SANDBOX
from explorer.storage.locate import names_a_path, parse_move
from explorer.storage.processor_time import within_limit
from explorer.table import Table

if TYPE_CHECKING:
    from explorer.app.lab import Lab

MOST_TABLES, MOST_GRAPHS, MOST_ANSWERS = 4, 12, 12
"""Tables, graphs and answers that a session keeps: the newest."""
MOST_CATALOGS = 8
"""Catalogs for which it keeps credentials."""
MOST_NAME = 10_000
"""Characters of a table's name."""
MOST_WAITING, LOOK_S = 32, 0.1
"""Requests of one session that are under way."""
NOT_SAVED = ("write", "measure", "engines")
ON_SPARK = {("data", "duplicates")}
"""Questions that Spark answers, beside those that read rows."""
"""Arguments by which a question writes, or runs in Spark: no link asks it."""
QUIET_S, TICK_S = 0.4, 0.25
"""What is over sooner than the first shows no progress; what takes longer shows it anew after each of the second."""
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Kept(OrderedDict[K, V]):
    """The newest values, so many at most."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        while len(self) > self._most:
            self.popitem(last=False)


class Session:
    """One conversation.

    Args:
        send: Takes a message to the browser, as JSON text; it is called from any thread.
        rights: What the session may do.
        who: Who asks, for the log of what is run.
        visitor: From where, as far as it is known: all sessions of a visitor share its part of the server.
        owner: Who owns the copies of teaching tables that the session makes: a secret of one browser. Without it, they
            belong to the session.
        given: Tables that are open already, by their names.
    """

    def __init__(
        self,
        send: Callable[[str], None],
        rights: Rights,
        who: str = "",
        visitor: str = "",
        owner: str = "",
        given: Mapping[str, Table] = MappingProxyType({}),
    ) -> None:
        self._send, self.rights, self._who, self._visitor = send, rights, who, visitor
        self._owner = owner or secrets.token_urlsafe(16)
        self._given = dict(given)
        self._read = BytesRead()
        self._lab: Lab | None = None
        self._is_closed = False
        self._tasks: dict[int, PoolTask] = {}
        self._on_spark: set[int] = set()
        """The requests that may wait for Spark."""
        self._tables: Kept[str, Table] = Kept(MOST_TABLES)
        self._graphs: Kept[tuple[str, ...], GraphState] = Kept(MOST_GRAPHS)
        self._answers: Kept[tuple[str, ...], ShownAnswer] = Kept(MOST_ANSWERS)
        self._moves: Kept[str, tuple[tuple[str, str], ...]] = Kept(MOST_TABLES)
        self._credentials: Kept[str, dict[str, str]] = Kept(MOST_CATALOGS)
        """Those that its person gave, by the name of the catalog: in memory only, and for this session only."""
        self._under_way: dict[tuple[str, ...], threading.Event] = {}
        self._lock = threading.RLock()

    def handle(self, text: str | bytes) -> None:
        """Take a message of the browser; the answer is sent when it is there.

        Args:
            text: The message.

        Raises:
            BadMessage: It is none that a page of ours sends, and has no number to answer to.
        """
        try:
            request = read_request(text)
        except BadMessage as error:
            if not error.request:
                raise
            self._put(protocol.error(error.request, str(error), "usage"))
            return
        if isinstance(request, Cancel):
            if (task := self._tasks.get(request.request)) is not None:
                task.cancel()
            return
        if request.id in self._tasks:
            self._put(protocol.error(request.id, "a request with this number is under way", "usage"))
            return
        if len(self._tasks) >= MOST_WAITING:
            self._put(protocol.error(request.id, "too many requests are under way: wait for their answers"))
            return
        pool = self._pool(request)
        task = pool.submit(partial(self._answer, request), self, self._who, self._visitor)
        self._tasks[request.id] = task
        if pool is ELSEWHERE:
            self._on_spark.add(request.id)
        task.when_over(partial(self._end, request.id, task))
        Ticker.watch(self)

    def close(self) -> None:
        """Nobody listens any more: stop what is under way."""
        self._send, self._is_closed = _nowhere, True
        for task in list(self._tasks.values()):
            task.cancel()
        for kept in (self._given, self._tables, self._graphs, self._answers, self._moves, self._credentials):
            kept.clear()  # what refers to one another stays in memory until Python looks for it
        KEPT_TABLES.remove(self)
        if self._lab is not None:
            ELSEWHERE.submit(self._lab.close, self, self._who, self._visitor)

    @property
    def is_busy(self) -> bool:
        """Whether an answer is still to come."""
        return bool(self._tasks)

    def tell_progress(self) -> None:
        """Send how far the answers are that take long."""
        for number, task in list(self._tasks.items()):
            now = task.progress()
            if not task.over and now.seconds >= QUIET_S:
                spark = shared_engine().state if number in self._on_spark else None
                waits_for = spark.waiting_words if spark and spark.phase != "stopped" else ""
                text = clean_lines(waits_for or str(now).removeprefix("running, "))
                self._put(protocol.progress(number, text, now.done, now.total))

    def download(self, request: Ask, form: str, block: int = 0) -> PoolTask:
        """Write the answer to a question as a file.

        Args:
            request: The question.
            form: How: one of downloads.TYPES.
            block: Which of its lists of rows, where the file has rows.

        Returns:
            Work whose result is the file.

        Raises:
            NotPossible: The question writes.
            WrongUsage: There is no such question.
        """
        return self.answer(request, lambda shown: file_of(shown, form, block))

    def answer(self, request: Ask, make: Callable[[ShownAnswer], Any]) -> PoolTask:
        """Answer a question that reads, for something else than a page.

        Args:
            request: The question.
            make: Makes of the answer what is wanted, within the limits of the question.

        Returns:
            Work whose result is what `make` returns.

        Raises:
            NotPossible: The question writes.
            WrongUsage: There is no such question.
        """
        if _question(request.question).is_writing or any(request.arguments.get(name) for name in NOT_SAVED):
            raise NotPossible("this answer is not saved: the question would write or run again")

        def work() -> Any:
            return make(self._answered(request))

        def limited() -> Any:
            return within_limit(work, self._read) if self._is_limited(request) else work()

        return self._pool(request).submit(limited, self, self._who, self._visitor)

    # -- under way ----------------------------------------------------------------------------------------------------
    def _pool(self, request: Request) -> Pool:
        if isinstance(request, Catalogs | AddCatalog | UseCredentials | Open):
            return AWAY
        if isinstance(request, UseLab):
            from explorer.app.lab import pool_of

            return pool_of(request.action)
        if isinstance(request, DrawGraph) and request.mode not in ("table", "lab") and not request.action:
            return HERE
        if not isinstance(request, Ask | GetRows):
            return CLICKS
        question = QUESTIONS.get(tuple(request.question.split(" ")))
        if question is None:
            return HERE
        reads_rows = question.reads_rows or any(request.arguments.get(name) for name in (*NOT_SAVED, "sql"))
        reads_rows = reads_rows or question.path in ON_SPARK
        on_spark = reads_rows or question.is_writing or request.arguments.get("engine") == "spark"
        return ELSEWHERE if on_spark or question.path[0] == "catalog" else HERE

    def _end(self, number: int, task: PoolTask) -> None:
        self._tasks.pop(number, None)
        self._on_spark.discard(number)
        try:
            message = protocol.text_of(protocol.answer(number, task.result()))
        except Exception as error:
            message = protocol.text_of(error_message(number, error))
        self._send(message)

    def _put(self, message: dict[str, Any]) -> None:
        self._send(protocol.text_of(message))

    # -- answers, on a pool's thread -----------------------------------------------------------------------------------
    def _answer(self, request: Request) -> Any:
        answers: dict[type[Any], Callable[[Any], Any]] = {
            Hello: self._hello, Catalogs: self._catalogs, AddCatalog: self._add_catalog,
            UseCredentials: self._use_credentials, Open: self._open, GetFacts: self._facts,
            DrawGraph: self._draw, Ask: self._ask, GetRows: self._rows, GetOffers: self._offer, UseLab: self._use_lab,
            GetPreview: self._preview,
        }  # fmt: skip
        if self._pool(request) is ELSEWHERE:
            shared_engine().revive()
        work = partial(answers[type(request)], request)
        data = within_limit(work, self._read) if self._is_limited(request) else work()
        table = self._tables.get(request.table) if isinstance(request, DrawGraph | Ask | GetRows) else None
        return data if table is None else {**data, "lacks": clean_lines(table.tree.lacks)}

    def _is_limited(self, request: Request) -> bool:
        """Whether the answer may take no more of the processor than its table or view is worth: not what writes, what
        is of all tables of a catalog (each of them has its own limit), nor what is of a table of the notebook's own."""
        if isinstance(request, Ask | GetRows):
            question = _question(request.question)
            writes = question.is_writing or any(request.arguments.get(name) for name in NOT_SAVED)
            if writes or question.is_of_all_tables(request.arguments):
                return False
        elif isinstance(request, UseLab | Catalogs | AddCatalog | UseCredentials) or (
            isinstance(request, DrawGraph) and request.mode == "lab"
        ):
            return False
        return getattr(request, "table", "") not in self._given

    def _hello(self, _: Hello) -> dict[str, Any]:
        return {
            **_what_can_be_asked(self.rights),
            "rights": {
                "sql": self.rights.sql,
                "lab": self.rights.lab,
                "moves": not places.is_restricted(),
                "catalogs": self.rights.catalogs,
            },
            "catalogs": catalog_names(),
            "catalog_types": list(SCHEMES),
            "catalog_settings": list(SETTINGS),
            "credentials": list(CREDENTIALS),
            "teaching": teaching_tables(),
            "table": os.environ.get(TABLE_VARIABLE, ""),
        }

    def _catalogs(self, request: Catalogs) -> dict[str, Any]:
        if not request.catalog:
            return {"catalogs": catalog_names()}
        places.check_catalog(request.catalog, ".".join(request.namespace))
        credentials = self._credentials.get(request.catalog)
        if not request.namespace:
            return {"namespaces": namespaces(request.catalog, credentials)}
        return {"tables": tables(request.catalog, request.namespace, credentials)}

    def _add_catalog(self, request: AddCatalog) -> dict[str, Any]:
        if not self.rights.catalogs:
            raise AccessRefused("No catalog is added here: who runs this server adds them.")
        check_form(request.properties)
        check_credentials({**dict.fromkeys(request.secrets, "named"), **request.typed, **request.own})
        check_whole(request.own, request.properties)
        _, count = add_new(request.name, request.properties, request.secrets, request.typed, own=request.own)
        self._keep_credentials(request.name.lower(), dict(request.own))
        return {"catalogs": catalog_names(), "namespaces": count}

    def _use_credentials(self, request: UseCredentials) -> dict[str, Any]:
        """Keep credentials of a catalog that is configured here, once they have opened it."""
        catalog, credentials = request.catalog, dict(request.credentials)
        if catalog not in catalog_names() or catalog == SANDBOX:
            raise WrongUsage(f"there is no catalog {catalog[:60]!r} that takes credentials")
        check_credentials(credentials)
        check_whole(credentials, catalogs.properties(catalog))
        count = len(namespaces(catalog, credentials)) if credentials else None
        self._keep_credentials(catalog, credentials)
        return {"namespaces": count}

    def _keep_credentials(self, catalog: str, credentials: dict[str, str]) -> None:
        """Keep credentials in place of those before; the catalog's tables are opened anew, and its answers asked."""
        with self._lock:
            before = self._credentials.pop(catalog, None)
            if credentials:
                self._credentials[catalog] = credentials
            tables = self._tables.items() if before != credentials else ()
            opened = [name for name, table in tables if table.reader.location.catalog == catalog]
            if before != credentials:
                self._answers.clear()
        KEPT_TABLES.remove(self, opened)
        for name in opened:
            self._forget(name)

    def _credentials_for(self, table: str) -> dict[str, str] | None:
        """Those that its person gave for the catalog that a table's name has; no other catalog gets them."""
        if not self._credentials or names_a_path(table):
            return None
        with suppress(TableNotFound):
            catalog = catalogs.split(table)[0]
            if table.startswith(f"{catalog}."):  # as the page knows it: it offers no link to what needs credentials
                return self._credentials.get(catalog)
        return None

    def _open(self, request: Open) -> dict[str, Any]:
        moves = tuple(parse_move(move) for move in request.moves)
        if not request.table:
            raise WrongUsage("name a table")
        with self._lock:
            kept = self._tables.get(request.table)
        if request.table in self._given:  # at first as it was opened
            table = self._given[request.table] if kept is None else kept.refresh()
            self._given[request.table] = table
        else:
            table = self._found(request.table, moves)
        with self._lock:
            self._moves[request.table] = moves
        self._keep(request.table, table)
        return self._header(table, request)

    def _header(self, table: Table, request: Open | GetFacts) -> dict[str, Any]:
        return {**header(table, request.table, request.snapshot), "writing": self._writing(table)}

    def _writing(self, table: Table) -> str:
        """Whether the session may change a table (`here`), only a copy of it (`copy`), or neither."""
        if not self.rights.lab:
            return ""
        from explorer.app.copies import OWNERS

        return OWNERS.writing(table, self._owner)

    def _facts(self, request: GetFacts) -> dict[str, Any]:
        return self._header(self._table(request.table), request)

    def _table(self, name: str) -> Table:
        """Return a table, opened now if it is not open. Raises ExplorerError."""
        with self._lock:
            if (table := self._tables.get(name)) is not None:
                return table
        moves = self._moves.get(name, ())
        if not name:
            raise WrongUsage("this question is about a table: open one")
        table = self._given[name] if name in self._given else self._found(name, moves)
        self._keep(name, table)
        return table

    def _keep(self, name: str, table: Table) -> None:
        """Keep a table open, if need be in place of others, also of other pages."""
        with self._lock:
            before = set(self._tables)
            self._tables[name] = table
            gone = before - set(self._tables)
        KEPT_TABLES.remove(self, gone)
        if name not in self._given and not self._is_closed:
            visitor = self._visitor or self._owner
            KEPT_TABLES.note(self, visitor, name, table.metadata.memory, partial(self._forget, name))
            if self._is_closed:  # meanwhile
                KEPT_TABLES.remove(self)

    def _forget(self, name: str) -> None:
        """Keep a table no more, nor what is known of it: who asks again opens it anew."""
        with self._lock:
            self._tables.pop(name, None)
            for graph in [key for key in self._graphs if key[0] == name]:
                del self._graphs[graph]
            for answer in [key for key in self._answers if key[1] == name]:
                del self._answers[answer]

    def _found(self, name: str, moves: tuple[tuple[str, str], ...]) -> Table:
        """Open a table by its name. Raises ExplorerError."""
        if len(name) > MOST_NAME:
            raise WrongUsage(f"a table's name has at most {MOST_NAME:,} characters")
        places.check("" if name == os.environ.get(TABLE_VARIABLE) else name, moves)
        own = self._credentials_for(name)
        table = TableAt(name, properties=own, relocate=moves).open()
        if own != self._credentials_for(name):  # others were given meanwhile, or these taken back
            return self._found(name, moves)
        return table

    def _draw(self, request: DrawGraph) -> dict[str, Any]:
        if request.mode == "lab":
            run = self._lab.draw(request.action) if self._lab else None
            return {"same": True} if run is None else graphs.shown(run)
        table, key = self._table(request.table), graphs.key_of(request)
        with self._lock:
            state = self._graphs.get(key)
        if isinstance(state, ViewState) and request.mode == "table" and state.table is not table:
            state = state.copied()
            state.move_to(table)
        if state is None or state.table is not table:
            state = graphs.make(table, request, partial(self._value, request))
        elif not request.action and request.mode == "table":
            state = graphs.follow(state, request)
        if request.action:
            later = graphs.carry_out(state, request.action)
            if later is None:
                return {"same": True}
            state = later
        with self._lock:
            self._graphs[key] = state
        self._keep(request.table, state.table)
        return graphs.shown(state)

    def _preview(self, request: GetPreview) -> dict[str, Any]:
        tree = DrawGraph(request.id, request.table, snapshot=request.snapshot, levels=False)
        state = graphs.make(self._table(request.table), tree, partial(self._value, tree))
        return {"preview": graphs.preview(state, request.kind, request.key)}

    def _value(self, request: DrawGraph, question: str, arguments: Mapping[str, Any]) -> Any:
        """Return what a question about the table of a graph is answered with."""
        return self._answered(Ask(request.id, question, request.table, arguments=arguments)).result.value

    def _ask(self, request: Ask) -> dict[str, Any]:
        return self._answered(request).to_json()

    def _rows(self, request: GetRows) -> dict[str, Any]:
        pages = self._answered(request).rows(request.block)
        if pages is None:
            raise NotPossible("this part of the answer is no list of rows")
        return pages.page(request.start, request.count, request.sort, request.descending, request.filter)

    def _answered(self, request: Ask | GetRows) -> ShownAnswer:
        """Return the answer to a question; one that writes is asked each time."""
        question = _question(request.question)
        about = (request.table, request.catalog)
        key = (request.question, *about, json.dumps(dict(request.arguments), sort_keys=True))
        table = self._table(request.table) if question.subject == "table" else None
        with self._lock:
            kept = self._answers.get(key)
        is_same = kept is not None and (question.is_writing or kept.table is table)
        if kept is not None and is_same and isinstance(request, GetRows):
            return kept
        self.rights.check(question, request.arguments)
        arguments = read_arguments(question, request.arguments)
        if isinstance(request, GetRows) and question.is_writing:
            raise NotPossible("the rows of this answer are gone: ask again")
        if question.is_writing or question.is_endless:
            return self._make_answer(question, request, table, arguments, key)
        while (under_way := self._begin(key)) is not None:  # the graph and the answer of a mode ask the same
            while not under_way.wait(LOOK_S):
                check_cancellation()
            with self._lock:
                kept = self._answers.get(key)
            if kept is not None and kept.table is table:
                return kept
        try:
            return self._make_answer(question, request, table, arguments, key)
        finally:
            with self._lock:
                self._under_way.pop(key).set()

    def _begin(self, key: tuple[str, ...]) -> threading.Event | None:
        """Begin to answer a question; if it is being answered, return what says when it is."""
        with self._lock:
            if key in self._under_way:
                return self._under_way[key]
            self._under_way[key] = threading.Event()
            return None

    def _make_answer(
        self, question: Question, request: Ask | GetRows, table: Table | None, arguments: dict[str, Any],
        key: tuple[str, ...],
    ) -> ShownAnswer:  # fmt: skip
        if question.is_writing:
            result = self._write(question, request, table, arguments)
            table = self._tables.get(request.table)
        elif question.subject:
            result = question.ask(self._subject(question, request, table), **arguments)
        else:
            result = question.ask(**arguments)
        answer = ShownAnswer(result, table)
        with self._lock:
            self._answers[key] = answer
        return answer

    def _write(self, question: Question, request: Ask | GetRows, table: Table | None, given: dict[str, Any]) -> Any:
        """Ask a question that writes. What changes a table is carried out completely; then the table is read anew."""
        from explorer.app.copies import OWNERS

        if table is None:
            result = question.ask(**given)
            if question.path == ("lab", "copy"):
                OWNERS.note(f"{SANDBOX}.{result.value}", self._owner)
            return result
        OWNERS.check(table, self._owner)
        try:
            with as_one_step():
                return question.ask(table, **given)
        finally:
            with suppress(ExplorerError):
                self._keep(request.table, table.refresh())

    def _use_lab(self, request: UseLab) -> dict[str, Any]:
        if not self.rights.lab and request.action != "choices":
            raise AccessRefused("Nothing is written here: the server was started without --allow-lab.")
        if request.action == "reset":
            return {"table": self._reset(request.arguments.get("table"))}
        from explorer.app.lab import Lab

        with self._lock:
            self._lab = self._lab or Lab()
        return self._lab.act(request.action, request.arguments)

    def _reset(self, name: Any) -> str:
        """Replace a copy of a teaching table by a new one; return its name."""
        from explorer.app.copies import OWNERS
        from explorer.lab.scenarios import reset_copy

        table = self._table(str(name))
        OWNERS.check(table, self._owner)
        copy = reset_copy(table.name)
        OWNERS.note(f"{SANDBOX}.{copy}", self._owner)
        return copy

    def _subject(self, question: Question, request: Ask | GetRows, table: Table | None) -> Any:
        if question.subject == "table":
            return table
        if question.subject == "catalog":
            places.check_catalog(request.catalog or SANDBOX, str(request.arguments.get("namespace") or ""))
            return CatalogAt(request.catalog or SANDBOX, self._credentials.get(request.catalog))
        opened = self._table(request.table) if request.table in self._given else self._tables.get(request.table)
        moves = self._moves.get(request.table, ())
        if opened is None:
            places.check(request.table, moves)
        own = self._credentials_for(request.table)
        return TableAt(request.table, properties=own, relocate=moves, opened=opened)

    def _offer(self, request: GetOffers) -> dict[str, Any]:
        return {"values": offers(request.kind, self._table(request.table), request.text, 200)}  # type: ignore[arg-type]


@cache
def _what_can_be_asked(rights: Rights) -> dict[str, Any]:
    """What is the same for all sessions of these rights."""
    return {
        "version": protocol.VERSION,
        "vocabulary": vocabulary(),
        "groups": groups(),
        "questions": questions(rights),
    }


def _question(words: str) -> Question:
    question = QUESTIONS.get(tuple(words.split(" ")))
    if question is None or not is_asked(question):
        raise WrongUsage(f"there is no question {words[:60]!r}")
    return question


def _nowhere(_: str) -> None:
    """Where messages of a session that is closed go."""


class Ticker:
    """Tells the sessions that wait for answers how far these are, on a thread of its own."""

    _sessions: ClassVar[set[Session]] = set()
    _lock: ClassVar[threading.Lock] = threading.Lock()
    _thread: ClassVar[threading.Thread | None] = None

    @classmethod
    def watch(cls, session: Session) -> None:
        """Look after a session until it has its answers."""
        with cls._lock:
            cls._sessions.add(session)
            if cls._thread is None:
                cls._thread = threading.Thread(target=cls._run, name="progress", daemon=True)
                cls._thread.start()

    @classmethod
    def _run(cls) -> None:
        pause = threading.Event()
        while True:
            pause.wait(TICK_S)
            with cls._lock:
                cls._sessions = {session for session in cls._sessions if session.is_busy}
                if not cls._sessions:
                    cls._thread = None
                    return
                waiting = list(cls._sessions)
            for session in waiting:
                session.tell_progress()
