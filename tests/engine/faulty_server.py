#!/usr/bin/env python3
"""A registry, or a package index's file host, that goes wrong: it limits, goes away in the middle of a body, or hangs in it.

``faulty_server.py PORT limit|cut|hang FOLDER``: paths below /v2/ are answered from a registry's storage folder, others
from the folder itself. It uses the standard library only.
"""

from __future__ import annotations

import http.server
import json
import os
import re
import sys
import time
from pathlib import Path

LIMIT = {"errors": [{"code": "TOOMANYREQUESTS", "message": "You have reached your unauthenticated pull rate limit."}]}
DIGEST = re.compile(r"sha256:([0-9a-f]{64})$")


class Handler(http.server.BaseHTTPRequestHandler):
    how: str
    folder: Path

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        if self.path == "/v2/":
            self._send(200, b"{}", "application/json")
        elif self.how == "limit":
            self._send(429, json.dumps(LIMIT).encode(), "application/json")
        elif (path := self._file()).is_file():
            spoil = "/blobs/" in self.path and path.stat().st_size > 4000  # the layer, not the configuration
            self._send(200, path.read_bytes(), self._kind(path), spoil=spoil or path.suffix == ".whl")
        else:
            self._send(404, b"{}", "application/json")

    def _file(self) -> Path:
        match = DIGEST.search(self.path)
        if self.path.startswith("/v2/") and match:
            return self.folder / "docker/registry/v2/blobs/sha256" / match[1][:2] / match[1] / "data"
        return self.folder / self.path.lstrip("/") / ("index.html" if self.path.endswith("/") else "")

    def _kind(self, path: Path) -> str:
        if "/manifests/" in self.path:
            return "application/vnd.docker.distribution.manifest.v2+json"
        return "text/html" if path.suffix == ".html" else "application/octet-stream"

    def _send(self, status: int, body: bytes, kind: str, *, spoil: bool = False) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "HEAD":
            return
        self.wfile.write(body[: len(body) // 2] if spoil else body)
        if spoil:
            self.wfile.flush()
            if self.how == "cut":
                os._exit(1)
            time.sleep(600)

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


if __name__ == "__main__":
    bound = type("Bound", (Handler,), {"how": sys.argv[2], "folder": Path(sys.argv[3])})
    http.server.ThreadingHTTPServer(("0.0.0.0", int(sys.argv[1])), bound).serve_forever()
