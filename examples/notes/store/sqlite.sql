-- The tables of the notes application, version 1. A change is a new file and
-- a new entry in migrations.go, never an edit of this one.

CREATE TABLE note (
  -- AUTOINCREMENT: the number of a purged note is not given to another.
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  title      TEXT    NOT NULL,
  body       TEXT    NOT NULL,
  version    INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL, -- milliseconds since 1970, UTC
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE tag (
  note_id INTEGER NOT NULL REFERENCES note (id) ON DELETE CASCADE,
  name    TEXT    NOT NULL,
  PRIMARY KEY (note_id, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX tag_by_name ON tag (name, note_id);

-- The full-text index keeps no copy of the text; the triggers keep it in step.
CREATE VIRTUAL TABLE note_text USING fts5 (
  title, body,
  content = 'note', content_rowid = 'id',
  tokenize = 'unicode61 remove_diacritics 2'
);

CREATE TRIGGER note_inserted AFTER INSERT ON note BEGIN
  INSERT INTO note_text (rowid, title, body) VALUES (new.id, new.title, new.body);
END;

CREATE TRIGGER note_deleted AFTER DELETE ON note BEGIN
  INSERT INTO note_text (note_text, rowid, title, body) VALUES ('delete', old.id, old.title, old.body);
END;

CREATE TRIGGER note_updated AFTER UPDATE OF title, body ON note BEGIN
  INSERT INTO note_text (note_text, rowid, title, body) VALUES ('delete', old.id, old.title, old.body);
  INSERT INTO note_text (rowid, title, body) VALUES (new.id, new.title, new.body);
END;
