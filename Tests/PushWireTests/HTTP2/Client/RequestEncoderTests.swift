import NIOCore
import NIOHPACK
import PushTesting
import PushTypes
import Testing

@testable import PushWire

/// Header blocks of requests, compared with the vector and with NIOHPACK.
@Suite struct RequestEncoderTests {
    @Test func theFirstRequestIsTheVector() throws {
        var encoder = RequestEncoder(authority: "api.sandbox.push.apple.com")
        encoder.setProviderToken(Vectors.providerToken)
        let block = Self.encode(Vectors.push(), &encoder)
        #expect(block.count == 436)
        #expect(Hexadecimal.encode(block) == HeaderBlockVector.hex)
    }

    @Test func theSecondRequestUsesTheTable() throws {
        var encoder = RequestEncoder(authority: "api.sandbox.push.apple.com")
        encoder.setProviderToken("t")
        _ = Self.encode(Vectors.push(), &encoder)
        for _ in 0..<2 {
            let block = Hexadecimal.encode(Self.encode(Vectors.push(), &encoder))
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
            let push = Vectors.push(
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
                let push = Vectors.push(expiration: expiration, collapseID: collapseID)
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
        var push = Vectors.push()
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
}
