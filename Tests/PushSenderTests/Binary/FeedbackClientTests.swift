import NIOSSL
import PushSender
import PushTesting
import PushTypes
import PushWire
import Testing

/// Reference 6 and 8.8, against a scripted service over TLS.
@Suite(.timeLimit(.minutes(5))) struct FeedbackClientTests {
    static let stream = "6553f1000020\(Vectors.tokenA)6553f2f40036\(Vectors.tokenC)"

    @Test func theListIsReadToItsEndAndIsEmptyTheNextTime() async throws {
        let bytes = try #require(Hexadecimal.decode(Self.stream))
        try await Self.with([.say(bytes), .say([])]) { client in
            let (tuples, error) = await Self.read(client)
            #expect(tuples.map(\.token.hex) == [Vectors.tokenA, Vectors.tokenC])
            #expect(tuples.map(\.time) == [1_700_000_000, 1_700_000_500].map(Timestamp.init(seconds:)))
            #expect(error == nil)
            let (rest, end) = await Self.read(client)
            #expect(rest.isEmpty)
            #expect(end == nil)
        }
    }

    @Test func whatWasReadBeforeAnErrorIsKept() async throws {
        let bytes = try #require(Hexadecimal.decode(Self.stream))
        try await Self.with([.say(bytes.dropLast()), .say(bytes + [0, 0, 0, 0, 0, 0])]) { client in
            var (tuples, error) = await Self.read(client)
            #expect(tuples.map(\.token.hex) == [Vectors.tokenA])
            #expect(error as? FeedbackError == .truncated)

            (tuples, error) = await Self.read(client)
            #expect(tuples.count == 2)
            #expect(error as? FeedbackError == .malformed(tokenLength: 0))
        }
    }

    @Test func aServiceThatFallsSilentIsLeft() async throws {
        try await Self.with([.sayAndStay([0, 0, 0])], silence: .milliseconds(500)) { client in
            #expect(await Self.read(client).1 as? FeedbackError == .silent)
        }
    }

    @Test func aListWithoutEndHasOne() async throws {
        let bytes = try #require(Hexadecimal.decode(Self.stream))
        try await Self.with([.say(bytes)], limit: 1) { client in
            let (tuples, error) = await Self.read(client)
            #expect(tuples.count == 1)
            #expect(error as? FeedbackError == .tooMany)
        }
    }

    @Test func aServiceThatIsNotTrustedIsNotRead() async throws {
        let (one, other) = (try LegacyCertificate(), try LegacyCertificate())
        try await LegacyPeer.with([], tls: one.server) { _, port in
            let tls = try NIOSSLContext(configuration: other.client)
            let (tuples, error) = await Self.read(FeedbackClient(host: "127.0.0.1", port: port, tls: tls))
            #expect(tuples.isEmpty)
            #expect(error != nil)
        }
    }

    private static func with(
        _ scripts: [LegacyPeer.Script],
        limit: Int = 100,
        silence: Duration = .seconds(30),
        _ body: (FeedbackClient) async throws -> Void
    ) async throws {
        let certificate = try LegacyCertificate.shared.get()
        let tls = try NIOSSLContext(configuration: certificate.client)
        try await LegacyPeer.with(scripts, tls: certificate.server) { _, port in
            var client = FeedbackClient(host: "127.0.0.1", port: port, tls: tls)
            client.silence = silence
            client.limit = limit
            try await body(client)
        }
    }

    private static func read(_ client: FeedbackClient) async -> ([FeedbackTuple], (any Error)?) {
        var tuples: [FeedbackTuple] = []
        do {
            for try await tuple in client.tuples() { tuples.append(tuple) }
            return (tuples, nil)
        } catch {
            return (tuples, error)
        }
    }
}
