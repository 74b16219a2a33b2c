#!/usr/bin/env python3
"""The other people of a chat server, for scripts/conformance-sessions: small clients of IRC and XMPP over TLS, from the standard
library alone.

  chat.py irc PORT CA NICK [LINE…]             signs in, sends the lines, waits for what they cause, and leaves
  chat.py xmpp-register PORT CA DOMAIN USER PASSWORD
  chat.py xmpp PORT CA DOMAIN USER PASSWORD [STANZA…]   signs in, is present, sends the stanzas, and leaves
  chat.py xmpp-stay PORT CA DOMAIN USER PASSWORD        signs in, is present until the standard input ends

A line or stanza `wait N` waits so many seconds.
"""
import base64
import socket
import ssl
import sys
import time

PATIENCE = 20


class Stream:
    """A connection that reads until something was said."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self.received = ""

    def secure(self, authority, name):
        context = ssl.create_default_context(cafile=authority)
        self.socket = context.wrap_socket(self.socket, server_hostname=name)

    def send(self, text):
        self.socket.sendall(text.encode())

    def read(self, patience):
        self.socket.settimeout(patience)
        part = self.socket.recv(65536)
        if not part:
            raise EOFError(f"the server has left; it said {self.received[-300:]!r}")
        self.received += part.decode("utf-8", "replace")
        return part.decode("utf-8", "replace")

    def until(self, *words):
        """Reads until one of the words arrives, and returns it."""
        end = time.monotonic() + PATIENCE
        while True:
            for word in words:
                if word in self.received:
                    self.received = self.received.split(word, 1)[1]
                    return word
            if time.monotonic() > end:
                raise TimeoutError(f"none of {words} in {self.received[-300:]!r}")
            self.read(PATIENCE)

    def rest(self, seconds):
        """Waits, and reads what arrives."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                self.read(left)
            except TimeoutError:
                return


def wait(stream, text):
    if text.startswith("wait "):
        stream.rest(float(text.split()[1]))
        return True
    return False


def irc(port, authority, nick, *lines):
    stream = Stream(int(port))
    stream.secure(authority, "localhost")
    stream.send(f"NICK {nick}\r\nUSER {nick} 0 * {nick}\r\n")
    stream.until(" 376 ", " 422 ")
    for line in lines:
        if not wait(stream, line):
            stream.send(line + "\r\n")
    # The server has read all lines once it answers this one.
    stream.send("PING :done\r\n")
    stream.until("PONG")
    stream.send("QUIT\r\n")


class XMPP(Stream):
    CLIENT = "jabber:client"
    TLS = "urn:ietf:params:xml:ns:xmpp-tls"
    SASL = "urn:ietf:params:xml:ns:xmpp-sasl"

    def __init__(self, port, authority, domain):
        super().__init__(port)
        self.domain = domain
        self.open()
        self.send(f"<starttls xmlns='{self.TLS}'/>")
        self.until("<proceed")
        self.received = ""
        self.secure(authority, domain)
        self.open()

    def open(self):
        self.received = ""
        self.send(
            f"<?xml version='1.0'?><stream:stream xmlns='{self.CLIENT}' xmlns:stream='http://etherx.jabber.org/streams' "
            f"to='{self.domain}' version='1.0'>"
        )
        self.until("</stream:features>")

    def register(self, user, password):
        self.send(
            f"<iq type='set' id='register'><query xmlns='jabber:iq:register'><username>{user}</username>"
            f"<password>{password}</password></query></iq>"
        )
        self.until("id='register'", 'id="register"')

    def sign_in(self, user, password, resource):
        plain = base64.b64encode(f"\0{user}\0{password}".encode()).decode()
        self.send(f"<auth xmlns='{self.SASL}' mechanism='PLAIN'>{plain}</auth>")
        if self.until("<success", "<failure") == "<failure":
            raise PermissionError(self.received)
        self.open()
        self.send(
            "<iq type='set' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>"
            f"<resource>{resource}</resource></bind></iq>"
        )
        self.until("</jid>")
        self.send("<presence/>")
        self.until("<presence")

    def leave(self):
        self.send("<presence type='unavailable'/></stream:stream>")
        try:
            self.until("</stream:stream>")
        except EOFError:
            pass


def xmpp_register(port, authority, domain, user, password):
    stream = XMPP(int(port), authority, domain)
    stream.register(user, password)


def xmpp(port, authority, domain, user, password, *stanzas):
    stream = XMPP(int(port), authority, domain)
    stream.sign_in(user, password, f"helper{time.monotonic_ns()}")
    for stanza in stanzas:
        if not wait(stream, stanza):
            stream.send(stanza)
    # The server has read all stanzas once it answers this one.
    stream.send("<iq type='get' id='done'><ping xmlns='urn:xmpp:ping'/></iq>")
    stream.until("id='done'", 'id="done"')
    stream.leave()


def xmpp_stay(port, authority, domain, user, password):
    stream = XMPP(int(port), authority, domain)
    stream.sign_in(user, password, "phone")
    print("present", flush=True)
    sys.stdin.read()
    stream.leave()


if __name__ == "__main__":
    commands = {"irc": irc, "xmpp-register": xmpp_register, "xmpp": xmpp, "xmpp-stay": xmpp_stay}
    commands[sys.argv[1]](*sys.argv[2:])
