-- A store of version 1 as sayso 0.1 wrote it, for the test of migrations. SQLite's dialect; the
-- lines that begin with INSERT are read by the test for PostgreSQL too.
PRAGMA application_id = 1635151735;
PRAGMA user_version = 1;
CREATE TABLE records (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, call TEXT NOT NULL, at REAL NOT NULL,
    event TEXT NOT NULL, body TEXT NOT NULL) STRICT;
CREATE INDEX records_of_call ON records (call);
CREATE TABLE approvals (
    number INTEGER PRIMARY KEY AUTOINCREMENT, binding TEXT NOT NULL, body TEXT NOT NULL,
    state TEXT NOT NULL
        CHECK (state IN ('pending', 'approved', 'denied', 'used', 'expired')),
    created REAL NOT NULL, expires REAL NOT NULL, answered_at REAL, answered_by TEXT,
    channel TEXT, used_by TEXT) STRICT;
CREATE UNIQUE INDEX open_approval ON approvals (binding) WHERE state IN ('pending', 'approved');
INSERT INTO records VALUES (1, 'c1', 1.5, 'attempt', '{"subject": "amy", "client": "chat", "server": "demo", "tool": "customer_delete", "level": "destructive", "arguments": {"customer_id": 7, "é": "\u0000"}, "arguments_digest": "0a", "approval": 1}');
INSERT INTO records VALUES (2, 'c1', 2.5, 'outcome', '{"subject": "amy", "client": "chat", "server": "demo", "tool": "customer_delete", "level": "destructive", "arguments": {"customer_id": 7}, "arguments_digest": "0a", "outcome": "ok", "severity": "warning", "result_digest": "0b"}');
INSERT INTO records VALUES (3, 'c2', 3.5, 'refused', '{"subject": "amy", "client": "chat", "name": "nothing", "outcome": "unknown_tool", "severity": "notice"}');
INSERT INTO approvals VALUES (1, 'b1', '{"subject": "amy", "tool": "customer_delete"}', 'used', 1.0, 9.0, 1.2, 'console', 'console', 'c1');
