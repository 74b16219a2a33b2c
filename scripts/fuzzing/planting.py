"""What plants of faults are made with."""

from basics import fail
from client import Client, Step
from world import APPS, to_json

# Nobody else asks for this user and this device.
USER, TOKEN = "planted", "cd" * 32


def status(of, into, text=b'{"error":{"code":"made_up","message":"it is planted"}}', valid=None):
    """A proxy that changes a status."""
    def falsify(request, content):
        if request.status in of and (valid is None or request.is_valid == valid):
            return into, text
        return request.status, content
    return falsify


def ask(run, operation, path, body=None, headers=None):
    """The answer to a request of which the models know too."""
    request = Step(operation=run.document.operations[operation], path=path, query={}, headers=headers or {},
                   body=body and to_json(body), kind=body and "application/json", worker=0, number=0)
    client = Client(run.world.provider.port, run.world.keys)
    run.maker.examine(request)
    run.perform(client, request)
    client.close()
    if request.status not in (200, 201, 202, 204) and not run.falsify:
        fail(f"{operation} was answered {request.status} {request.answer}")
    return request.answer


def push_one(run):
    """A push of which everything is known, and so one at least at which each fault has to be noticed, whatever else was sent:
    to the only device of a user."""
    ask(run, "registerDevice", {"app": APPS[0]}, {"token": TOKEN, "user": USER})
    note = ask(run, "send", {"app": APPS[0]}, {"to": {"user": USER}, "alert": "planted"})
    run.world.provider.await_end([note["id"]], 90)
