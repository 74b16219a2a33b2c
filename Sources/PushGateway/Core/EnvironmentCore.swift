import NIOCore
import PushHTTP
import PushTypes
import PushWire

/// The router and the listeners of one environment, with the components that they share.
final class EnvironmentCore: Sendable {
    let environment: PushEnvironment
    private let database: GatewayDatabase
    let router: MessageRouter
    let providerListener: ProviderListener
    let deviceLinkListener: DeviceLinkListener
    let binaryListener: BinaryListener
    let feedbackListener: FeedbackListener

    init(_ environment: PushEnvironment, shared: SharedCore, configuration: GatewayConfiguration) {
        let (limits, rules, services) = (configuration.limits, configuration.rules, shared.services)
        let (providers, channels, tokenLength) = (shared.providers, shared.channels, configuration.tokenLength)
        let (time, certificates) = (services.time, shared.certificateCheck(environment))
        let logger = services.logger.rateLimited()
        let directory = EnvironmentDirectory(providers: providers, devices: services.devices, environment: environment)
        self.environment = environment
        self.database = services.database
        var routing = RoutingStateMachine.Limits()
        routing.unacknowledged = limits.unacknowledged
        let power = PowerRules(window: limits.powerWindow, backgroundPerHour: limits.backgroundPerHour)
        let router = MessageRouter(
            machine: RoutingStateMachine(environment: environment, limits: routing, power: power),
            services: services
        )
        self.router = router
        self.providerListener = ProviderListener(
            session: .init(environment: environment, rules: rules, directory: directory, channels: channels),
            channels: ChannelManager(
                channels: channels,
                time: time,
                logger: services.logger,
                channelDeleted: router.channelDeleted
            ),
            router: router,
            certificates: certificates,
            requestDeadline: TimeAmount(limits.request)
        )
        var binaryLimits = BinaryServerStateMachine.Limits()
        binaryLimits.isLenient = !rules.refusesLongSimplePayloads
        self.binaryListener = BinaryListener(
            status: { directory.status(of: $0) },
            submitter: router,
            certificates: certificates,
            faults: services.faults,
            isStrict: rules.refusesImmediateBackground,
            limits: binaryLimits,
            time: time,
            logger: logger
        )
        self.feedbackListener = FeedbackListener(
            store: shared.feedback.list(environment),
            certificates: certificates,
            delay: { shared.feedbackDelay(for: $0, environment) },
            time: time,
            logger: logger
        )
        self.deviceLinkListener = DeviceLinkListener(
            router: router,
            authenticator: shared.authenticator,
            limits: limits,
            topic: { providers.topic(for: $0) },
            tokenLength: { providers.tokenLength(for: $0) ?? tokenLength },
            hasChannel: { channels.policy(of: $0.id, app: $0.bundleID, in: environment) != nil }
        )
    }

    func count(_ table: GatewayTables.Counted) async throws -> Int {
        let environment = self.environment
        return try await self.database.read { try $0.count(table, in: environment) }
    }
}

/// Looks up credentials, which all environments share, and the device tokens of one environment, to check pushes.
private struct EnvironmentDirectory: PushDirectory {
    let providers: ProviderRegistry
    let devices: DeviceRegistry
    let environment: PushEnvironment

    var changes: UInt64 { self.providers.changes }

    func key(_ keyID: String) -> RegisteredKey? { self.providers.key(keyID) }
    func app(_ bundleID: Topic) -> ProviderApp? { self.providers.app(bundleID) }
    func isRevoked(certificate serial: String) -> Bool { self.providers.isRevoked(certificate: serial) }
    func status(of token: DeviceToken) -> TokenStatus { self.devices.status(of: token, in: self.environment) }
}
