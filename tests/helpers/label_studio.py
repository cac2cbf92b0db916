"""A server of Label Studio on this machine, and its HTTP API."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from urllib import error, request

_HOST = "127.0.0.1"
_TOKEN = "0123456789abcdef" * 2 + "01234567"  # Of a server that lives for one test run.
_MOST_TRIES, _PAUSE, _TIMEOUT = 180, 1.0, 30.0  # The first start builds a database.
_SILENT = {
    "COLLECT_ANALYTICS": "false",
    "LATEST_VERSION_CHECK": "false",
    "SENTRY_DSN": "",
    "FRONTEND_SENTRY_DSN": "",
}


def find_label_studio():
    """The program: of $LABEL_STUDIO, of this environment, or of the path; or None."""
    given = os.environ.get("LABEL_STUDIO")
    beside = Path(sys.executable).with_name("label-studio")
    return shutil.which(given or beside) or shutil.which(given or "label-studio")


@contextmanager
def label_studio(program, folder):
    """Start a server that keeps all its data in a folder; stop it at the end."""
    with socket.socket() as free:
        free.bind((_HOST, 0))
        port = free.getsockname()[1]
    options = {
        "--internal-host": _HOST,
        "--port": str(port),
        "--data-dir": str(folder),
        "--username": "first@example.com",
        "--password": "for one test run",
        "--user-token": _TOKEN,
    }
    command = [program, "start", "--no-browser", "--enable-legacy-api-token"]
    command += [word for option in options.items() for word in option]
    log = Path(folder, "server.log")
    with open(log, "w", encoding="utf-8") as output:
        process = subprocess.Popen(
            command,
            env=os.environ | _SILENT | {"HOME": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        server = Server(f"http://{_HOST}:{port}")
        _wait_for(server, process, log)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(timeout=_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=_TIMEOUT)


def _wait_for(server, process, log):
    for _ in range(_MOST_TRIES):
        try:
            return server.call("GET", "/health")
        except error.URLError:
            assert process.poll() is None, log.read_text(encoding="utf-8")[-2000:]
            time.sleep(_PAUSE)
    raise TimeoutError(log.read_text(encoding="utf-8")[-2000:])


class Server:
    """The calls of Label Studio's HTTP API that a labelling campaign needs."""

    def __init__(self, address):
        self.address = address
        # Without the proxies of the environment: nothing leaves this machine.
        self.opener = request.build_opener(request.ProxyHandler({}))

    def call(self, method, path, content=None):
        """One request; returns the bytes of the answer."""
        body = None if content is None else json.dumps(content).encode()
        headers = {
            "Authorization": f"Token {_TOKEN}",
            "Content-Type": "application/json",
        }
        asked = request.Request(
            self.address + path, data=body, headers=headers, method=method
        )
        try:
            with self.opener.open(asked, timeout=_TIMEOUT) as answer:
                return answer.read()
        except error.HTTPError as refusal:
            text = refusal.read().decode(errors="replace")[:1000]
            raise AssertionError(f"{method} {path}: {refusal} {text}") from None

    def add_user(self, name):
        """Another annotator; returns the id."""
        email = f"{name}@example.com"
        about = {"username": name, "email": email, "password": "for one test run"}
        return json.loads(self.call("POST", "/api/users", about))["id"]

    def add_project(self, config, tasks):
        """A project with tasks; returns its id and the ids of the tasks, in order."""
        about = {"title": "sklearn_ase", "label_config": config}
        project = json.loads(self.call("POST", "/api/projects", about))["id"]
        path = f"/api/projects/{project}/import?return_task_ids=true"
        return project, json.loads(self.call("POST", path, tasks))["task_ids"]

    def annotate(self, task, result, user=1, was_cancelled=False):
        """Submit an annotation in the name of a user."""
        about = {"result": result, "completed_by": user, "was_cancelled": was_cancelled}
        self.call("POST", f"/api/tasks/{task}/annotations", about)

    def export(self, project, kind):
        """Bytes of an export, with the tasks that nobody annotated."""
        path = f"/api/projects/{project}/export?exportType={kind}"
        return self.call("GET", f"{path}&download_all_tasks=true")
