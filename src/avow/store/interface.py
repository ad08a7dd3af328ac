"""What a store must do. Everything above speaks to this, never to a database."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from avow.store.claims import Claim
from avow.store.grants import TokenOf
from avow.store.past import Lapse, Look, Past, Quota, Use
from avow.store.questions import Judge, Said, Sign
from avow.store.rows import (
    AnswerRow,
    ApiKeyRow,
    ApprovalRow,
    DefinitionRow,
    GrantRow,
    Head,
    Known,
    QuarantineRow,
    RecordRow,
    ReplicaRow,
    WriterRow,
)
from avow.store.session import Row
from avow.store.sieve import Sieve

Note = Callable[[Sequence[RecordRow], int], RecordRow]
"""Makes the record of an erasure, from what was erased and how many questions went."""

Asked = Callable[[ApprovalRow], RecordRow | None]
"""Makes the record that a call puts, or joins, a question; `None` where it did so before."""

Finish = Callable[[Sequence[RecordRow]], Sequence[RecordRow]]
"""Makes the last records of calls from their attempts."""


class Commit(NamedTuple):
    """What became of one group: how many jobs it had, how many failed, and how long it took."""

    jobs: int
    failed: int
    seconds: float


class LogView(Protocol):
    """The log as a transaction sees it, for the first record of a chain."""

    def ends(self) -> list[tuple[int, Head]]:
        """Return the last record of each chain, with its number."""
        ...

    def about_itself(self, events: Sequence[str]) -> Iterator[RecordRow]:
        """Iterate over the records of no call that have one of these events, newest first."""
        ...

    def rows(self) -> Iterator[RecordRow]:
        """Iterate over all records, oldest first."""
        ...


class Seal(Protocol):
    """Gives records their places in one writer's chain, in the order in which they are written.

    Called from the store's own thread, by one job at a time.
    """

    @property
    def writer(self) -> str:
        """Whose chain it is."""
        ...

    @property
    def is_in_doubt(self) -> bool:
        """Whether the last records may or may not have been written."""
        ...

    @property
    def is_new(self) -> bool:
        """Whether the chain still needs its first record."""
        ...

    def first(self, log: LogView) -> list[RecordRow]:
        """Return what is written before the first record of the chain, in one transaction with it.

        Its records are sealed like any others.
        """
        ...

    def recall(self, head: Head | None) -> None:
        """Learn where the chain stands in the store.

        Raises `StoreError` when that is neither where it stood nor where it would stand now.
        """
        ...

    def seal(self, records: Sequence[RecordRow]) -> list[RecordRow]:
        """The records with their places. They count once `settle(is_written=True)` follows."""
        ...

    def settle(self, *, is_written: bool | None) -> None:
        """What became of the records sealed since the last call; `None` when nobody knows."""
        ...


class Store(Protocol):
    """Records that last, and questions that are answered and used exactly once.

    Every method raises `StoreError` when the database fails, and then nothing was written, unless
    the error says that nobody knows. A cancelled caller may find its write done or not done,
    never half done. What is written at the same time shares one commit.
    """

    @property
    def where(self) -> str:
        """The database as a person may read it, without a password."""
        ...

    @property
    def queued(self) -> int:
        """How much waits to be written by this process."""
        ...

    def measure(self, told: Callable[[Commit], None]) -> None:
        """Tell of each commit from now on, from the store's own thread."""
        ...

    async def append(
        self, records: Sequence[RecordRow], *, seal: Seal | None = None, is_deferred: bool = False
    ) -> None:
        """Add records; they are on disk when this returns.

        A `seal` that is new gets its first record with them; with no records it gets one only
        where all records so far are in no chain, since nothing protects those.

        Deferred ones are on disk a moment later, and are seen by whoever reads here. Where that
        failed, the next call of `append` raises.
        """
        ...

    async def begin(
        self,
        records: Sequence[RecordRow],
        use: Use,
        *,
        quotas: Sequence[Quota] = (),
        seal: Seal | None = None,
        is_deferred: bool = False,
    ) -> Quota | Lapse | None:
        """Add records of a call that is about to be sent, and note it for later calls.

        Gives the quota that it would exceed, or the grant that does not hold any more, and then
        nothing was written. Deferred ones are as in `append`, and have neither.
        """
        ...

    async def look(self, at: Look) -> Past:
        """What a caller has done."""
        ...

    async def records(self, *, call: str | None = None, limit: int = 100) -> list[RecordRow]:
        """The newest records, newest first."""
        ...

    async def scan(self, after: int, limit: int) -> list[RecordRow]:
        """The records after the sequence number `after`, oldest first."""
        ...

    async def sift(
        self, sieve: Sieve, first: int, last: int, *, limit: int, is_rising: bool = False
    ) -> list[RecordRow]:
        """Calls by their last lines: those that a sieve lets through, newest first.

        Looks at the sequence numbers `first` to `last`; `is_rising` begins with the oldest. Lines
        that are about no call stand for themselves.
        """
        ...

    async def of_calls(self, calls: Sequence[str]) -> list[RecordRow]:
        """All records of some calls, oldest first."""
        ...

    async def bounds(self) -> tuple[int, int]:
        """The first and the last sequence number; of an empty log, 1 and 0."""
        ...

    async def place_of(self, at: float) -> int:
        """The sequence number from which on records are of `at`, in Unix seconds, or later.

        Around it, records of several writers may be out of order by what their clocks differ.
        """
        ...

    async def count(self) -> int:
        """How many records there are."""
        ...

    async def load(
        self,
        records: Sequence[RecordRow],
        approvals: Sequence[ApprovalRow] = (),
        others: Mapping[str, Sequence[Row]] | None = None,
    ) -> None:
        """Put rows of another store here as they are, with their numbers."""
        ...

    async def dump(self) -> dict[str, list[Row]]:
        """The rows of all other tables, for `load` elsewhere."""
        ...

    async def tally(
        self, *, subject: str | None = None, before: float | None = None
    ) -> list[tuple[str | None, int]]:
        """How many records there are of each subject, the most first; `None` is of no person.

        Only those of one subject, or from before a moment in Unix seconds, where that is given.
        """
        ...

    async def heads(self) -> list[Head]:
        """The last record of each chain."""
        ...

    async def beat(self, writer: str, owner: str, *, seconds: float) -> None:
        """Say that the writer lives, and that it may be taken for dead after so many seconds."""
        ...

    async def writers(self) -> list[WriterRow]:
        """The writers that nobody has said are gone."""
        ...

    async def take_over(self, writer: str, *, finish: Finish, seal: Seal) -> int | None:
        """Take a writer off the list and finish its calls, in one transaction.

        Add what `finish` makes of the last attempts of calls without an outcome, oldest first.
        Return their number, or `None` if another process was faster.
        """
        ...

    async def finish(self, writer: str, *, finish: Finish, seal: Seal) -> int:
        """Add what `finish` makes of a writer's calls without an outcome, as above.

        In one transaction; the writer stays on the list. Gives how many lines were added.
        """
        ...

    async def erase(self, subject: str, *, now: float, note: Note, seal: Seal) -> tuple[int, int]:
        """Erase the payloads of one subject and the questions that are over, and note that.

        All in one transaction. Gives how many records lost their payload, and how many questions
        are still open.
        """
        ...

    async def prune(
        self, upto: Mapping[str, int], *, before: float, note: RecordRow, seal: Seal
    ) -> int:
        """Drop each writer's records up to an index, and older questions, and note that.

        The writer `""` stands for records outside any chain, up to a sequence number. Gives how
        many records went.
        """
        ...

    async def open_approval(  # noqa: PLR0913 - each is a part of its own, most with a default
        self,
        binding: str,
        body: str,
        *,
        now: float,
        expires: float,
        needed: int = 1,
        idle: float = 0.0,
        asked: Asked | None = None,
        seal: Seal | None = None,
        sign: Sign | None = None,
        judge: Judge | None = None,
        most: int | None = None,
    ) -> ApprovalRow:
        """The open question of this binding, or a new one, that `needed` people must answer.

        While it is pending, the record that `asked` makes of it is written with it. Open is what
        is pending, approved and not used, or denied a short while ago. If `body` names who asks,
        their conversation goes on by this; `idle` seconds end one.
        `sign` signs a new question. A row that `judge` rejects is voided, and asked again.
        Raises `DeniedError` for a new one if `most` questions of its subject are pending already.
        """
        ...

    async def pending_among(self, numbers: Collection[int], *, now: float) -> set[int]:
        """Return those of some questions that still wait for an answer."""
        ...

    async def approval(self, number: int, *, now: float) -> ApprovalRow | None:
        """One question as it stands at `now`."""
        ...

    async def approvals(self, *, now: float, limit: int = 100) -> list[ApprovalRow]:
        """The newest questions, the pending ones first."""
        ...

    async def pending(self, *, now: float, limit: int, after: int = 0) -> list[ApprovalRow]:
        """Return waiting questions, one of each subject in turn, oldest first, `after` one."""
        ...

    async def settled(
        self, *, now: float, limit: int, before: int | None = None
    ) -> list[ApprovalRow]:
        """The newest questions that wait no longer, of those `before` a number."""
        ...

    async def count_pending(self, *, now: float) -> int:
        """How many questions wait for an answer."""
        ...

    async def answer_approval(self, said: Said) -> bool:
        """Answer a pending question; whether this answer counts."""
        ...

    async def withdraw_approval(
        self, number: int, *, now: float, token: str | None = None, notify: str | None = None
    ) -> bool:
        """Let a question expire now, answered or not; `False` where it was over or used.

        `token` is spent with it, and `notify` is the channel on which other processes are told.
        """
        ...

    async def answers(self, number: int) -> list[AnswerRow]:
        """What was said to one question, oldest first."""
        ...

    async def use_approval(
        self,
        number: int,
        *,
        binding: str,
        call: str,
        now: float,
        token: str | None = None,
        expires: float = 0.0,
    ) -> bool:
        """Use an approval for one call; whether it was there to use.

        `token`, void from `expires` on, is spent in the same transaction; spent before, the
        approval is not there to use.
        """
        ...

    async def find_grant(
        self, narrow: str, wide: str, *, alive: float, token_of: TokenOf | None = None
    ) -> GrantRow | None:
        """A grant that holds for one of two bindings.

        One for a conversation holds while that went on since `alive`, in Unix seconds. With
        `token_of`, a grant counts only if that gives its token and the token is not spent.
        """
        ...

    async def use_grant(self, number: int, *, now: float, alive: float) -> bool:
        """Count one use of a grant; whether it still holds."""
        ...

    async def revoke_grant(
        self,
        number: int,
        *,
        by: str,
        now: float,
        token: str | None = None,
        record: RecordRow | None = None,
        seal: Seal | None = None,
    ) -> bool:
        """Take a grant back, spend its `token` and write `record`; whether it was there to take.

        If it was not, nothing was written.
        """
        ...

    async def grants(self, *, limit: int = 100, alive: float = 0.0) -> list[GrantRow]:
        """The newest grants, those that were not revoked first.

        One for a conversation holds while that went on since `alive`, in Unix seconds.
        """
        ...

    async def claim(self, wanted: Claim, *, now: float) -> Claim:
        """Take a key for a call; whoever has it is returned, and that is `wanted` or another."""
        ...

    async def running_claims(self, keys: Collection[str]) -> set[tuple[str, str]]:
        """Return those of some keys whose call goes on, each with that call.

        A call goes on as long as its key has no answer, and the log has no outcome of it.
        """
        ...

    async def find_claim(self, key: str) -> Claim | None:
        """Who has a key."""
        ...

    async def settle_claim(self, key: str, call: str, answer: str | None) -> None:
        """Keep the answer of the call that has a key; without one, let go of the key."""
        ...

    async def spend(self, token: str, *, now: float, expires: float) -> bool:
        """Use up a token; whether it was there to use."""
        ...

    async def add_api_key(self, row: ApiKeyRow) -> None:
        """Write an API key that was just made."""
        ...

    async def find_api_key(self, number: str) -> ApiKeyRow | None:
        """The API key of this id, whether it holds or not."""
        ...

    async def api_keys(self) -> list[ApiKeyRow]:
        """All API keys by name, those that were not revoked first."""
        ...

    async def revoke_api_keys(self, which: str, *, by: str, now: float) -> int:
        """Take back the API key of an id, or all of a name; how many there were to take."""
        ...

    async def touch_api_key(self, number: str, *, at: float) -> None:
        """Note that an API key was used about then."""
        ...

    async def known(self, place: str) -> dict[str, Known]:
        """What is known of each tool of the server at `place`, by name and in short."""
        ...

    async def definitions(
        self, place: str | None = None, *, is_held: bool = False
    ) -> list[DefinitionRow]:
        """The tools of one server or of all, or only those that wait for a person."""
        ...

    async def put_definitions(self, rows: Sequence[DefinitionRow]) -> None:
        """Remember tools as they are defined; each either new, or one revision further.

        A row that somebody else has written in the meantime stays.
        """
        ...

    async def accept_definition(
        self, row: DefinitionRow, *, by: str, now: float, record: RecordRow, seal: Seal | None
    ) -> bool:
        """Have what is held of a tool count from now on, and write `record`.

        Whether it was still that; else nothing was written.
        """
        ...

    async def quarantines(self, place: str | None = None) -> list[QuarantineRow]:
        """The tools of one server or of all that are in quarantine."""
        ...

    async def quarantine(self, row: QuarantineRow, *, record: RecordRow, seal: Seal | None) -> bool:
        """Put a tool into quarantine and write `record`; `False` where it is there already."""
        ...

    async def lift_quarantine(
        self, row: QuarantineRow, *, record: RecordRow, seal: Seal | None
    ) -> bool:
        """Take a tool out of quarantine and write `record`; whether it was in that one."""
        ...

    async def is_spent(self, token: str) -> bool:
        """Whether a token was used up; one that became void long ago may be forgotten."""
        ...

    async def beat_replica(self, row: ReplicaRow, *, seconds: float) -> None:
        """Say that a process is there, and that it may be taken for gone after so many seconds."""
        ...

    async def replicas(self) -> list[ReplicaRow]:
        """The processes that are there."""
        ...

    async def drop_replica(self, name: str) -> None:
        """Say that a process is gone."""
        ...

    def clock(self) -> float:
        """Unix seconds by the clock that all processes on this store share."""
        ...

    async def watch(self, tell: Callable[[int], None], channel: str) -> None:
        """Tell of each question that another process has answered, until cancelled.

        `channel` is the name under which the others tell it. Whatever else comes in under that
        name is ignored. Returns at once where the database cannot call: those who wait look
        for themselves as well.
        """
        ...

    async def close(self) -> None:
        """Write what was deferred, and let go of the database."""
        ...
