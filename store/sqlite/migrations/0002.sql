CREATE TABLE {}standing_grant (
	number     INTEGER PRIMARY KEY AUTOINCREMENT,
	id         TEXT    NOT NULL UNIQUE,
	tenant     TEXT    NOT NULL,
	principal  TEXT    NOT NULL, -- the key of the one whose calls it is for
	capability TEXT    NOT NULL,
	until      INTEGER NOT NULL,
	budget     INTEGER NOT NULL,
	used       INTEGER NOT NULL,
	revoked    INTEGER NOT NULL, -- when; 0: it has not been
	terms      TEXT    NOT NULL, -- JSON, what never changes
	revocation TEXT              -- JSON
) STRICT;
CREATE INDEX {}standing_grant_tenant ON {}standing_grant (tenant, number);
CREATE INDEX {}standing_grant_for    ON {}standing_grant (tenant, principal, capability, number);
CREATE INDEX {}standing_grant_until  ON {}standing_grant (until);
