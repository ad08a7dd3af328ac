"""Processes of this machine: what runs, who started it, and at which terminal.

It answers one question: may the process at the other end of a local socket act for a person, or was
it started by a program whose calls that person answers? On Linux it reads `/proc`. Elsewhere it
runs `ps`, which knows less, so more is refused.
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
