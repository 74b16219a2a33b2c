import NIOCore
import NIOHPACK
import PushTesting
import PushTypes
import Testing

@testable import PushWire

@Suite struct RequestHeadTests {
    @Test func theVectorIsRead() throws {
        let block = try #require(Hexadecimal.decode(HeaderBlockVector.hex))
        #expect(block.count == 436)
        var decoder = HeaderBlockDecoder<RequestHead>()
        let head = try decoder.decode(block.span)
        let request = head.request
        #expect(!head.isMalformed && !head.isTooLong && head.isRequest)
        #expect(request == Self.vectorRequest)
    }

    @Test func theRequestAfterTheVectorUsesItsTable() throws {
        var decoder = HeaderBlockDecoder<RequestHead>()
        let first = try #require(Hexadecimal.decode(HeaderBlockVector.hex))
        _ = try decoder.decode(first.span)
        // Reference 8.4: positions in the dynamic table, literals with the names of `apns-id` and `apns-expiration`.
        var block: [UInt8] = [0x83, 0x87, 0xc3, 0x04]
        block.appendString("/3/device/aa")
        block += [0x0f, 0x08]
        block.appendString("bearer t")
        block += [0x0f, 0x33]
        block.appendString("second")
        block += [0xc1, 0x0f, 0x31]
        block.appendString("7")
        block += [0xbf, 0xbe]
        let head = try decoder.decode(block.span)
        #expect(!head.isMalformed)
        var expected = Self.vectorRequest
        expected.path = "/3/device/aa"
        expected.fields.authorization = "bearer t"
        expected.fields.id = "second"
        expected.fields.expiration = "7"
        #expect(head.request == expected)
    }

    @Test(arguments: Self.malformed.keys.sorted())
    func malformedRequestsAreSeen(name: String) throws {
        let extra = try #require(Self.malformed[name])
        var decoder = HeaderBlockDecoder<RequestHead>()
        // Twice: the second time from the dynamic table.
        for _ in 0..<2 {
            var block: [UInt8] = [0x83, 0x87, 0x84]
            for (name, value) in extra {
                block.append(0x40)
                block.appendString(name)
                block.appendString(value)
            }
            #expect(try decoder.decode(block.span).isMalformed)
        }
    }

    private static let malformed: [String: [(String, String)]] = [
        "upper case": [("Apns-Topic", "t")], "empty name": [("", "v")], "blank in a name": [("a b", "v")],
        "colon in a name": [("a:b", "v")], "8-bit name": [("é", "v")], "unknown pseudo-header": [(":proto", "v")],
        "pseudo-header after a field": [("a", "b"), (":authority", "x")], "second method": [(":method", "GET")],
        "second path": [(":path", "/")], "connection": [("connection", "close")], "upgrade": [("upgrade", "h2c")],
        "keep-alive": [("keep-alive", "1")], "proxy-connection": [("proxy-connection", "close")],
        "transfer-encoding": [("transfer-encoding", "chunked")], "te": [("te", "gzip")],
        "line feed": [("apns-id", "a\nb")], "NUL in an unknown field": [("x", "a\0b")],
        "blank at the start": [("apns-topic", " t")], "blank at the end": [("authorization", "t ")],
        "content-length in words": [("content-length", "many")], "no content-length": [("content-length", "")],
        "negative content-length": [("content-length", "-1")],
        "content-length that would overflow": [("content-length", "99999999999999999999999999")],
        "two lengths": [("content-length", "1"), ("content-length", "2")],
    ]

    @Test(arguments: [
        [("host", "localhost")], [("te", "trailers")], [("content-length", "5"), ("content-length", "5")],
        [("x", "")], [("cookie", "a"), ("cookie", "b")],
    ])
    func unusualRequestsAreTaken(extra: [(String, String)]) throws {
        var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
        var buffer = ByteBuffer()
        try encoder.encode(headers: HPACKHeaders(Vectors.pushHeaders + extra), to: &buffer)
        var decoder = HeaderBlockDecoder<RequestHead>()
        let head = try decoder.decode(buffer.readableBytesUInt8Span)
        let request = head.request
        #expect(!head.isMalformed && head.isRequest)
        #expect(!request.fields.hasDuplicate)
    }

    @Test(arguments: [
        [(":method", "POST"), (":scheme", "https")], [(":method", "POST"), (":path", "/")],
        [(":scheme", "https"), (":path", "/")], [(":method", "POST"), (":scheme", "https"), (":path", "")],
        [(":method", "CONNECT"), (":scheme", "https"), (":path", "/")],
    ])
    func missingPseudoHeadersAreSeen(headers: [(String, String)]) throws {
        var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
        var buffer = ByteBuffer()
        try encoder.encode(headers: HPACKHeaders(headers), to: &buffer)
        var decoder = HeaderBlockDecoder<RequestHead>()
        let head = try decoder.decode(buffer.readableBytesUInt8Span)
        #expect(!head.isRequest)
    }

    /// Reference 8.2, request 2a, without its body.
    private static var vectorRequest: ProviderRequest {
        var request = ProviderRequest(method: "POST", path: "/3/device/\(Vectors.tokenA)")
        request.fields.authorization = "bearer \(Vectors.providerToken)"
        request.fields.id = "eabeae54-14a8-11e5-b60b-1697f925ec7b"
        request.fields.pushType = "alert"
        request.fields.expiration = "0"
        request.fields.priority = "10"
        request.fields.topic = Vectors.bundleID
        return request
    }
}
