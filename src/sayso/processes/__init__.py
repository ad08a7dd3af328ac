"""Processes of this machine: what runs, who started it, and at which terminal.

The package answers one question: may the process at the other end of a local socket act for a
person, or did a program start it whose calls that person answers? On Linux the package reads
`/proc`. Elsewhere it runs `ps`, which shows less, so more processes are refused.
"""

from sayso.processes.kinship import Clients
from sayso.processes.local_clients import LocalClients
from sayso.processes.peer import Peer, peer_of
from sayso.processes.table import Process, Table, ancestors, open_table

__all__ = [
    "Clients",
    "LocalClients",
    "Peer",
    "Process",
    "Table",
    "ancestors",
    "open_table",
    "peer_of",
]
