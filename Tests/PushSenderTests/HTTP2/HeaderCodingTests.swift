import NIOCore
import NIOHPACK
import PushTesting
import PushTypes
import Testing

@testable import PushSender

/// Our two halves of HPACK against the vectors and against NIOHPACK.
@Suite struct HeaderCodingTests {
    // MARK: Requests

    @Test func theFirstRequestIsTheVector() throws {
        var encoder = RequestEncoder(authority: "api.sandbox.push.apple.com")
        encoder.setProviderToken(Vectors.providerToken)
        let block = Self.encode(MachineHarness.push(), &encoder)
        #expect(block.count == 436)
        #expect(Hexadecimal.encode(block) == Self.vector)
    }

    @Test func theSecondRequestUsesTheTable() throws {
        var encoder = RequestEncoder(authority: "api.sandbox.push.apple.com")
        encoder.setProviderToken("t")
        _ = Self.encode(MachineHarness.push(), &encoder)
        for _ in 0..<2 {
            let block = Hexadecimal.encode(Self.encode(MachineHarness.push(), &encoder))
            // Method, scheme, authority, literal path.
            #expect(block.hasPrefix("8387c3044a2f332f646576696365"))
            // Literal authorization, literal id with a known name, push type, literal expiration, priority, topic.
            #expect(block.contains("0f0808626561726572" + "2074" + "0f3324"))
            #expect(block.hasSuffix("c10f310130bfbe"))
        }
    }

    @Test func everyRequestReadsBackAsItWasMeant() throws {
        var encoder = RequestEncoder(authority: "localhost:2197")
        var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
        for number in 0..<600 {
            encoder.setProviderToken(number % 100 == 0 ? nil : "token-\(number / 50)")
            if number == 200 { encoder.setTableSize(0) }
            if number == 300 { encoder.setTableSize(512) }
            if number == 400 { encoder.setTableSize(1_000_000) }
            let push = MachineHarness.push(
                id: "id-\(number)",
                topic: "com.example.App\(number % 40)",
                expiration: number % 3 == 0 ? .servicePolicy : .at(seconds: Int64(number)),
                collapseID: number % 5 == 0 ? "collapse \(number)" : nil,
                token: number % 2 == 0 ? Vectors.tokenA : Vectors.tokenC
            )
            var buffer = ByteBuffer(bytes: Self.encode(push, &encoder))
            let headers = try decoder.decodeHeaders(from: &buffer)
            #expect(headers.map { "\($0.name): \($0.value)" } == Self.expected(push, token: number))
        }
    }

    @Test func aCollapseIDThatComesLaterIsNotForgotten() throws {
        var encoder = RequestEncoder(authority: "localhost")
        var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
        for collapseID in [nil, nil, "c1", nil, "c2", "c3"] {
            for expiration in [Expiration.servicePolicy, .immediate] {
                let push = MachineHarness.push(expiration: expiration, collapseID: collapseID)
                var buffer = ByteBuffer(bytes: Self.encode(push, &encoder))
                let headers = try decoder.decodeHeaders(from: &buffer)
                #expect(headers.first(name: "apns-collapse-id") == collapseID)
                #expect(headers.first(name: "apns-expiration") == expiration.header)
            }
        }
    }

    @Test func additionalHeadersReplaceOurOwn() throws {
        var encoder = RequestEncoder(authority: "localhost")
        encoder.setProviderToken("t")
        var push = MachineHarness.push()
        push.additionalHeaders = [
            try #require(HeaderField(name: "apns-push-type", value: "novelty")),
            try #require(HeaderField(name: "X-Trace", value: "1")),
        ]
        var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
        for _ in 0..<3 {
            var buffer = ByteBuffer(bytes: Self.encode(push, &encoder))
            let headers = try decoder.decodeHeaders(from: &buffer)
            #expect(headers["apns-push-type"] == ["novelty"])
            #expect(headers["x-trace"] == ["1"])
            #expect(headers["apns-topic"] == [Vectors.bundleID])
        }
    }

    @Test(arguments: [("", "v"), ("a b", "v"), (":path", "v"), ("x", "a\r\nb"), ("x", "\u{0}"), ("x", "é")])
    func headerFieldsThatWouldBreakARequestAreRefused(name: String, value: String) {
        #expect(HeaderField(name: name, value: value) == nil)
    }

    // MARK: Replies

    @Test func repliesOfAnotherEncoderAreRead() throws {
        for huffman in [false, true] {
            var encoder = HPACKEncoder(allocator: ByteBufferAllocator(), useHuffmanEncoding: huffman)
            var decoder = ResponseHeaderDecoder()
            for number in 0..<500 {
                var buffer = ByteBuffer()
                let fields = [
                    (":status", number % 2 == 0 ? "200" : "503"), ("apns-id", "id-\(number)"),
                    ("date", "day \(number)"),
                    ("apns-unique-id", "unique-\(number)"), ("x-\(number)", String(repeating: "v", count: number)),
                    ("retry-after", "\(number)"),
                ]
                try encoder.encode(headers: HPACKHeaders(fields), to: &buffer)
                let head = try decoder.decode(buffer.readableBytesUInt8Span)
                let expected = ResponseHead(
                    status: number % 2 == 0 ? 200 : 503,
                    id: "id-\(number)",
                    uniqueID: "unique-\(number)",
                    retryAfter: "\(number)"
                )
                #expect(head == expected)
            }
        }
    }

    @Test func everyByteSurvivesTheHuffmanCode() throws {
        for first in UInt8.min...UInt8.max {
            let text = String(decoding: [0x61, first & 0x7f, 0x7a], as: UTF8.self)
            var encoder = HPACKEncoder(allocator: ByteBufferAllocator(), useHuffmanEncoding: true)
            var buffer = ByteBuffer()
            try encoder.encode(headers: HPACKHeaders([("apns-id", text)]), to: &buffer)
            var decoder = ResponseHeaderDecoder()
            #expect(try decoder.decode(buffer.readableBytesUInt8Span).id == text)
        }
    }

    @Test(arguments: [
        "80", "c0", "7f", "7fffffffffff", "3fffffffff7f", "40", "4001", "00", "0001", "000161", "0081ff", "88203f",
        "ff80808080808080808001", "be", "3fe21f",
    ])
    func brokenBlocksAreRefused(hex: String) throws {
        let block = try #require(Hexadecimal.decode(hex))
        #expect(throws: ResponseHeaderDecoder.Failure.self) {
            var decoder = ResponseHeaderDecoder()
            _ = try decoder.decode(block.span)
        }
    }

    private static func encode(_ push: Push, _ encoder: inout RequestEncoder) -> [UInt8] {
        var buffer = ByteBuffer()
        encoder.encode(push, into: &buffer)
        return Array(buffer.readableBytesView)
    }

    private static func expected(_ push: Push, token number: Int) -> [String] {
        let notification = push.notification
        var lines = [
            ":method: POST", ":scheme: https", ":authority: localhost:2197", ":path: /3/device/\(push.token.hex)",
        ]
        if number % 100 != 0 { lines.append("authorization: bearer token-\(number / 50)") }
        lines += ["apns-id: \(notification.id)", "apns-push-type: alert"]
        if let expiration = notification.expiration.header { lines.append("apns-expiration: \(expiration)") }
        lines += ["apns-priority: 10", "apns-topic: \(notification.topic.name)"]
        if let collapseID = notification.collapseID { lines.append("apns-collapse-id: \(collapseID)") }
        return lines
    }

    /// Reference 8.4.
    private static let vector = [
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
