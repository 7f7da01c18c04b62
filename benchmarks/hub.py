"""A loopback hub in a process of its own that costs little: files go out by sendfile."""

from __future__ import annotations

import http.server
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from benchmarks.measuring import ROOT


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers any path by its last part, whole."""

    protocol_version = "HTTP/1.1"
    folder: Path

    def do_GET(self) -> None:
        """Send one file."""
        with (self.folder / self.path.rsplit("/", 1)[-1]).open("rb") as file:
            self.send_response(200)
            self.send_header("Content-Length", str(Path(file.name).stat().st_size))
            self.end_headers()
            self.wfile.flush()
            self.connection.sendfile(file)

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a folder, and give its address."""
    argv = [sys.executable, "-m", "benchmarks.hub", str(folder)]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield _first_line(process.stdout)
        finally:
            process.terminate()


def _first_line(stream: IO[str] | None) -> str:
    line = stream.readline().strip() if stream else ""
    if not line:
        raise SystemExit("the loopback hub did not start")
    return line


def main() -> None:
    """Serve the folder that is named until killed."""
    Handler.folder = Path(sys.argv[1])
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        sys.stdout.write(f"http://127.0.0.1:{server.server_address[1]}\n")
        sys.stdout.flush()
        server.serve_forever()


if __name__ == "__main__":
    main()
