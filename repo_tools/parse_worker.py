"""A process that parses: batches of files in by standard input, rows of definitions out by standard output.

A parser is C code that reads what strangers wrote. It may crash or never end: that costs this process, not its parent.
A message is a list of byte strings: their number, their sizes, then they themselves. A batch holds the name of the
language and the bytes of each file in turn; its answer, which is written when all is done, a row for each file.
"""

from __future__ import annotations

import gc
import struct
import sys
from collections.abc import Sequence
from typing import IO

from repo_tools.facts import definitions_row


def main() -> None:
    """Answer until standard input ends."""
    # Nothing here makes cycles, and what parsing makes is plenty: looking for them would cost a tenth of the time.
    gc.disable()
    while batch := receive(sys.stdin.buffer):
        pairs = zip(batch[::2], batch[1::2], strict=True)
        send(sys.stdout.buffer, [definitions_row(language.decode("ascii"), data) for language, data in pairs])


def send(stream: IO[bytes], parts: Sequence[bytes]) -> None:
    """Write one message."""
    stream.write(struct.pack(f"<{len(parts) + 1}I", len(parts), *map(len, parts)))
    stream.writelines(parts)
    stream.flush()


def receive(stream: IO[bytes]) -> list[bytes]:
    """Read one message; none is left, or the stream broke off, if it is empty."""
    head = stream.read(4)
    count = struct.unpack("<I", head)[0] if len(head) == 4 else 0
    sizes = stream.read(4 * count)
    if len(sizes) < 4 * count:
        return []
    parts = [stream.read(size) for size in struct.unpack(f"<{count}I", sizes)]
    return parts if sum(map(len, parts)) == sum(struct.unpack(f"<{count}I", sizes)) else []


if __name__ == "__main__":
    main()
