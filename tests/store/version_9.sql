-- Written by tests/store/older.py with the sayso of commit 8d800930.
PRAGMA application_id = 1635151735;
PRAGMA user_version = 9;
BEGIN TRANSACTION;
CREATE TABLE answers (
        number INTEGER NOT NULL, person TEXT NOT NULL, is_allowed INTEGER NOT NULL,
        channel TEXT NOT NULL, strength TEXT NOT NULL, at REAL NOT NULL, message TEXT, edit TEXT NOT NULL DEFAULT '', expires REAL NOT NULL DEFAULT 0, mac TEXT NOT NULL DEFAULT '',
        PRIMARY KEY (number, person));
INSERT INTO "answers" VALUES(1,'console',1,'console','out_of_band',1.79573496568679833416e+09,NULL,'',1.79573526568679833412e+09,'e1d5d07a1904fd31:db912e6c7f58c4cb005c4358a1a34d727345e861093dd1cbe95d791d886fc8bf');
CREATE TABLE api_keys (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, scopes TEXT NOT NULL, roles TEXT NOT NULL,
        created REAL NOT NULL, created_by TEXT NOT NULL, expires REAL, mac TEXT NOT NULL,
        revoked_at REAL, revoked_by TEXT, used REAL);
CREATE TABLE approvals (
        number INTEGER PRIMARY KEY AUTOINCREMENT, binding TEXT NOT NULL, body TEXT NOT NULL, state TEXT NOT NULL
            CHECK (state IN ('pending', 'approved', 'denied', 'used', 'expired')),
        created REAL NOT NULL, expires REAL NOT NULL, answered_at REAL, answered_by TEXT,
        channel TEXT, used_by TEXT, subject TEXT, needed INTEGER NOT NULL DEFAULT 1, edit TEXT, mac TEXT NOT NULL DEFAULT '') STRICT;
INSERT INTO "approvals" VALUES(1,'57463e80f4d18c29e9be02824a278fdbf7f251a267d7b96f1d3e103c7918d9e7','{"tool": "delete", "require": null, "description": "", "plan_digest": "", "tenant": null, "call_binding": "be3384ca0ac305b4f18e42962e4b830c4c3849681340fd10ea522e7259836c63", "sentence": "This may delete, overwrite or send something: Delete 7. Proceed?", "longest": "session", "reason": "it may destroy or overwrite something", "subject": "local", "rule": "mode:guarded", "line": null, "confirm": null, "hints": {"read_only": {"value": false, "source": "declared"}, "destructive": {"value": true, "source": "declared"}, "idempotent": {"value": false, "source": "default"}, "open_world": {"value": true, "source": "default"}}, "level": "destructive", "channels": ["console", "link", "program", "terminal"], "client": "chat", "plan": null, "arguments": {"customer_id": 7}, "title": "Delete", "tool_binding": "091aab376561a1cba93f0a22a5c797908c58fe2c13c9925f3eabf5baf0755446", "reviewers": null, "arguments_digest": "bd1fdf2d0606dfb48498e0e41fdf9bc6282a11325a34784dea3f2bdf00de4556", "expires": null, "server": "demo", "extras": {}, "fingerprint": "93730caf7d648345a035bb3f08b1debcbdc24f269986c8d29d5da05f459b59b0", "findings": [], "account": "local"}','used',1.79573496568051409723e+09,1.79573526568679833412e+09,1.79573496568679833416e+09,'console','console','1a21a250daea9f82fe5729fa479','local',1,NULL,'1795735865.680514 e1d5d07a1904fd31:41fb1a2223154e04b648943c590262873a4545d918360645930e67d8aaca32a7');
CREATE TABLE claims (
        key TEXT PRIMARY KEY, subject TEXT NOT NULL, request TEXT NOT NULL, call TEXT NOT NULL,
        writer TEXT NOT NULL, answer TEXT, expires REAL NOT NULL);
CREATE TABLE conversations (
        subject TEXT NOT NULL, client TEXT NOT NULL, started REAL NOT NULL,
        last REAL NOT NULL, PRIMARY KEY (subject, client));
INSERT INTO "conversations" VALUES('local','chat',1.79573496567268943782e+09,1.79573496569208407398e+09);
INSERT INTO "conversations" VALUES('local','',1.79573496567268943782e+09,1.79573496569208407398e+09);
CREATE TABLE definitions (
        place TEXT NOT NULL, tool TEXT NOT NULL, server TEXT NOT NULL, definition TEXT NOT NULL,
        mark TEXT NOT NULL, since REAL NOT NULL, held TEXT, held_mark TEXT, held_since REAL,
        accepted TEXT, accepted_by TEXT, accepted_at REAL, revision INTEGER NOT NULL,
        PRIMARY KEY (place, tool));
CREATE TABLE grants (
        number INTEGER PRIMARY KEY AUTOINCREMENT, binding TEXT NOT NULL, subject TEXT NOT NULL, client TEXT NOT NULL,
        span TEXT NOT NULL, conversation REAL, body TEXT NOT NULL, approval INTEGER NOT NULL,
        given_by TEXT NOT NULL, channel TEXT NOT NULL, created REAL NOT NULL,
        revoked_at REAL, revoked_by TEXT, last_used REAL, uses INTEGER NOT NULL DEFAULT 0, mac TEXT NOT NULL DEFAULT '');
INSERT INTO "grants" VALUES(1,'091aab376561a1cba93f0a22a5c797908c58fe2c13c9925f3eabf5baf0755446','local','chat','session',1.79573496567268943782e+09,'{"server": "demo", "tool": "delete", "title": "Delete", "level": "destructive", "arguments": null}',1,'console','console',1.79573496568679833416e+09,NULL,NULL,NULL,0,'e1d5d07a1904fd31:87e4a1eb69882d1b060ca1097cfaf85e0219b6d7a8f10e2e95dbfda7265bb6f2');
CREATE TABLE quarantines (
        place TEXT NOT NULL, tool TEXT NOT NULL, server TEXT NOT NULL, since REAL NOT NULL,
        evidence TEXT NOT NULL, PRIMARY KEY (place, tool));
CREATE TABLE records (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, call TEXT NOT NULL, at REAL NOT NULL, event TEXT NOT NULL,
        body TEXT NOT NULL, payload TEXT, subject TEXT, writer TEXT, idx INTEGER, previous TEXT NOT NULL DEFAULT '', mac_key TEXT NOT NULL DEFAULT '', digest TEXT NOT NULL DEFAULT '', mac TEXT NOT NULL DEFAULT '') STRICT;
INSERT INTO "records" VALUES(1,'',1.79573496567371582981e+09,'opened','{"heads":{},"unchained":{"count":0,"digest":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}}',NULL,NULL,'fc6a0317c5e1e817',1,'0000000000000000000000000000000000000000000000000000000000000000','e1d5d07a1904fd31','','9d4ccb2400a5f30e5d2ab1f2d91b2fab7c669a3faa2a6f96acdfaedca3f04d71');
INSERT INTO "records" VALUES(2,'1a21a250da79d30f2f1fa54acc7',1.79573496567273426056e+09,'attempt','{"server":"demo","tool":"read","title":"Read","fingerprint":"a208149f23259c74aeffed41ddfc487b1e7f3d69e205e70b64cc6e37ccbf1aed","level":"read","hints":{"read_only":{"value":true,"source":"declared"},"destructive":{"value":false,"source":"declared"},"idempotent":{"value":true,"source":"declared"},"open_world":{"value":true,"source":"default"}},"client":"chat","decision":"allow","rule":"mode:guarded","reason":"it only reads"}','{"subject":"local","arguments":{"n":1},"arguments_digest":"2bfd14f43d17fc7cea24e0917a8879b4b2f880b8baeec1b9d90fbaad655e71bd","salt":"050656a910ce371c"}','local','fc6a0317c5e1e817',2,'9d4ccb2400a5f30e5d2ab1f2d91b2fab7c669a3faa2a6f96acdfaedca3f04d71','e1d5d07a1904fd31','d70e3bd299e1b5c1572b96ef7e7eab658c278984138d73d665009bfa2ddf99e0','e1066e0b54e8ccc5d941fbe86522f1862b6f59407b6de39170fde5e87ff9a7ee');
INSERT INTO "records" VALUES(3,'1a21a250da79d30f2f1fa54acc7',1.79573496567664980892e+09,'outcome','{"server":"demo","tool":"read","title":"Read","fingerprint":"a208149f23259c74aeffed41ddfc487b1e7f3d69e205e70b64cc6e37ccbf1aed","level":"read","hints":{"read_only":{"value":true,"source":"declared"},"destructive":{"value":false,"source":"declared"},"idempotent":{"value":true,"source":"declared"},"open_world":{"value":true,"source":"default"}},"client":"chat","decision":"allow","rule":"mode:guarded","reason":"it only reads","outcome":"ok","severity":"info","milliseconds":4.692}','{"subject":"local","arguments":{"n":1},"arguments_digest":"2bfd14f43d17fc7cea24e0917a8879b4b2f880b8baeec1b9d90fbaad655e71bd","salt":"29b9d035849e96f3","result_digest":"9ffe8ea274a5d8c19e83916c4f8d9a80d0515bf34abac047126afd7497999c9e"}','local','fc6a0317c5e1e817',3,'e1066e0b54e8ccc5d941fbe86522f1862b6f59407b6de39170fde5e87ff9a7ee','e1d5d07a1904fd31','a7bb88c31e0c25ff637e3b047734ce64c3a8743e18204b96de0612f0479b9b6f','0e0c0a8933f371c10a78ee62ce76451092db7ae5d94acb78256425a4088e85b3');
INSERT INTO "records" VALUES(4,'1a21a250daea9f82fe5729fa479',1.79573496568137383456e+09,'asked','{"server":"demo","tool":"delete","title":"Delete","fingerprint":"93730caf7d648345a035bb3f08b1debcbdc24f269986c8d29d5da05f459b59b0","level":"destructive","hints":{"read_only":{"value":false,"source":"declared"},"destructive":{"value":true,"source":"declared"},"idempotent":{"value":false,"source":"default"},"open_world":{"value":true,"source":"default"}},"client":"chat","decision":"confirm","rule":"mode:guarded","reason":"it may destroy or overwrite something","approval":1}','{"subject":"local","arguments":{"customer_id":7},"arguments_digest":"bd1fdf2d0606dfb48498e0e41fdf9bc6282a11325a34784dea3f2bdf00de4556","salt":"fd9d5806ca3c3512"}','local','fc6a0317c5e1e817',4,'0e0c0a8933f371c10a78ee62ce76451092db7ae5d94acb78256425a4088e85b3','e1d5d07a1904fd31','ecefb0f8d7655de5a34521f3f336e5b149a940a1ea167736b10b437efc903e12','332fcf15154858743765d7be963cc9c5076f5cec20049ec79085813e00017dd3');
INSERT INTO "records" VALUES(5,'1a21a250daea9f82fe5729fa479',1.79573496569213509558e+09,'attempt','{"server":"demo","tool":"delete","title":"Delete","fingerprint":"93730caf7d648345a035bb3f08b1debcbdc24f269986c8d29d5da05f459b59b0","level":"destructive","hints":{"read_only":{"value":false,"source":"declared"},"destructive":{"value":true,"source":"declared"},"idempotent":{"value":false,"source":"default"},"open_world":{"value":true,"source":"default"}},"client":"chat","decision":"confirm","rule":"mode:guarded","reason":"it may destroy or overwrite something","channel":"console","approval":1}','{"subject":"local","arguments":{"customer_id":7},"arguments_digest":"bd1fdf2d0606dfb48498e0e41fdf9bc6282a11325a34784dea3f2bdf00de4556","answered_by":"console","salt":"3c078ae2a1531d9a"}','local','fc6a0317c5e1e817',5,'332fcf15154858743765d7be963cc9c5076f5cec20049ec79085813e00017dd3','e1d5d07a1904fd31','e4c0e9a7827ce9553f98acc3120d13b04279af20904a3b766a9975ae92a1caff','1e602778d23e2af4bd164710c89d91b3fa718c89bd6178f86c1f704be7254951');
INSERT INTO "records" VALUES(6,'1a21a250daea9f82fe5729fa479',1.79573496569502615927e+09,'outcome','{"server":"demo","tool":"delete","title":"Delete","fingerprint":"93730caf7d648345a035bb3f08b1debcbdc24f269986c8d29d5da05f459b59b0","level":"destructive","hints":{"read_only":{"value":false,"source":"declared"},"destructive":{"value":true,"source":"declared"},"idempotent":{"value":false,"source":"default"},"open_world":{"value":true,"source":"default"}},"client":"chat","decision":"confirm","rule":"mode:guarded","reason":"it may destroy or overwrite something","channel":"console","outcome":"ok","severity":"warning","milliseconds":16.144,"approval":1}','{"subject":"local","arguments":{"customer_id":7},"arguments_digest":"bd1fdf2d0606dfb48498e0e41fdf9bc6282a11325a34784dea3f2bdf00de4556","answered_by":"console","salt":"9064e32d8c6c52e1","result_digest":"9ffe8ea274a5d8c19e83916c4f8d9a80d0515bf34abac047126afd7497999c9e"}','local','fc6a0317c5e1e817',6,'1e602778d23e2af4bd164710c89d91b3fa718c89bd6178f86c1f704be7254951','e1d5d07a1904fd31','d793bb579e074a7375d4538a235622239b0aa6e837aa187de32ac099cca8efd2','de633438a6f95368a2abce1608ba4a72e293407be4f2c5e67eebb6db916d2956');
CREATE TABLE replicas (
        id TEXT PRIMARY KEY, address TEXT NOT NULL, keys TEXT NOT NULL, lease REAL NOT NULL);
CREATE TABLE spent (token TEXT PRIMARY KEY, expires REAL NOT NULL);
INSERT INTO "spent" VALUES('91d11b8f61b944ea31116a09a07a220c4ded24912fd7b3be186fd12f622e2bf5',1.79573526568679833412e+09);
CREATE TABLE ticks (
        subject TEXT NOT NULL, level TEXT NOT NULL, tool TEXT NOT NULL, at REAL NOT NULL);
INSERT INTO "ticks" VALUES('local','read','/demo/read/a208149f23259c74aeffed41ddfc487b1e7f3d69e205e70b64cc6e37ccbf1aed',1.79573496567268943782e+09);
INSERT INTO "ticks" VALUES('local','destructive','/demo/delete/93730caf7d648345a035bb3f08b1debcbdc24f269986c8d29d5da05f459b59b0',1.79573496569208407398e+09);
CREATE TABLE uses (
        subject TEXT NOT NULL, client TEXT NOT NULL, tool TEXT NOT NULL, facts TEXT NOT NULL,
        last REAL NOT NULL, PRIMARY KEY (subject, client, tool, facts));
INSERT INTO "uses" VALUES('local','chat','/demo/read/a208149f23259c74aeffed41ddfc487b1e7f3d69e205e70b64cc6e37ccbf1aed','{"server": "demo", "tool": "read", "hints": {"read_only": [true, "declared"], "destructive": [false, "declared"], "idempotent": [true, "declared"], "open_world": [true, "default"]}, "category": null, "tags": []}',1.79573496567268943782e+09);
INSERT INTO "uses" VALUES('local','chat','/demo/delete/93730caf7d648345a035bb3f08b1debcbdc24f269986c8d29d5da05f459b59b0','{"server": "demo", "tool": "delete", "hints": {"read_only": [false, "declared"], "destructive": [true, "declared"], "idempotent": [false, "default"], "open_world": [true, "default"]}, "category": null, "tags": []}',1.79573496569208407398e+09);
CREATE TABLE writers (writer TEXT PRIMARY KEY, owner TEXT NOT NULL, lease REAL NOT NULL);
CREATE INDEX records_of_call ON records (call);
CREATE UNIQUE INDEX open_approval ON approvals (binding)
        WHERE state IN ('pending', 'approved');
CREATE UNIQUE INDEX place_in_chain ON records (writer, idx) WHERE writer IS NOT NULL;
CREATE INDEX grants_of_binding ON grants (binding);
CREATE INDEX ticks_of_subject ON ticks (subject, at);
CREATE INDEX api_keys_of_name ON api_keys (name);
CREATE INDEX records_of_subject ON records (subject, seq) WHERE subject IS NOT NULL;
COMMIT;
