import NIOCore
import NIOHPACK
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushGateway

@Suite struct RequestHeaderDecoderTests {
    @Test func theVectorIsRead() throws {
        let block = try #require(Hexadecimal.decode(Self.vector))
        #expect(block.count == 436)
        var decoder = RequestHeaderDecoder()
        var request = ProviderRequest()
        let head = try decoder.decode(block.span, into: &request)
        #expect(!head.isMalformed && !head.isTooLong && head.beginsRequest(request))
        #expect(request == Self.vectorRequest)
    }

    @Test func theRequestAfterTheVectorUsesItsTable() throws {
        var decoder = RequestHeaderDecoder()
        var request = ProviderRequest()
        let first = try #require(Hexadecimal.decode(Self.vector))
        _ = try decoder.decode(first.span, into: &request)
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
        request = ProviderRequest()
        let head = try decoder.decode(block.span, into: &request)
        #expect(!head.isMalformed)
        var expected = Self.vectorRequest
        expected.path = "/3/device/aa"
        expected.fields.authorization = "bearer t"
        expected.fields.id = "second"
        expected.fields.expiration = "7"
        #expect(request == expected)
    }

    @Test(arguments: [false, true])
    func whatAnotherEncoderWritesIsRead(huffman: Bool) throws {
        var generator = SeededGenerator(seed: huffman ? 1 : 2)
        var encoder = HPACKEncoder(allocator: ByteBufferAllocator(), useHuffmanEncoding: huffman)
        var decoder = RequestHeaderDecoder()
        for number in 0..<2000 {
            if number % 100 == 99 {
                try encoder.setDynamicTableSize(Int.random(in: 0...4096, using: &generator))
            }
            var headers: [(String, String)] = [(":method", "POST"), (":scheme", "https"), (":path", "/3/\(number)")]
            var expected = ProviderRequest(method: "POST", path: "/3/\(number)")
            for (name, wire) in Self.names where Bool.random(using: &generator) {
                let length = Int.random(in: 0...(number % 10 == 0 ? 1500 : 20), using: &generator)
                let value = String(repeating: "v", count: length) + "\(Int.random(in: 0...9, using: &generator))"
                headers.append((wire, value))
                expected.add(name, value)
                if Int.random(in: 0..<20, using: &generator) == 0 {
                    headers.append((wire, value))
                    expected.add(name, value)
                }
            }
            if Bool.random(using: &generator) { headers.append(("x-\(number % 30)", "\(number)")) }
            var buffer = ByteBuffer()
            var list = HPACKHeaders()
            for (name, value) in headers { list.add(name: name, value: value, indexing: Self.indexing(&generator)) }
            try encoder.encode(headers: list, to: &buffer)
            var request = ProviderRequest()
            let head = try decoder.decode(buffer.readableBytesUInt8Span, into: &request)
            let size = headers.reduce(0) { $0 + $1.0.utf8.count + $1.1.utf8.count + 32 }
            #expect(head.isTooLong == (size > 8000))
            if !head.isTooLong {
                #expect(!head.isMalformed && head.beginsRequest(request))
                #expect(request == expected)
            }
        }
    }

    @Test func aValueThatComesAgainAsALiteralIsStillReadAnew() throws {
        var decoder = RequestHeaderDecoder()
        for token in ["a", "a", "b", "a", String(repeating: "c", count: 200), "a", ""] {
            var block: [UInt8] = [0x83, 0x87, 0x84, 0x0f, 0x08]
            block.appendString(token)
            var request = ProviderRequest()
            let head = try decoder.decode(block.span, into: &request)
            #expect(request.fields.authorization == token)
            #expect(!head.isMalformed)
        }
    }

    @Test(arguments: Self.malformed.keys.sorted())
    func malformedRequestsAreSeen(name: String) throws {
        let extra = try #require(Self.malformed[name])
        var decoder = RequestHeaderDecoder()
        // Twice: the second time from the dynamic table.
        for _ in 0..<2 {
            var block: [UInt8] = [0x83, 0x87, 0x84]
            for (name, value) in extra {
                block.append(0x40)
                block.appendString(name)
                block.appendString(value)
            }
            var request = ProviderRequest()
            #expect(try decoder.decode(block.span, into: &request).isMalformed)
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
        try encoder.encode(headers: HPACKHeaders(ServiceHarness.push + extra), to: &buffer)
        var decoder = RequestHeaderDecoder()
        var request = ProviderRequest()
        let head = try decoder.decode(buffer.readableBytesUInt8Span, into: &request)
        #expect(!head.isMalformed && head.beginsRequest(request))
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
        var decoder = RequestHeaderDecoder()
        var request = ProviderRequest()
        let head = try decoder.decode(buffer.readableBytesUInt8Span, into: &request)
        #expect(!head.beginsRequest(request))
    }

    @Test func aListThatIsTooLongLeavesTheTableRight() throws {
        var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
        var decoder = RequestHeaderDecoder()
        let long = (0..<30).map { ("x-\($0)", String(repeating: "v", count: 300)) }
        for (headers, isTooLong) in [
            (ServiceHarness.push + long + [("apns-id", "kept")], true),
            (ServiceHarness.push + [("apns-id", "kept"), ("x-29", String(repeating: "v", count: 300))], false),
        ] {
            var buffer = ByteBuffer()
            try encoder.encode(headers: HPACKHeaders(headers), to: &buffer)
            var request = ProviderRequest()
            #expect(try decoder.decode(buffer.readableBytesUInt8Span, into: &request).isTooLong == isTooLong)
            if !isTooLong { #expect(request.fields.id == "kept") }
        }
    }

    @Test(arguments: [
        "80", "c0", "7f", "7fffffffffff", "3fffffffff7f", "40", "4001", "00", "0001", "000161", "0081ff", "88203f",
        "ff80808080808080808001", "be", "3fe21f", "0f",
    ])
    func brokenBlocksAreRefused(hex: String) throws {
        let block = try #require(Hexadecimal.decode(hex))
        #expect(throws: RequestHeaderDecoder.Failure.self) {
            var decoder = RequestHeaderDecoder()
            var request = ProviderRequest()
            _ = try decoder.decode(block.span, into: &request)
        }
    }

    private static func indexing(_ generator: inout SeededGenerator) -> HPACKIndexing {
        [.indexable, .indexable, .nonIndexable, .neverIndexed].randomElement(using: &generator) ?? .indexable
    }

    private static let names: [(RequestField.Name, String)] = [
        (.authorization, "authorization"), (.pushType, "apns-push-type"), (.topic, "apns-topic"), (.id, "apns-id"),
        (.expiration, "apns-expiration"), (.priority, "apns-priority"), (.collapseID, "apns-collapse-id"),
        (.channelID, "apns-channel-id"), (.requestID, "apns-request-id"), (.other, "user-agent"),
    ]

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

    /// Reference 8.4.
    static let vector = [
        "8387411a6170692e73616e64626f782e707573682e6170706c652e636f6d044a",
        "2f332f6465766963652f33303262643338636331366164663663393338336538",
        "3834386239316438393561666363623261356135643164353234333566313463",
        "343730616137313736370f087f406265617265722065794a68624763694f694a",
        "46557a49314e694973496d74705a434936496b4643517a45794d305246526b63",
        "6966512e65794a7063334d694f694a45525559784d6a4e4853456c4b49697769",
        "61574630496a6f784e7a41774d4441774d44417766512e35516f49654e6f4344",
        "4a746d70796f2d6f415a44716d54426266564d4c6d4173456c3658576f41454c",
        "4a743835787152745751554f7338574347764478616b756e6337795153724b46",
        "4b674c6b3978554c7a76394677400761706e732d69642465616265616535342d",
        "313461382d313165352d623630622d313639376639323565633762400e61706e",
        "732d707573682d7479706505616c657274400f61706e732d6578706972617469",
        "6f6e0130400d61706e732d7072696f72697479023130400a61706e732d746f70",
        "696311636f6d2e6578616d706c652e4d79417070",
    ].joined()
}
