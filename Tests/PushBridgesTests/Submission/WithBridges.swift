import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ProviderAPI
import PushProvider
import PushSupport
import PushTesting
import PushTypes
import Synchronization

@testable import PushBridges

/// Runs a provider with bridges and the vectors' app.
/// - Parameter capture: Gets the parts of the provider.
func withBridges(
    senders: ScriptedSender = ScriptedSender(),
    time: any TimeSource = SystemTime(),
    capture: @escaping @Sendable (ProviderComponents) -> Void = { _ in },
    _ body: @escaping @Sendable (RunningProvider) async throws -> Void
) async throws {
    try await withProvider(
        senders: senders,
        time: time,
        addition: { parts in
            capture(parts)
            return try Bridges(parts)
        },
        configure: { $0.webhookAddresses = AddressPolicy(allowsPrivate: true) }
    ) { provider in
        try await provider.addVectorsApp()
        try await body(provider)
    }
}

extension RunningProvider {
    private static let bridges = "/v1/apps/\(Vectors.bundleID)/bridges"

    /// Sets a bridge of the vectors' app.
    @discardableResult
    func setBridge(
        _ kind: String,
        _ name: String,
        _ settings: JSONValue = [:],
        _ more: [String: JSONValue] = [:]
    ) async throws -> JSONClient.Response {
        let body = more.merging(["settings": settings]) { $1 }
        return try await self.api.put("\(Self.bridges)/\(kind)/\(name)", .object(body))
    }

    func shadow(_ kind: String, _ name: String) async throws -> JSONValue {
        try await self.api.get("\(Self.bridges)/\(kind)/\(name)/shadow").json
    }

    /// Returns the client of a new key.
    func client(_ scopes: [String], apps: [String]? = nil) async throws -> JSONClient {
        let body: JSONValue = .members([
            "name": "back end", "scopes": .array(scopes.map { .string($0) }),
            "apps": apps.map { .array($0.map { .string($0) }) },
        ])
        let issued = try await self.api.post("/v1/keys", body)
        return JSONClient(baseURL: self.api.baseURL, apiKey: issued.json["key"].stringValue)
    }

    /// The client without a key.
    var stranger: JSONClient { JSONClient(baseURL: self.api.baseURL) }
}

extension ScriptedSender {
    /// Waits for so many pushes.
    func waitForPushes(_ count: Int) async throws {
        try await eventually { self.sent.count >= count }
    }
}

extension ScriptedSender.Sent {
    /// The payload.
    var json: JSONValue { (try? JSONValue(parsing: Data(self.notification.payload.readableBytesView))) ?? .null }
}

/// A server of another system on a free port, which gives one answer to every request and remembers them.
final class OldServer: Sendable {
    struct Asked: Sendable {
        var path: String
        var authorization: String?
        var body: JSONValue
    }

    private let state = Mutex<[Asked]>([])

    var asked: [Asked] { self.state.withLock { $0 } }

    /// Waits for so many requests.
    func waitForRequests(_ count: Int) async throws {
        try await eventually { self.asked.count >= count }
    }

    /// Listens while `body` runs.
    /// - Parameter gate: What answers wait for; `nil` for nothing.
    static func run(
        status: Int = 200,
        answering answer: JSONValue = [:],
        after gate: Gate? = nil,
        _ body: @escaping @Sendable (OldServer, String) async throws -> Void
    ) async throws {
        let server = OldServer()
        let port = OneShotValue<Int>()
        let text = try answer.text
        let router = Router()
        router.post("**") { request, _ in
            let bytes = try await request.body.collect(upTo: 1024 * 1024)
            let asked = Asked(
                path: request.uri.string,
                authorization: request.headers[.authorization],
                body: (try? JSONValue(parsing: Data(bytes.readableBytesView))) ?? .null
            )
            server.state.withLock { $0.append(asked) }
            await gate?.pass()
            return Response(
                status: .init(code: status),
                headers: [.contentType: "application/json; charset=utf-8"],
                body: .init(byteBuffer: ByteBuffer(bytes: text))
            )
        }
        let application = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { port.resolve(.success($0.localAddress?.port ?? 0)) },
            logger: silentLogger
        )
        try await withServices([application]) {
            let bound = try await port.value
            try await body(server, "http://127.0.0.1:\(bound)")
        }
    }
}
