-- Version 2, for both databases: what everybody may read, as it was when it was
-- published.

CREATE TABLE published (
  note_id      BIGINT PRIMARY KEY REFERENCES note (id) ON DELETE CASCADE,
  version      BIGINT NOT NULL,
  title        TEXT   NOT NULL,
  body         TEXT   NOT NULL,
  published_at BIGINT NOT NULL -- milliseconds since 1970, UTC
);
