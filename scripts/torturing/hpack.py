"""Header blocks of HTTP/2 (RFC 7541) as the provider's sender writes them: without Huffman code."""

from basics import fail

STATIC = """:authority|
:method|GET
:method|POST
:path|/
:path|/index.html
:scheme|http
:scheme|https
:status|200
:status|204
:status|206
:status|304
:status|400
:status|404
:status|500
accept-charset|
accept-encoding|gzip, deflate
accept-language|
accept-ranges|
accept|
access-control-allow-origin|
age|
allow|
authorization|
cache-control|
content-disposition|
content-encoding|
content-language|
content-length|
content-location|
content-range|
content-type|
cookie|
date|
etag|
expect|
expires|
from|
host|
if-match|
if-modified-since|
if-none-match|
if-range|
if-unmodified-since|
last-modified|
link|
location|
max-forwards|
proxy-authenticate|
proxy-authorization|
range|
referer|
refresh|
retry-after|
server|
set-cookie|
strict-transport-security|
transfer-encoding|
user-agent|
vary|
via|
www-authenticate|"""
FIELDS = [tuple(line.split("|")) for line in STATIC.splitlines()]


class Decoder:
    """The table of one connection; sizes are not counted, because our sender never has more than fits."""

    def __init__(self):
        self.table = []

    def decode(self, block):
        """The fields as a dictionary."""
        fields, self.block, self.at = {}, block, 0
        while self.at < len(block):
            first = block[self.at]
            if first & 0x80:
                name, value = self.field(self.integer(7))
            elif first & 0xe0 == 0x20:
                if self.integer(5) == 0:
                    self.table = []
                continue
            else:
                index = self.integer(6 if first & 0x40 else 4)
                name = self.field(index)[0] if index else self.string()
                value = self.string()
                if first & 0x40:
                    self.table.insert(0, (name, value))
            fields[name] = value
        return fields

    def field(self, index):
        return FIELDS[index - 1] if index <= len(FIELDS) else self.table[index - len(FIELDS) - 1]

    def integer(self, prefix):
        limit = (1 << prefix) - 1
        value, self.at = self.block[self.at] & limit, self.at + 1
        shift = 0
        while value >= limit:
            byte, self.at = self.block[self.at], self.at + 1
            value += (byte & 0x7f) << shift
            shift += 7
            if not byte & 0x80:
                break
        return value

    def string(self):
        if self.block[self.at] & 0x80:
            fail("the sender writes Huffman code, which the push service of the torture does not read")
        length = self.integer(7)
        text, self.at = self.block[self.at:self.at + length], self.at + length
        return text.decode()


def literal(name, value):
    """A field that is not kept in the table; of the status, which has a place in the static one, only the value."""
    value = value.encode()
    if name == ":status":
        return (b"\x88" if value == b"200" else b"\x08" + bytes([len(value)]) + value)
    return b"\x00" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value
