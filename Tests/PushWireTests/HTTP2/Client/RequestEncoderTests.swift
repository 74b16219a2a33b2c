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

    @Test func aBroadcastHasAnotherPathAndLeavesPushesAsTheyAre() throws {
        var (encoder, plain) = (RequestEncoder(authority: "localhost"), RequestEncoder(authority: "localhost"))
        var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
        encoder.setProviderToken("t")
        plain.setProviderToken("t")
        _ = Self.encode(Vectors.push(), &plain)
        var first = ByteBuffer(bytes: Self.encode(Vectors.push(), &encoder))
        _ = try decoder.decodeHeaders(from: &first)
        let channel = try #require(ChannelID("dGVzdC0x"))
        let app = try #require(Topic("com.example.MyApp"))
        let broadcast = Broadcast(to: channel, of: app, id: "request", expiration: .immediate, payload: "{}")
        for _ in 0..<2 {
            var block = ByteBuffer(bytes: Self.encode(Push(broadcast), &encoder))
            let headers = try decoder.decodeHeaders(from: &block)
            #expect(
                headers.map { "\($0.name): \($0.value)" } == [
                    ":method: POST", ":scheme: https", ":authority: localhost",
                    ":path: /4/broadcasts/apps/com.example.MyApp", "authorization: bearer t",
                    "apns-push-type: liveactivity", "apns-expiration: 0", "apns-priority: 10",
                    "apns-request-id: request", "apns-channel-id: dGVzdC0x",
                ]
            )
        }
        let (next, expected) = (Self.encode(Vectors.push(), &encoder), Self.encode(Vectors.push(), &plain))
        #expect(next.count == expected.count)
        var buffer = ByteBuffer(bytes: next)
        let headers = try decoder.decodeHeaders(from: &buffer)
        #expect(headers.first(name: ":path")?.hasPrefix("/3/device/") == true && headers["apns-channel-id"] == [])
    }

    @Test func aRequestThatIsNoPushReadsBackAsItWasMeant() throws {
        var encoder = RequestEncoder(authority: "localhost:2197")
        var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
        encoder.setProviderToken("t")
        encoder.setTableSize(512)
        let fields = [HeaderField(of: "apns-channel-id", "dGVzdC0x")]
        let request = ServiceRequest("DELETE", "/1/apps/com.example.MyApp/channels", fields: fields)
        for _ in 0..<2 {
            var buffer = ByteBuffer()
            encoder.encode(request, into: &buffer)
            #expect(encoder.headerListSize(of: request) >= buffer.readableBytes)
            let headers = try decoder.decodeHeaders(from: &buffer)
            #expect(
                headers.map { "\($0.name): \($0.value)" } == [
                    ":method: DELETE", ":scheme: https", ":authority: localhost:2197",
                    ":path: /1/apps/com.example.MyApp/channels", "authorization: bearer t", "apns-channel-id: dGVzdC0x",
                ]
            )
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
