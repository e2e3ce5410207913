CREATE TABLE {}standing_grant (
	number     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id         text   NOT NULL CONSTRAINT {i}standing_grant_id UNIQUE,
	tenant     text   NOT NULL,
	principal  text   NOT NULL, -- the key of the one whose calls it is for
	capability text   NOT NULL,
	until      bigint NOT NULL,
	budget     bigint NOT NULL,
	used       bigint NOT NULL,
	revoked    bigint NOT NULL, -- when; 0: it has not been
	terms      text   NOT NULL, -- JSON, what never changes
	revocation text             -- JSON
);
CREATE INDEX {i}standing_grant_tenant ON {}standing_grant (tenant, number);
CREATE INDEX {i}standing_grant_for    ON {}standing_grant (tenant, principal, capability, number);
CREATE INDEX {i}standing_grant_until  ON {}standing_grant (until);
