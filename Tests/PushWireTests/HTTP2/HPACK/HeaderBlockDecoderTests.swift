import NIOCore
import NIOHPACK
import PushTesting
import PushTypes
import Testing

@testable import PushWire

/// The decoder of both ends, compared with NIOHPACK.
@Suite struct HeaderBlockDecoderTests {
    @Test func responsesOfAnotherEncoderAreRead() throws {
        for huffman in [false, true] {
            var encoder = HPACKEncoder(allocator: ByteBufferAllocator(), useHuffmanEncoding: huffman)
            var decoder = HeaderBlockDecoder<ResponseHeaderList>()
            for number in 0..<500 {
                var buffer = ByteBuffer()
                let fields = [
                    (":status", number % 2 == 0 ? "200" : "503"), ("apns-id", "id-\(number)"),
                    ("date", "day \(number)"),
                    ("apns-unique-id", "unique-\(number)"), ("x-\(number)", String(repeating: "v", count: number)),
                    ("retry-after", "\(number)"),
                ]
                try encoder.encode(headers: HPACKHeaders(fields), to: &buffer)
                let head = try decoder.decode(buffer.readableBytesUInt8Span).head
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
            var decoder = HeaderBlockDecoder<ResponseHeaderList>()
            #expect(try decoder.decode(buffer.readableBytesUInt8Span).head.id == text)
        }
    }

    @Test(arguments: [false, true])
    func requestsOfAnotherEncoderAreRead(huffman: Bool) throws {
        var generator = SeededGenerator(seed: huffman ? 1 : 2)
        var encoder = HPACKEncoder(allocator: ByteBufferAllocator(), useHuffmanEncoding: huffman)
        var decoder = HeaderBlockDecoder<RequestHead>()
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
            let head = try decoder.decode(buffer.readableBytesUInt8Span)
            let request = head.request
            let size = headers.reduce(0) { $0 + $1.0.utf8.count + $1.1.utf8.count + 32 }
            #expect(head.isTooLong == (size > 8000))
            if !head.isTooLong {
                #expect(!head.isMalformed && head.isRequest)
                #expect(request == expected)
            }
        }
    }

    @Test func aValueThatComesAgainAsALiteralIsStillReadAnew() throws {
        var decoder = HeaderBlockDecoder<RequestHead>()
        for token in ["a", "a", "b", "a", String(repeating: "c", count: 200), "a", ""] {
            var block: [UInt8] = [0x83, 0x87, 0x84, 0x0f, 0x08]
            block.appendString(token)
            let head = try decoder.decode(block.span)
            let request = head.request
            #expect(request.fields.authorization == token)
            #expect(!head.isMalformed)
        }
    }

    @Test func aListThatIsTooLongLeavesTheTableRight() throws {
        var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
        var decoder = HeaderBlockDecoder<RequestHead>()
        let long = (0..<30).map { ("x-\($0)", String(repeating: "v", count: 300)) }
        for (headers, isTooLong) in [
            (Vectors.pushHeaders + long + [("apns-id", "kept")], true),
            (Vectors.pushHeaders + [("apns-id", "kept"), ("x-29", String(repeating: "v", count: 300))], false),
        ] {
            var buffer = ByteBuffer()
            try encoder.encode(headers: HPACKHeaders(headers), to: &buffer)
            let head = try decoder.decode(buffer.readableBytesUInt8Span)
            #expect(head.isTooLong == isTooLong)
            if !isTooLong { #expect(head.request.fields.id == "kept") }
        }
    }

    @Test(arguments: [
        "80", "c0", "7f", "7fffffffffff", "3fffffffff7f", "40", "4001", "00", "0001", "000161", "0081ff", "88203f",
        "ff80808080808080808001", "be", "3fe21f", "0f",
    ])
    func brokenBlocksAreRejected(hex: String) throws {
        let block = try #require(Hexadecimal.decode(hex))
        #expect(throws: HeaderBlockError.self) {
            var decoder = HeaderBlockDecoder<ResponseHeaderList>()
            _ = try decoder.decode(block.span)
        }
        #expect(throws: HeaderBlockError.self) {
            var decoder = HeaderBlockDecoder<RequestHead>()
            _ = try decoder.decode(block.span)
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
}
