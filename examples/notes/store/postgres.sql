-- The tables of the notes application in PostgreSQL, version 1. A change is a new
-- file and a new entry in migrate.go, never an edit of this one.

CREATE TABLE note (
  -- The number of a purged note is not given to another.
  id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  title      TEXT    NOT NULL,
  body       TEXT    NOT NULL,
  version    BIGINT  NOT NULL DEFAULT 1,
  created_at BIGINT  NOT NULL, -- milliseconds since 1970, UTC
  updated_at BIGINT  NOT NULL
);

CREATE TABLE tag (
  note_id BIGINT NOT NULL REFERENCES note (id) ON DELETE CASCADE,
  name    TEXT   NOT NULL COLLATE "C",
  PRIMARY KEY (note_id, name)
);

CREATE INDEX tag_by_name ON tag (name, note_id);

-- Words without case, accents and punctuation.
CREATE FUNCTION note_plain(words TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT regexp_replace(lower(regexp_replace(normalize(words, NFD), '[\u0300-\u036f]', '', 'g') COLLATE "und-x-icu"), '[^[:alnum:]]+', ' ', 'g')
$$;

-- What is found counts more in a title.
ALTER TABLE note ADD COLUMN words tsvector GENERATED ALWAYS AS (
  setweight(to_tsvector('simple', note_plain(title)), 'A') || setweight(to_tsvector('simple', note_plain(body)), 'B')
) STORED;

CREATE INDEX note_words ON note USING gin (words);
