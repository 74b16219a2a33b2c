import Crypto
import Foundation
import Logging
import ProviderModel
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// Registers the devices of clients that request their registration over XMPP, and creates their nodes.
struct RegistrationResponder: Sendable {
    private let store: any UserSecretStore & XMPPNodeStore
    private let registrar: DeviceRegistrar
    private let time: any TimeSource
    private let log: RateLimitedLog
    private let budget: Budget

    init(
        store: any UserSecretStore & XMPPNodeStore,
        registrar: DeviceRegistrar,
        budgets: BudgetRegistry,
        time: any TimeSource,
        logger: Logger
    ) {
        (self.store, self.registrar, self.time) = (store, registrar, time)
        self.log = RateLimitedLog(logger, budgets[.logLines])
        self.budget = budgets[.componentRegistrations]
    }

    func answer(
        _ command: RegistrationCommand,
        from sender: JabberAddress,
        over bridge: ConfiguredComponent
    ) async -> StanzaResponse {
        // The sender is a server, which has no devices.
        guard sender.local != nil else { return .error(.forbidden) }
        // The component's own server has a separate budget, so that other servers cannot use up the budget of its
        // users.
        let isHome = bridge.name.hasSuffix(".\(sender.domain)")
        let domain = BudgetCaller(app: isHome ? nil : bridge.bundleID, .name(sender.domain))
        guard (try? self.budget.spend(for: domain)) != nil else { return .error(.resourceConstraint) }
        do {
            let name = "\(bridge.name)/\(command.dialect.rawValue)/\(sender.bare)/\(command.device)"
            let installation = "xmpp:\(Hexadecimal.encode(SHA256.hash(data: Data(name.utf8)).prefix(16)))"
            switch command.action {
            case .unregister:
                let now = self.time.recorded
                try await self.registrar.delete(app: bridge.app, installation: installation, now: now)
                return .result(command.completed())
            case .register(let token): return try await self.register(token, installation, command, sender, bridge)
            }
        } catch {
            let metadata: Logger.Metadata = ["error": "\(error)", "bridge": "\(bridge.name)"]
            self.log.log(.warning, "registration over XMPP could not be stored", metadata, app: bridge.bundleID)
            return .error(.internalServerError)
        }
    }

    private func register(
        _ token: DeviceToken,
        _ installation: String,
        _ command: RegistrationCommand,
        _ sender: JabberAddress,
        _ bridge: ConfiguredComponent
    ) async throws -> StanzaResponse {
        var registration = DeviceRegistration(environment: bridge.environment ?? .production, token: token)
        (registration.installation, registration.kind) = (installation, .alert)
        let clocks = self.time.reading
        // The server has authenticated the sender, and thereby the user of the installation.
        let registered = try await self.registrar.registerOwn(
            registration,
            isProven: true,
            app: bridge.app,
            at: clocks
        )
        guard let result = registered?.results.first, result.device != 0 else { return .error(.badRequest) }
        let seed = self.store.installationSecret("xmpp-node/\(installation)", of: bridge.bundleID)
        let credentials = NodeCredentials(seed: seed, hasSecret: command.dialect == .p2)
        let record = XMPPNodeRecord(
            node: credentials.node,
            app: bridge.app,
            component: bridge.name,
            secretHash: credentials.secretHash,
            owner: .installation(installation),
            domain: sender.domain,
            createdAt: clocks.wall
        )
        guard try await self.store.setXMPPNode(record) else { return .error(.internalServerError) }
        var fields = ["jid": bridge.name, "node": credentials.node]
        if !credentials.secret.isEmpty { fields["secret"] = credentials.secret }
        return .result(command.completed(fields))
    }
}
