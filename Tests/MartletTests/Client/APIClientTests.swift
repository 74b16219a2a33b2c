import NIOCore
import PushTesting
import Synchronization
import Testing

@testable import martlet

/// Requests to a server that has stopped, or whose response never ends.
@Suite(.timeLimit(.patience)) struct APIClientTests {
    /// A short body is sent as a whole; of a long one the server takes the beginning.
    @Test(arguments: [1, 4096]) func anUploadEnds(pieces: Int) async throws {
        try await Self.withClient { client in
            let left = Mutex(pieces)
            let body = AsyncThrowingStream<ByteBuffer, any Error> {
                let isLast = left.withLock {
                    $0 -= 1
                    return $0 < 0
                }
                return isLast ? nil : ByteBuffer(repeating: 0, count: 1 << 16)
            }
            let error = await #expect(throws: NoResponseError.self) {
                try await client.upload(body, length: nil, contentType: "text/csv", to: .post("devices"))
            }
            #expect(error?.description.contains("did not respond in time") == true)
        }
    }

    @Test func aStreamEnds() async throws {
        try await Self.withClient { client in
            await #expect(throws: NoResponseError.self) { try await client.stream(.get("events")) }
        }
    }

    @Test func aResponseThatDripsEnds() async throws {
        try await DrippingServer.run { port in
            let client = try APIClient(baseURL: "http://127.0.0.1:\(port)")
            let error = await #expect(throws: NoResponseError.self) {
                try await client.send(.get("apps"), within: .milliseconds(100))
            }
            #expect(error?.description.contains("did not respond in time") == true)
        }
    }

    /// A list of 4 MiB takes a slow line longer than a server needs to answer.
    @Test func aBodyMayTakeLongerThanItsHead() {
        let usual = APIClient.limits(nil)
        #expect(usual.head == .seconds(15) && usual.whole == .seconds(300))
        let given = APIClient.limits(.seconds(40))
        #expect(given.head == .seconds(40) && given.whole == .seconds(40))
        let short = APIClient.$silence.withValue(.milliseconds(20)) { APIClient.limits(nil) }
        #expect(short.head == .seconds(15) && short.whole == .seconds(15))
    }

    @Test func aBodyThatIsTooLongIsNamed() {
        let error = NoResponseError(ofBody: NIOTooManyBytesError(maxBytes: 1), from: "http://127.0.0.1:1")
        #expect(error.description.hasSuffix("did not arrive as a whole (it is longer than a command reads)"))
    }

    private static func withClient(_ body: (APIClient) async throws -> Void) async throws {
        try await SilentServer.run { port in
            try await APIClient.$silence.withValue(.milliseconds(20)) {
                try await body(try APIClient(baseURL: "http://127.0.0.1:\(port)"))
            }
        }
    }
}
