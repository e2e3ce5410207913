-- {} is the prefix of the tables. Times are microseconds since 1970, 0 for none.

CREATE TABLE {}proposal (
	number     INTEGER PRIMARY KEY AUTOINCREMENT,
	id         TEXT    NOT NULL UNIQUE,
	tenant     TEXT    NOT NULL,
	requester  TEXT    NOT NULL, -- the principal's key
	capability TEXT    NOT NULL,
	kind       INTEGER NOT NULL, -- ambit.ProposalKind
	state      INTEGER NOT NULL, -- ambit.ProposalState, as it was written last
	open       INTEGER NOT NULL, -- 1: it answers for its operation
	operation  BLOB    NOT NULL,
	proposal   TEXT    NOT NULL, -- JSON, all but the input
	input      BLOB,             -- sealed
	decisions  TEXT,             -- JSON
	created    INTEGER NOT NULL,
	decide_by  INTEGER NOT NULL,
	execute_by INTEGER NOT NULL,
	claimed    INTEGER NOT NULL,
	lapses     INTEGER NOT NULL, -- the lease of the claim
	finished   INTEGER NOT NULL,
	closed     INTEGER NOT NULL, -- when nothing more could come of it, or will lapse; 0: nobody can tell
	attempt    BLOB,
	key        BLOB,             -- of the claim
	outcome    BLOB              -- sealed
) STRICT;
CREATE UNIQUE INDEX {}proposal_open      ON {}proposal (operation) WHERE open = 1;
CREATE        INDEX {}proposal_tenant    ON {}proposal (tenant, number);
CREATE        INDEX {}proposal_state     ON {}proposal (tenant, state, number);
CREATE        INDEX {}proposal_operation ON {}proposal (tenant, operation, number);
CREATE        INDEX {}proposal_pending   ON {}proposal (tenant, decide_by, requester) WHERE kind = 0 AND state = 0;
CREATE        INDEX {}proposal_closed    ON {}proposal (closed, number) WHERE closed > 0;

CREATE TABLE {}call (
	key       BLOB    NOT NULL PRIMARY KEY,
	attempt   BLOB    NOT NULL,
	operation BLOB    NOT NULL,
	proposal  TEXT    NOT NULL, -- the id of the one that holds the outcome, or empty
	lapses    INTEGER NOT NULL,
	expires   INTEGER NOT NULL,
	finished  INTEGER NOT NULL, -- 1: it has ended
	outcome   BLOB              -- sealed
) STRICT;
CREATE INDEX {}call_expires  ON {}call (expires);
CREATE INDEX {}call_proposal ON {}call (proposal) WHERE proposal <> '';

CREATE TABLE {}entry (
	number     INTEGER PRIMARY KEY AUTOINCREMENT,
	tenant     TEXT    NOT NULL,
	writer     TEXT    NOT NULL,
	seq        INTEGER NOT NULL,
	time       INTEGER NOT NULL,
	kind       TEXT    NOT NULL,
	principal  TEXT    NOT NULL,
	capability TEXT    NOT NULL,
	call       TEXT    NOT NULL,
	run        TEXT    NOT NULL,
	proposal   TEXT    NOT NULL,
	body       BLOB    NOT NULL,
	mac        BLOB    NOT NULL,
	UNIQUE (tenant, writer, seq)
) STRICT;
CREATE INDEX {}entry_tenant   ON {}entry (tenant, number);
CREATE INDEX {}entry_proposal ON {}entry (proposal) WHERE proposal <> '';

CREATE TABLE {}cut (
	tenant    TEXT    NOT NULL,
	writer    TEXT    NOT NULL,
	seq       INTEGER NOT NULL, -- of the last entry that was removed
	mac       BLOB    NOT NULL,
	time      INTEGER NOT NULL,
	signature BLOB    NOT NULL,
	PRIMARY KEY (tenant, writer)
) STRICT, WITHOUT ROWID;

CREATE TABLE {}api_key (
	name   TEXT NOT NULL PRIMARY KEY,
	hash   TEXT NOT NULL UNIQUE, -- of the key, never the key itself
	record TEXT NOT NULL         -- JSON
) STRICT, WITHOUT ROWID;

CREATE TABLE {}used (
	name    TEXT    NOT NULL PRIMARY KEY,
	expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX {}used_expires ON {}used (expires);

CREATE TABLE {}halt (
	halt  TEXT    NOT NULL PRIMARY KEY, -- as in a halt file
	since INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE {}rate (
	bucket TEXT    NOT NULL PRIMARY KEY,
	full   INTEGER NOT NULL -- when it will be
) STRICT, WITHOUT ROWID;
CREATE INDEX {}rate_full ON {}rate (full);
