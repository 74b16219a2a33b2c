import ProviderModel
import PushProvider
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderAPI

/// Requests whose bodies come after the erasure of their app.
@Suite(.timeLimit(.patience)) struct LateBodyTests {
    private static let app = "/v1/apps/\(Vectors.bundleID)"

    /// Before, a row stayed that had the user's name, and no erasure would have found it.
    @Test(arguments: [
        ("PUT", "users/alice/preferences", #"{"optOuts":["news"]}"#), ("PUT", "users/alice/badge", #"{"count":3}"#),
        ("POST", "publications", #"{"name":"The Example"}"#),
    ])
    func theAppOfALateBodyIsGone(method: String, path: String, body: String) async throws {
        try await withTemporaryDirectory { directory in
            let server = try await ProviderServer.erasing(in: directory)
            try await withServices([server]) {
                let (port, key) = (try await server.port(), server.firstAdminKey ?? "")
                let provider = RunningProvider(api: JSONClient(baseURL: "http://127.0.0.1:\(port)", apiKey: key))
                try await provider.addVectorsApp()
                let connection = try await RawConnection.open(port: port)
                let head = """
                    \(method) \(Self.app)/\(path) HTTP/1.1\r\nhost: a\r\nauthorization: Bearer \(key)\r
                    connection: close\r\ncontent-length: \(body.utf8.count)\r\n\r\n
                    """
                // The app has most likely been looked up once it is erased; the answer is the same if it has not.
                try await connection.send(Array(head.utf8))
                while try await provider.api.delete(Self.app).status == 202 { try Task.checkCancellation() }
                try await eventually { try await server.core.store.erasures().isEmpty }
                connection.write(Array(body.utf8))
                let response = String(decoding: await connection.readToEnd(), as: UTF8.self)
                #expect(response.hasPrefix("HTTP/1.1 404") && response.contains("no_such_app"))
                let preferences = try await server.core.store.preferences(app: 1, user: "alice")
                #expect(preferences == Preferences())
                #expect(try await server.core.store.badge(app: 1, holder: "user:alice") == 0)
                #expect(try await server.core.store.publications(app: 1).isEmpty)
            }
        }
    }

    /// The devices up to there were stored, and went with the app.
    @Test func theAppOfTheRestOfAFileIsGone() async throws {
        try await withTemporaryDirectory { directory in
            let server = try await ProviderServer.erasing(in: directory)
            try await withServices([server]) {
                let (port, key) = (try await server.port(), server.firstAdminKey ?? "")
                let provider = RunningProvider(api: JSONClient(baseURL: "http://127.0.0.1:\(port)", apiKey: key))
                try await provider.addVectorsApp()
                let lines = (0...TransferLimits.batch).map { #"{"token":"\#(DeviceToken.numbered($0).hex)"}"# + "\n" }
                let (batch, rest) = (lines.dropLast().joined(), lines.suffix(1).joined())
                let connection = try await RawConnection.open(port: port)
                let head = """
                    POST \(Self.app)/devices:import HTTP/1.1\r\nhost: a\r\nauthorization: Bearer \(key)\r
                    connection: close\r\ncontent-type: application/x-ndjson\r
                    content-length: \(batch.utf8.count + rest.utf8.count)\r\n\r\n
                    """
                connection.write(Array((head + batch).utf8))
                let store = server.core.store
                try await eventually {
                    try await store.count(app: 1, audience: .everyone, environment: nil) == TransferLimits.batch
                }
                while try await provider.api.delete(Self.app).status == 202 { try Task.checkCancellation() }
                try await eventually { try await store.erasures().isEmpty }
                connection.write(Array(rest.utf8))
                let response = String(decoding: await connection.readToEnd(), as: UTF8.self)
                #expect(response.hasPrefix("HTTP/1.1 404") && response.contains("removed_meanwhile"))
                #expect(response.contains("\(TransferLimits.batch) devices are registered"))
                #expect(try await store.count(app: 1, audience: .everyone, environment: nil) == 0)
            }
        }
    }
}
