"""The real `openstack` command, kept running: its modules take a second to load.

Each line of standard input is a JSON list of arguments, each line of output the JSON object {"status", "out", "err"}.
usage: /usr/bin/python3 openstack_client.py ENDPOINT
"""
import contextlib
import io
import json
import os
import sys

from openstackclient import shell

ENDPOINT = sys.argv[1]
for name in [name for name in os.environ if name.startswith("OS_")]:
    del os.environ[name]


def run(arguments):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            command = ["--os-auth-type", "none", "--os-endpoint", ENDPOINT] + arguments
            # The shell remembers the streams of the moment it is made.
            status = shell.OpenStackShell().run(command)
        except SystemExit as end:
            status = end.code
    return {"status": status, "out": out.getvalue(), "err": err.getvalue()}


for line in sys.stdin:
    print(json.dumps(run(json.loads(line))), flush=True)
