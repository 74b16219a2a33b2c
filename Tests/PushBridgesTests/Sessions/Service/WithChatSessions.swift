import Foundation
import Hummingbird
import NIOCore
import ProviderAPI
import ProviderModel
import PushHTTP
import PushProvider
import PushSender
import PushStore
import PushSupport
import PushTesting
import PushTypes
import ServiceLifecycle
import Testing

@testable import PushBridges

/// The sessions of a provider, with short times and servers of this host.
struct TestSessions: ProviderExtension {
    let controllers: [any Controller<APIScope>]
    let services: [any Service]
    private let service: ChatSessionService

    init(_ parts: ProviderComponents, coalescing: Duration) throws {
        var limits = ChatSessionService.Limits()
        limits.connect = .patience
        limits.journal = .milliseconds(20)
        limits.coalescing = coalescing
        // Changes are signalled.
        limits.refresh = .seconds(86_400)
        limits.pause = .milliseconds(10)
        limits.supervisor.retry = Backoff(base: .milliseconds(20), maximum: .milliseconds(100))
        limits.supervisor.shortestRetry = .milliseconds(10)
        limits.supervisor.opening = .patience
        let service = ChatSessionService(
            store: parts.store,
            acceptor: parts.acceptor,
            budgets: parts.budgets,
            addresses: AddressPolicy(allowsPrivate: true),
            authorities: try SelfSignedCertificate.shared.get().pem,
            limits: limits,
            resolver: parts.resolver,
            metrics: parts.metrics,
            time: parts.time,
            logger: parts.logger
        )
        self.controllers = [ChatSessionsController(store: parts.store, service: service, time: parts.time)]
        self.services = [service]
        self.service = service
    }

    func addRoutes(to router: Router<APIContext>) {}

    func erasureBegan() { self.service.refresh() }
}

/// A provider with sessions, whose pushes a scripted push service takes.
struct RunningSessions: Sendable {
    static let path = "/v1/apps/\(Vectors.bundleID)/sessions"

    let provider: RunningProvider
    let sender: ScriptedSender
    let budgets: BudgetRegistry

    /// Adds a session of the user `ada` at a server of this host.
    func add(
        _ chatProtocol: String = "irc",
        port: Int,
        _ more: [String: JSONValue] = [:]
    ) async throws -> JSONClient.Response {
        var body: [String: JSONValue] = [
            "protocol": .string(chatProtocol), "server": "127.0.0.1", "port": .integer(Int64(port)),
            "account": chatProtocol == "xmpp" ? "ada@localhost" : "ada", "password": "tea", "user": "ada",
        ]
        body.merge(more) { $1 }
        return try await self.provider.api.post(Self.path, .object(body))
    }

    /// Waits until a session has a condition.
    func wait(_ id: String, until status: String) async throws -> JSONValue {
        while true {
            let session = try await self.provider.api.get("\(Self.path)/\(id)").json
            if session["status"].stringValue == status { return session }
            try Task.checkCancellation()
        }
    }

    /// Waits until so many pushes were sent, and returns their payloads.
    func pushes(_ count: Int) async throws -> [JSONValue] {
        try await eventually { self.sender.sent.count >= count }
        return try self.sender.sent.map { try JSONValue(parsing: Data($0.notification.payload.readableBytesView)) }
    }
}

/// Runs a provider with the vectors' app, and a device of the user `ada`.
/// - Parameters:
///   - limits: The limits of budgets in place of others.
///   - coalescing: See ``PushCoalescer``.
/// - Returns: The metrics after the end of the provider.
@discardableResult
func withChatSessions(
    limits: [PushSupport.BudgetedResource: BudgetLimits] = [:],
    coalescing: Duration = .milliseconds(100),
    _ body: @escaping @Sendable (RunningSessions) async throws -> Void
) async throws -> String {
    let (sender, budgets) = (ScriptedSender(), OneShotValue<BudgetRegistry>())
    let metrics = OneShotValue<PrometheusRegistry>()
    try await withProvider(
        senders: sender,
        addition: { parts in
            budgets.resolve(.success(parts.budgets))
            metrics.resolve(.success(parts.metrics))
            return try TestSessions(parts, coalescing: coalescing)
        },
        configure: { $0.budgetLimits.merge(limits) { $1 } }
    ) { provider in
        try await provider.addVectorsApp(in: [.sandbox])
        _ = try await provider.register(Vectors.tokenA, ["user": "ada"])
        try await body(RunningSessions(provider: provider, sender: sender, budgets: budgets.value))
    }
    return try await metrics.value.text
}
