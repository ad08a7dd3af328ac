"""A real nginx in front of replicas, by the configuration that stands in deploy/."""

import shutil
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")

CONFIGURATION = Path(__file__).parents[2] / "deploy" / "nginx.conf"

HERE = """
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
"""


def configuration(folder: Path, port: int, behind: Sequence[int]) -> str:
    """That of deploy/, with these ports, and with what it writes in a folder of its own."""
    text = CONFIGURATION.read_text()
    for number, one in enumerate(behind, start=1):
        text = text.replace(f"server gateway-{number}:8321 resolve", f"server 127.0.0.1:{one}")
    assert "gateway-" not in text
    text = text.replace("listen 8080;", f"listen 127.0.0.1:{port};")
    text = text.replace("http {", "http {" + HERE.format(folder=folder), 1)
    return f"daemon off;\npid {folder}/pid;\nerror_log {folder}/error.log warn;\n{text}"


@contextmanager
def balanced(folder: Path, port: int, behind: Sequence[int]) -> Generator[None]:
    """nginx on `port`, in front of those ports."""
    if NGINX is None:
        pytest.skip("there is no nginx")
    folder.mkdir()
    (folder / "nginx.conf").write_text(configuration(folder, port, behind))
    words = [
        NGINX,
        "-p",
        str(folder),
        "-c",
        str(folder / "nginx.conf"),
        "-e",
        f"{folder}/start.log",
    ]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.terminate()
            process.wait(60)
