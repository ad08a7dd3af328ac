"""What a server asks of the kernel, read from the lines that strace writes about it.

`line` reads a line, `stitch` joins what came in pieces, `meaning` says what a call does to the
world, `memory` holds what earlier calls taught, and `watcher` reads the file as it grows. Only
`watcher`, `rest` and `look` do I/O.
"""
