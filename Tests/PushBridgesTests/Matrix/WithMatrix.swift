import Foundation
import Hummingbird
import Logging
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSender
import PushStore
import PushSupport
import PushTesting
import PushTypes
import ServiceLifecycle

@testable import PushBridges

/// A provider with the vectors' app, which has a Matrix bridge, and a homeserver's view of it.
struct RunningMatrix: Sendable {
    static let app = "/v1/apps/\(Vectors.bundleID)"
    static let bridge = "\(Self.app)/bridges/matrix/\(MatrixVectors.appID)"

    let provider: RunningProvider
    /// A client without an API key.
    let homeserver: JSONClient

    var port: Int { URL(string: self.homeserver.baseURL)?.port ?? 0 }

    func notify(_ body: JSONValue) async throws -> JSONClient.Response {
        try await self.homeserver.post(MatrixVectors.path, body)
    }

    func notify(_ text: String) async throws -> JSONClient.Response {
        try await self.homeserver.call("POST", MatrixVectors.path, Data(text.utf8))
    }

    /// Posts an event for one pushkey.
    func event(_ id: String, _ pushkey: String = MatrixVectors.tokenA) async throws -> JSONClient.Response {
        let members: [String: JSONValue] = ["event_id": .string(id), "room_id": "!r:x", "type": "m.room.encrypted"]
        return try await self.notify(MatrixVectors.body(members, device: ["pushkey": .string(pushkey)]))
    }

    /// Waits until the ledger has so many notifications and each has ended.
    /// - Returns: The notifications, the newest first.
    @discardableResult
    func ledger(_ count: Int) async throws -> [JSONValue] {
        while true {
            let all = try await self.provider.api.get("\(Self.app)/notifications").json["notifications"].elements
            if all.count >= count, all.allSatisfy({ $0["state"] == "done" }) { return all }
            try Task.checkCancellation()
        }
    }
}

/// Runs a provider with a Matrix bridge for the duration of `body`.
func withMatrix<Value: Sendable>(
    _ sender: ScriptedSender = ScriptedSender(),
    settings: JSONValue = [:],
    environments: [PushEnvironment] = PushEnvironment.allCases,
    time: any TimeSource = SystemTime(),
    logger: Logger = silentLogger,
    configure: (inout ProviderConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (RunningMatrix) async throws -> Value
) async throws -> Value {
    try await withProvider(
        senders: sender,
        time: time,
        logger: logger,
        addition: { try Bridges($0) },
        configure: configure
    ) { provider in
        try await provider.addVectorsApp(in: environments)
        try await provider.api.put(RunningMatrix.bridge, ["environment": "production", "settings": settings])
        let homeserver = JSONClient(baseURL: provider.api.baseURL)
        return try await body(RunningMatrix(provider: provider, homeserver: homeserver))
    }
}

/// Matrix and the bridges for it, with a forwarder of a test.
struct MatrixAlone: ProviderExtension {
    let controllers: [any Controller<APIScope>]
    let services: [any Service] = []
    private let routes: MatrixRoutes

    init(_ parts: ProviderComponents, _ forwarder: any NotificationForwarder) {
        let addresses = parts.configuration.webhookAddresses
        self.controllers = [
            BridgesController(store: parts.store, addresses: addresses, time: parts.time, logger: parts.logger)
        ]
        self.routes = MatrixRoutes(MatrixGateway(parts, forwarder: forwarder), parts)
    }

    func addRoutes(to router: Router<APIContext>) { self.routes.addRoutes(to: router) }
}
