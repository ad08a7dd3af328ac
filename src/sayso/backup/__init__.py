"""Backups of a store: one file, made while the store is in use, verified, and restored.

The file is a ZIP archive, so that it can be read without sayso:

- `store.db`: the store at one moment, a SQLite database, whichever database it comes from;
- `backup.json`: the manifest, with versions, sizes, digests and the ids of the keys (`manifest`);
- `signature`: the manifest's signature by the store's keys. `restore` accepts no other.

The keys are not in the file, except encrypted under a passphrase. `create` writes backups and
`restoring` restores them; `archive` packs and unpacks. A backup gets its name when it is whole and
was read again from the disk. A restore is one transaction.
"""

from sayso.backup.create import Backup, back_up
from sayso.backup.manifest import Manifest
from sayso.backup.restoring import Restored, restore

__all__ = ["Backup", "Manifest", "Restored", "back_up", "restore"]
