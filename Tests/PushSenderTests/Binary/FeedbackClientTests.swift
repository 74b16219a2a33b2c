import NIOSSL
import PushSender
import PushTesting
import PushTypes
import PushWire
import Testing

/// Reference 6 and 8.8, against a scripted server over TLS.
@Suite(.timeLimit(.patience)) struct FeedbackClientTests {
    static let stream = "6553f1000020\(Vectors.tokenA)6553f2f40036\(Vectors.tokenC)"

    @Test func theListIsReadToItsEndAndIsEmptyTheNextTime() async throws {
        let bytes = try #require(Hexadecimal.decode(Self.stream))
        try await Self.with([.write(bytes), .write([])]) { client in
            let (tuples, error) = await Self.read(client)
            #expect(tuples.map(\.token.hex) == [Vectors.tokenA, Vectors.tokenC])
            #expect(tuples.map(\.timestamp) == [1_700_000_000, 1_700_000_500].map(Timestamp.init(seconds:)))
            #expect(error == nil)
            let (rest, end) = await Self.read(client)
            #expect(rest.isEmpty)
            #expect(end == nil)
        }
    }

    @Test func whatWasReadBeforeAnErrorIsKept() async throws {
        let bytes = try #require(Hexadecimal.decode(Self.stream))
        try await Self.with([.write(bytes.dropLast()), .write(bytes + [0, 0, 0, 0, 0, 0])]) { client in
            var (tuples, error) = await Self.read(client)
            #expect(tuples.map(\.token.hex) == [Vectors.tokenA])
            #expect(error as? FeedbackError == .truncated)

            (tuples, error) = await Self.read(client)
            #expect(tuples.count == 2)
            #expect(error as? FeedbackError == .malformed(tokenLength: 0))
        }
    }

    @Test func aSilentServerIsDisconnected() async throws {
        try await Self.with([.writeAndStay([0, 0, 0])], idleTimeout: .milliseconds(500)) { client in
            #expect(await Self.read(client).1 as? FeedbackError == .timedOut)
        }
    }

    @Test func aListWithoutEndHasOne() async throws {
        let bytes = try #require(Hexadecimal.decode(Self.stream))
        try await Self.with([.write(bytes)], limit: 1) { client in
            let (tuples, error) = await Self.read(client)
            #expect(tuples.count == 1)
            #expect(error as? FeedbackError == .tooManyTuples)
        }
    }

    @Test func aServerThatIsNotTrustedIsNotRead() async throws {
        let (one, other) = (try SelfSignedCertificate(), try SelfSignedCertificate())
        try await LegacyPeer.with([], tls: one.server) { _, port in
            let (tuples, error) = await Self.read(try Self.client(port, other.client))
            #expect(tuples.isEmpty)
            #expect(error != nil)
        }
    }

    private static func with(
        _ scripts: [LegacyPeer.Script],
        limit: Int = 100,
        idleTimeout: Duration = .patience,
        _ body: (FeedbackClient) async throws -> Void
    ) async throws {
        let certificate = try SelfSignedCertificate.shared.get()
        try await LegacyPeer.with(scripts, tls: certificate.server) { _, port in
            var client = try Self.client(port, certificate.client)
            client.idleTimeout = idleTimeout
            client.maximumTuples = limit
            try await body(client)
        }
    }

    private static func client(_ port: Int, _ tls: TLSConfiguration) throws -> FeedbackClient {
        let endpoint = PushServiceEndpoint(host: "127.0.0.1", port: port).patient
        return FeedbackClient(connector: try LegacyConnector(to: endpoint, tls: tls))
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
