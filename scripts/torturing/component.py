"""An XMPP server with one component (XEP-0114), which reports messages to it (XEP-0357)."""

import hashlib
import re
import socket
import threading
import uuid

STREAM = "<stream:stream xmlns='jabber:component:accept' xmlns:stream='http://etherx.jabber.org/streams'"
PUBLISH = """<iq type='set' from='{server}' to='{component}' id='{identity}'>\
<pubsub xmlns='http://jabber.org/protocol/pubsub'><publish node='{node}'><item><notification xmlns='urn:xmpp:push:0'>\
<x xmlns='jabber:x:data' type='form'><field var='FORM_TYPE'><value>urn:xmpp:push:summary</value></field>\
<field var='last-message-body'><value>New Message!</value></field></x></notification></item></publish>\
<publish-options><x xmlns='jabber:x:data' type='submit'><field var='FORM_TYPE'>\
<value>http://jabber.org/protocol/pubsub#publish-options</value></field>\
<field var='secret'><value>{secret}</value></field></x></publish-options></pubsub></iq>"""
REGISTER = """<iq type='set' from='{user}' to='{component}' id='{identity}'>\
<command xmlns='http://jabber.org/protocol/commands' action='execute' node='register-push-apns'>\
<x xmlns='jabber:x:data' type='submit'><field var='token'><value>{token}</value></field>\
<field var='device-id'><value>{device}</value></field></x></command></iq>"""


class ComponentServer:
    """Listens for the provider's component, with one link at a time."""

    def __init__(self, component, secret, server="example.com"):
        self.component, self.secret, self.server = component, secret, server
        self.answers, self.condition, self.link = {}, threading.Condition(), None
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            link, _ = self.socket.accept()
            try:
                self.serve(link)
            except (OSError, ValueError):
                link.close()

    def serve(self, link):
        text = self.read(link, "", r"<stream:stream[^>]*>")
        identity = uuid.uuid4().hex
        link.sendall(f"<?xml version='1.0'?>{STREAM} from='{self.component}' id='{identity}'>".encode())
        text = self.read(link, text, r"</handshake>")
        if hashlib.sha1((identity + self.secret).encode()).hexdigest() not in text:
            raise ValueError("a wrong handshake")
        link.sendall(b"<handshake/>")
        with self.condition:
            self.link = link
            self.condition.notify_all()
        text = ""
        while True:
            text = self.take(text + self.receive(link))

    @staticmethod
    def receive(link):
        content = link.recv(65536)
        if not content:
            raise OSError("the component has gone")
        return content.decode()

    def read(self, link, text, end):
        while not re.search(end, text):
            text += self.receive(link)
        return text

    def take(self, text):
        """Notes the answers in a text, and returns its rest."""
        last = 0
        for stanza in re.finditer(r"<iq\b[^>]*?(/>|>.*?</iq>)", text, re.DOTALL):
            last = stanza.end()
            head = re.match(r"<iq\b[^>]*>", stanza[0])[0]
            kind, identity = (re.search(rf"\b{name}=['\"]([^'\"]*)", head) for name in ("type", "id"))
            if kind and identity and kind[1] in ("result", "error"):
                with self.condition:
                    self.answers[identity[1]] = stanza[0]
                    self.condition.notify_all()
        return text[last:]

    def wait_for_link(self, seconds=30):
        with self.condition:
            return self.condition.wait_for(lambda: self.link is not None, seconds)

    def publish(self, node, secret, seconds=20):
        """Reports a message, and returns the answer; None without one."""
        return self.ask(PUBLISH, seconds, server=self.server, node=node, secret=secret)

    def register(self, user, token, device, seconds=20):
        """Registers a device of somebody, and returns the answer; None without one."""
        return self.ask(REGISTER, seconds, user=user, token=token, device=device)

    def ask(self, text, seconds, **values):
        identity = uuid.uuid4().hex
        stanza = text.format(component=self.component, identity=identity, **values)
        with self.condition:
            if self.link is None:
                return None
            self.link.sendall(stanza.encode())
            self.condition.wait_for(lambda: identity in self.answers, seconds)
            return self.answers.pop(identity, None)
