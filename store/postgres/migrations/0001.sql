-- {} is the schema and the prefix of the tables, {i} the prefix alone. Times are
-- microseconds since 1970, 0 for none.

CREATE TABLE {}proposal (
	number     bigint   GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id         text     NOT NULL CONSTRAINT {i}proposal_id UNIQUE,
	tenant     text     NOT NULL,
	requester  text     NOT NULL, -- the principal's key
	capability text     NOT NULL,
	kind       smallint NOT NULL, -- ambit.ProposalKind
	state      smallint NOT NULL, -- ambit.ProposalState, as it was written last
	open       boolean  NOT NULL, -- it answers for its operation
	operation  bytea    NOT NULL,
	proposal   text     NOT NULL, -- JSON, all but the input
	level      smallint NOT NULL, -- of the JSON: ambit.Approval
	preview    bytea,             -- of the JSON
	input      bytea,             -- sealed
	decisions  text,              -- JSON
	created    bigint   NOT NULL,
	decide_by  bigint   NOT NULL,
	execute_by bigint   NOT NULL,
	claimed    bigint   NOT NULL,
	lapses     bigint   NOT NULL, -- the lease of the claim
	finished   bigint   NOT NULL,
	closed     bigint   NOT NULL, -- when nothing more could come of it, or will lapse; 0: nobody can tell
	attempt    bytea,
	key        bytea,             -- of the claim
	outcome    bytea              -- sealed
);
CREATE UNIQUE INDEX {i}proposal_open      ON {}proposal (operation) WHERE open;
CREATE        INDEX {i}proposal_tenant    ON {}proposal (tenant, number);
CREATE        INDEX {i}proposal_state     ON {}proposal (tenant, state, number);
CREATE        INDEX {i}proposal_operation ON {}proposal (tenant, operation, number);
CREATE        INDEX {i}proposal_pending   ON {}proposal (tenant, decide_by, requester) WHERE kind = 0 AND state = 0;
CREATE        INDEX {i}proposal_closed    ON {}proposal (closed, number) WHERE closed > 0;

-- One row for each tenant that asks for approvals, which is locked while its
-- proposals are counted.
CREATE TABLE {}tenant (
	tenant text NOT NULL PRIMARY KEY
);

CREATE TABLE {}call (
	key       bytea   NOT NULL CONSTRAINT {i}call_key PRIMARY KEY,
	attempt   bytea   NOT NULL,
	operation bytea   NOT NULL,
	proposal  text    NOT NULL, -- the id of the one that holds the outcome, or empty
	lapses    bigint  NOT NULL,
	expires   bigint  NOT NULL,
	finished  boolean NOT NULL,
	outcome   bytea             -- sealed
);
CREATE INDEX {i}call_expires  ON {}call (expires);
CREATE INDEX {i}call_proposal ON {}call (proposal) WHERE proposal <> '';

CREATE TABLE {}entry (
	number     bigint NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	tenant     text   NOT NULL,
	writer     text   NOT NULL,
	seq        bigint NOT NULL,
	time       bigint NOT NULL,
	kind       text   NOT NULL,
	principal  text   NOT NULL,
	capability text   NOT NULL,
	call       text   NOT NULL,
	run        text   NOT NULL,
	proposal   text   NOT NULL,
	body       bytea  NOT NULL,
	mac        bytea  NOT NULL,
	CONSTRAINT {i}entry_place UNIQUE (tenant, writer, seq)
);
CREATE INDEX {i}entry_tenant   ON {}entry (tenant, number);
CREATE INDEX {i}entry_proposal ON {}entry (proposal) WHERE proposal <> '';

CREATE TABLE {}cut (
	tenant    text   NOT NULL,
	writer    text   NOT NULL,
	seq       bigint NOT NULL, -- of the last entry that was removed
	mac       bytea  NOT NULL,
	time      bigint NOT NULL,
	signature bytea  NOT NULL,
	PRIMARY KEY (tenant, writer)
);

CREATE TABLE {}api_key (
	name   text COLLATE "C" NOT NULL PRIMARY KEY,
	hash   text NOT NULL UNIQUE, -- of the key, never the key itself
	record text NOT NULL         -- JSON
);

CREATE TABLE {}used (
	name    text   NOT NULL PRIMARY KEY,
	expires bigint NOT NULL
);
CREATE INDEX {i}used_expires ON {}used (expires);

CREATE TABLE {}halt (
	halt  text   NOT NULL PRIMARY KEY, -- as in a halt file
	since bigint NOT NULL
);

CREATE TABLE {}rate (
	bucket  text   NOT NULL PRIMARY KEY,
	"full"  bigint NOT NULL, -- when it will be
	expires bigint NOT NULL  -- the full hour after that: an index that every call changes would grow
);
CREATE INDEX {i}rate_expires ON {}rate (expires);
