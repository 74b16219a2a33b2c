"""A small XMPP client for scripts/conformance-xmpp, with slixmpp.

xmpp.py register PORT DOMAIN USER…                     makes accounts with the password "pw" (in-band, before any login)
xmpp.py enable PORT JID COMPONENT NODE SECRET          logs in and asks the server to report to a node
xmpp.py send PORT JID TO TEXT                          logs in and sends a message
xmpp.py disco PORT JID COMPONENT                       logs in and prints identities and features of a component
xmpp.py p2 PORT JID COMPONENT TOKEN DEVICE             logs in and registers a token (ad-hoc); prints jid, node and secret
"""

import asyncio
import socket
import sys
from xml.sax.saxutils import escape, quoteattr

PASSWORD = "pw"
LIMIT = 20  # seconds


def register(port: int, domain: str, users: list[str]) -> None:
    for user in users:
        with socket.create_connection(("127.0.0.1", port), LIMIT) as link:
            link.settimeout(LIMIT)
            link.sendall(
                f"<stream:stream to='{domain}' xmlns:stream='http://etherx.jabber.org/streams' "
                "xmlns='jabber:client' version='1.0'>".encode()
            )
            text = ""
            while "</stream:features>" not in text:
                text += link.recv(65536).decode()
            link.sendall(
                "<iq type='set' id='r1'><query xmlns='jabber:iq:register'>"
                f"<username>{user}</username><password>{PASSWORD}</password></query></iq>".encode()
            )
            text = ""
            while "/>" not in text and "</iq>" not in text:
                text += link.recv(65536).decode()
            if "result" not in text:
                sys.exit(f"{user} cannot be registered: {text}")


def logged_in(port: int, jid: str, body) -> None:
    """Runs body(client) after a login, and logs out. Its error is the program's."""
    import slixmpp

    client = slixmpp.ClientXMPP(jid, PASSWORD)
    client["feature_mechanisms"].unencrypted_plain = True
    client["feature_mechanisms"].unencrypted_scram = True
    failures = ["no login"]

    async def start(_):
        failures.clear()
        try:
            await asyncio.wait_for(body(client), LIMIT)
        except Exception as error:  # reported below
            failures.append(f"{error!r}")
        await client.disconnect()

    client.add_event_handler("session_start", start)
    client.connect(("127.0.0.1", port), disable_starttls=True)
    client.loop.call_later(2 * LIMIT, client.abort)
    client.process(forever=False)
    if failures:
        sys.exit(f"{jid}: {failures[0]}")


def element(text: str):
    from slixmpp.xmlstream import ET

    return ET.fromstring(text)


def form(fields: dict[str, str]) -> str:
    values = "".join(f"<field var={quoteattr(n)}><value>{escape(v)}</value></field>" for n, v in fields.items())
    return f"<x xmlns='jabber:x:data' type='submit'>{values}</x>"


async def enable(client, component: str, node: str, secret: str) -> None:
    # A client without presence is none that could be away.
    client.send_presence()
    options = {"FORM_TYPE": "http://jabber.org/protocol/pubsub#publish-options", "secret": secret}
    request = client.make_iq_set(ito=client.boundjid.bare)
    request.append(
        element(f"<enable xmlns='urn:xmpp:push:0' jid={quoteattr(component)} node={quoteattr(node)}>{form(options)}</enable>")
    )
    await request.send()


async def send(client, to: str, text: str) -> None:
    client.send_message(to, text)
    # The answer to a later request means that the server has the message.
    client.register_plugin("xep_0199")
    await client["xep_0199"].ping(client.boundjid.host, timeout=LIMIT)


async def disco(client, component: str) -> None:
    client.register_plugin("xep_0030")
    info = (await client["xep_0030"].get_info(jid=component, timeout=LIMIT))["disco_info"]
    for category, kind, _, _ in sorted(info["identities"], key=str):
        print(f"{category}/{kind}")
    for feature in sorted(info["features"]):
        print(feature)


async def p2(client, component: str, token: str, device: str) -> None:
    request = client.make_iq_set(ito=component)
    request.append(
        element(
            "<command xmlns='http://jabber.org/protocol/commands' action='execute' node='register-push-apns'>"
            + form({"token": token, "device-id": device})
            + "</command>"
        )
    )
    answer = await request.send()
    values = {
        field.get("var"): field.findtext("{jabber:x:data}value") for field in answer.xml.iter("{jabber:x:data}field")
    }
    print(values["jid"], values["node"], values["secret"])


def main() -> None:
    command, port, rest = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    if command == "register":
        register(port, rest[0], rest[1:])
        return
    calls = {"enable": enable, "send": send, "disco": disco, "p2": p2}
    logged_in(port, rest[0], lambda client: calls[command](client, *rest[1:]))


main()
