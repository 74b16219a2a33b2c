import Logging
import ProviderModel
import PushProvider
import PushStore
import PushSupport
import PushTypes
import Synchronization

/// Converts publishes into notifications, and replies to each publish once the ledger contains its notification.
///
/// A reply ends a registration at the user's server only if the store proves that it is useless: the node does not
/// exist, the secret is wrong, or the push service has reported all devices as inactive. All other errors have the type
/// *wait*.
final class PublishResponder: Sendable {
    /// The maximum number of devices of a node's owner that receive a push. Further devices receive none.
    private static let maximumDevices = 50

    private let store: any XMPPNodeStore
    private let acceptor: NotificationAcceptor
    private let budget: Budget
    private let metrics: ComponentMetrics
    private let time: any TimeSource
    private let log: RateLimitedLog
    private let coalescer = Mutex(PublishCoalescer())

    init(
        store: any XMPPNodeStore,
        acceptor: NotificationAcceptor,
        budgets: BudgetRegistry,
        metrics: ComponentMetrics,
        time: any TimeSource,
        logger: Logger
    ) {
        (self.store, self.acceptor, self.metrics) = (store, acceptor, metrics)
        self.budget = budgets[.bridgeRequests]
        (self.time, self.log) = (time, RateLimitedLog(logger, budgets[.logLines]))
    }

    func answer(_ publish: PushPublish, from sender: JabberAddress, over bridge: ConfiguredComponent) async
        -> StanzaResponse
    {
        let receivedAt = self.time.now
        do {
            let stored = try await self.store.xmppNode(publish.node)
            switch PublishAuthorization(publish, from: sender, over: bridge, stored) {
            case .refused(let error): return self.refuse(error)
            case .allowed(let node):
                // Refused publishes, such as those of strangers, do not use the app's budget.
                guard (try? self.budget.spend(for: BudgetCaller(app: bridge.bundleID))) != nil else {
                    self.metrics.countPublish(.failed)
                    return .error(.resourceConstraint)
                }
                let tokens = try await self.store.xmppTokens(
                    of: node.owner,
                    app: node.app,
                    environment: bridge.environment,
                    limit: Self.maximumDevices
                )
                guard !tokens.isEmpty else { return try await self.answerWithoutDevice(node, over: bridge) }
                let content = PublishContent(bridge: bridge, node: node, isImportant: publish.isImportant)
                return try await self.push(content, to: tokens, receivedAt: receivedAt)
            }
        } catch let error as RequestError where error.code == "no_token_of_kind" {
            // The devices have been removed since their tokens were read.
            return self.refuse(.itemNotFound)
        } catch {
            self.metrics.countPublish(.failed)
            self.log.log(
                .warning,
                "publish could not be accepted",
                ["error": "\(error)", "bridge": "\(bridge.name)"],
                app: bridge.bundleID
            )
            return .error(.internalServerError)
        }
    }

    /// Replies to a publish whose owner has no device in the component's environment.
    ///
    /// If the owner has devices in the other environment, the registration is kept, because the component's environment
    /// may be wrong.
    private func answerWithoutDevice(
        _ node: XMPPNodeRecord,
        over bridge: ConfiguredComponent
    ) async throws -> StanzaResponse {
        guard bridge.environment != nil else { return self.refuse(.itemNotFound) }
        let others = try await self.store.xmppTokens(of: node.owner, app: node.app, environment: nil, limit: 1)
        guard !others.isEmpty else { return self.refuse(.itemNotFound) }
        self.metrics.countPublish(.failed)
        self.log.log(
            .warning,
            "publish for devices of another environment than the bridge's",
            ["bridge": "\(bridge.name)"],
            app: bridge.bundleID
        )
        return .error(.internalServerError)
    }

    private func push(
        _ content: PublishContent,
        to tokens: [DeviceToken],
        receivedAt: Timestamp
    ) async throws -> StanzaResponse {
        let (node, steady) = (content.node.node, self.time.steady)
        let decision = self.coalescer.withLock { $0.decide(node, isImportant: content.isImportant, now: steady) }
        guard case .send(let time) = decision else {
            self.metrics.countPublish(.coalesced)
            return .result(nil)
        }
        do {
            let request = try content.request(tokens: tokens, delay: time.since(steady), now: self.time.now)
            let origin = NotificationOrigin(.xmpp, bridge: content.bridge.name)
            let acceptance = AcceptanceRecord(receivedAt: receivedAt, origin: origin)
            _ = try await self.acceptor.accept(request, app: content.bridge.app, acceptance: acceptance)
        } catch {
            self.coalescer.withLock { $0.forget(node) }
            throw error
        }
        self.metrics.countPublish(.accepted)
        return .result(nil)
    }

    private func refuse(_ error: StanzaError) -> StanzaResponse {
        self.metrics.countPublish(error == .forbidden ? .forbidden : .missing)
        return .error(error)
    }
}
