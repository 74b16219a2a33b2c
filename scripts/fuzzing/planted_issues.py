"""Downloads that are put off although nothing is asked that does not answer."""

import json

from planting import ask, status
from world import APPS

OPERATIONS = "addPublication addIssue publishIssue downloadIssue setEntitlementServer removeEntitlementServer"
APP, PRODUCT = APPS[0], "com.example.planted"
LATER = json.dumps({"error": {"code": "entitlement_unavailable", "message": "it is planted"}}).encode()


def sell(run, access="retail"):
    """A published issue, and a publisher's server that answers nothing that it may."""
    publication = ask(run, "addPublication", {"app": APP}, {"name": "planted"})
    issue = ask(run, "addIssue", {"publication": publication["id"]}, {
        "productId": PRODUCT, "title": "planted", "date": "2026-11-01", "access": access})
    ask(run, "publishIssue", {"issue": issue["id"]})
    ask(run, "setEntitlementServer", {"app": APP}, {"url": f"http://127.0.0.1:{run.world.receiver_port}/"})


def download(run, falsify=None, **members):
    run.falsify = falsify or (lambda request, content: (request.status, content))
    ask(run, "downloadIssue", {"app": APP, "productId": PRODUCT}, {"screenSize": "1024x768", **members})


def put_off(*statuses):
    return status(statuses, 503, LATER)


def without_server(run):
    """The provider puts it off as long as there is a server, and that is no fault; afterwards it is one."""
    sell(run)
    download(run, account="planted")
    run.falsify = None
    ask(run, "removeEntitlementServer", {"app": APP})
    if run.coverage["downloadIssue", 503] == 0 or any(finding.kind == "undecided" for finding in run.findings):
        # Without a finding, the self-test fails.
        run.findings.clear()
        return
    download(run, put_off(403), account="planted")


def refused(run):
    """The app's setting is to refuse everybody meanwhile."""
    sell(run)
    ask(run, "setEntitlementServer", {"app": APP}, {"url": f"http://127.0.0.1:{run.world.receiver_port}/", "whenDown": "refuse"})
    download(run, put_off(403), account="planted")


def of_nobody(run):
    """There is nobody about whom the server is asked."""
    sell(run)
    download(run, put_off(403))


def free(run):
    sell(run, "free")
    download(run, put_off(200, 409), account="planted")


PLANTED = {
    "a download that is put off without a server": without_server,
    "a download that is put off, to be refused": refused,
    "a download that is put off and of nobody": of_nobody,
    "a download of a free issue that is put off": free,
}
