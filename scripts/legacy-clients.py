"""Sends one push with a library for Apple's legacy binary protocol, as it was published, and reads feedback with it where it can.

    legacy-clients.py CLIENT BINARY-PORT FEEDBACK-PORT PEM AUTHORITY TOKEN TEXT

PEM has an old provider's certificate and its key, AUTHORITY the certificates that it trusts. The environment is changed, not the
libraries: Apple's names lead to this machine, and TLS 1.2 takes the place of the versions that OpenSSL 3 has not got any more.
The status is 0 once the library believes that its push is accepted. Read by scripts/conformance-bridge.
"""

import binascii
import collections
import collections.abc
import json
import socket
import ssl
import struct
import sys
import tempfile
import time

client, binary_port, feedback_port, pem, authority, token, text = sys.argv[1:8]
ports = {2195: int(binary_port), 2196: int(feedback_port)}

# Python has moved these.
for name in collections.abc.__all__:
    if not hasattr(collections, name):
        setattr(collections, name, getattr(collections.abc, name))


def redirected(address):
    host, port = address[:2]
    return ("127.0.0.1", ports.get(port, port)) if "apple.com" in str(host) or port in ports else address


connect, connect_ex, create = socket.socket.connect, socket.socket.connect_ex, socket.create_connection
lookup = socket.getaddrinfo
socket.socket.connect = lambda self, address: connect(self, redirected(address))
socket.socket.connect_ex = lambda self, address: connect_ex(self, redirected(address))
socket.create_connection = lambda address, *rest, **named: create(redirected(address), *rest, **named)
socket.getaddrinfo = lambda host, *rest, **named: lookup("127.0.0.1" if "apple.com" in str(host) else host, *rest, **named)


def wrap_socket(sock, keyfile=None, certfile=None, do_handshake_on_connect=True, **_):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(authority)
    if certfile:
        context.load_cert_chain(certfile, keyfile)
    return context.wrap_socket(sock, do_handshake_on_connect=do_handshake_on_connect)


ssl.wrap_socket = wrap_socket
for name in ("PROTOCOL_SSLv3", "PROTOCOL_TLSv1", "PROTOCOL_SSLv23"):
    if not hasattr(ssl, name):
        setattr(ssl, name, ssl.PROTOCOL_TLS_CLIENT)


def modern_openssl():
    """pyOpenSSL has no TLS 1.0 either, and names of versions that are gone."""
    from OpenSSL import SSL

    class Context(SSL.Context):
        def __init__(self, method):
            super().__init__(SSL.TLS_METHOD)

    for method in ("SSLv3_METHOD", "TLSv1_METHOD", "SSLv23_METHOD"):
        if not hasattr(SSL, method):
            setattr(SSL, method, SSL.TLS_METHOD)
    SSL.Context = Context


def django(**settings):
    from django.conf import settings as django_settings

    django_settings.configure(DEBUG=True, **settings)


def program_of_2009():
    """A program of its time: command 0 from struct, nothing read."""
    payload = json.dumps({"aps": {"alert": text}}).encode()
    sock = ssl.wrap_socket(socket.socket(), certfile=pem)
    sock.connect(("gateway.sandbox.push.apple.com", 2195))
    bytes_ = binascii.unhexlify(token)
    sock.write(struct.pack("!BH%dsH%ds" % (len(bytes_), len(payload)), 0, len(bytes_), bytes_, len(payload), payload))
    sock.unwrap().close()


def apns3():
    from apns3 import APNs, Payload

    connection = APNs(use_sandbox=True, cert_file=pem, key_file=pem)
    connection.gateway_server.send_notification(token, Payload(alert=text))
    return [entry[0] for entry in connection.feedback_server.items()]


def apns3_enhanced():
    from apns3 import APNs, Payload

    connection = APNs(use_sandbox=True, cert_file=pem, key_file=pem, enhanced=True)
    connection.gateway_server.send_notification(token, Payload(alert=text), identifier=7, expiry=int(time.time()) + 3600)
    time.sleep(1)
    connection.gateway_server.force_close()


def apns3_frame():
    from apns3 import APNs, Frame, Payload

    connection = APNs(use_sandbox=True, cert_file=pem, key_file=pem, enhanced=True)
    frame = Frame()
    frame.add_item(token, Payload(alert=text), 1, int(time.time()) + 3600, 10)
    connection.gateway_server.send_notification_multiple(frame)
    time.sleep(1)
    connection.gateway_server.force_close()


def apns_clerk():
    modern_openssl()
    from apns_clerk import APNs, Message, Session

    session = Session()
    connection = session.get_connection("push_sandbox", cert_file=pem)
    result = APNs(connection).send(Message([token], alert=text))
    assert not result.failed and not result.errors, (result.failed, result.errors)
    service = APNs(session.new_connection("feedback_sandbox", cert_file=pem))
    return [entry[0] for entry in service.feedback()]


def apns_client():
    modern_openssl()
    from apnsclient import APNs, Message, Session

    session = Session()
    result = APNs(session.get_connection("push_sandbox", cert_file=pem)).send(Message([token], alert=text))
    assert not result.failed and not result.errors, (result.failed, result.errors)


def apns_worker():
    from apns_worker import ApnsManager

    manager = ApnsManager(key_path=pem, cert_path=pem, environment="sandbox")
    manager.send_aps([token], alert=text)
    time.sleep(2)


def pushjack():
    from pushjack import APNSSandboxClient

    connection = APNSSandboxClient(certificate=pem, default_error_timeout=2)
    result = connection.send(token, text)
    assert result.successes, result.errors
    expired = [entry.token for entry in connection.get_expired_tokens()]
    connection.close()
    return expired


def aid_push():
    from aid_push import APNSSandboxClient

    connection = APNSSandboxClient(certificate=pem, default_error_timeout=2)
    result = connection.send(token, text)
    assert result.successes, result.errors
    connection.close()


def flask_pushjack():
    from flask import Flask
    from flask_pushjack import FlaskAPNS

    service, app = FlaskAPNS(), Flask("old")
    app.config.update(APNS_CERTIFICATE=pem, APNS_SANDBOX=True, APNS_DEFAULT_ERROR_TIMEOUT=2)
    service.init_app(app)
    with app.app_context():
        assert service.send(token, text).successes


def django_push_notifications():
    django(PUSH_NOTIFICATIONS_SETTINGS={"APNS_CERTIFICATE": pem, "APNS_ERROR_TIMEOUT": 1})
    from push_notifications.apns import apns_fetch_inactive_ids, apns_send_message

    apns_send_message(token, text)
    return apns_fetch_inactive_ids()


def django_pushapp():
    django(PUSHAPP_SETTINGS={"APNS_CERTIFICATE": pem, "APNS_ERROR_TIMEOUT": 1})
    from pushapp.apns import apns_send_message

    apns_send_message(token, text)


def django_instapush():
    django(INSTAPUSH_SETTINGS={"APNS_SETTINGS": {"APNS_CERTIFICATE": pem, "ERROR_TIMEOUT": 1}})
    from instapush.libs.apns import apns_send_message

    apns_send_message(token, {"message": text})


gone = globals()[client.replace("-", "_")]()
for entry in gone or []:
    print("feedback", entry.decode() if isinstance(entry, bytes) else entry)
