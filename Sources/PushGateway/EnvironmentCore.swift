import Logging
import NIOCore
import PushSupport
import PushTypes
import PushWire

/// The parts behind the listeners of one environment.
final class EnvironmentCore: Sendable {
    let environment: PushEnvironment
    private let database: GatewayDatabase
    let router: MessageRouter
    let providerListener: ProviderListener
    let deviceLinkListener: DeviceLinkListener
    let binaryListener: BinaryListener
    let feedbackListener: FeedbackListener

    init(_ environment: PushEnvironment, shared: SharedCore, configuration: GatewayConfiguration) {
        let (limits, rules) = (configuration.limits, configuration.rules)
        self.environment = environment
        self.database = shared.database
        self.router = Self.router(environment, shared, limits)
        let certificates = shared.certificateCheck(environment)
        let directory = EnvironmentDirectory(
            providers: shared.providers,
            devices: shared.devices,
            environment: environment
        )
        self.providerListener = ProviderListener(
            session: ProviderSession.Shared(
                environment: environment,
                rules: rules,
                directory: directory,
                channels: shared.channels
            ),
            channels: ChannelManager(
                channels: shared.channels,
                submitter: self.router,
                time: shared.time,
                logger: shared.logger
            ),
            router: self.router,
            certificates: certificates,
            faults: shared.faults,
            requestDeadline: TimeAmount(limits.request),
            time: shared.time,
            logger: shared.logger
        )
        var binaryLimits = BinaryServerStateMachine.Limits()
        binaryLimits.isLenient = !rules.refusesLongSimplePayloads
        self.binaryListener = BinaryListener(
            status: { directory.status(of: $0) },
            submitter: self.router,
            certificates: certificates,
            faults: shared.faults,
            isStrict: rules.refusesImmediateBackground,
            limits: binaryLimits,
            time: shared.time,
            logger: shared.logger
        )
        self.feedbackListener = FeedbackListener(
            store: shared.feedback.list(environment),
            certificates: certificates,
            delay: { shared.feedbackDelay(for: $0, environment) },
            time: shared.time,
            logger: shared.logger
        )
        let (providers, tokenLength) = (shared.providers, configuration.tokenLength)
        self.deviceLinkListener = DeviceLinkListener(
            router: self.router,
            devices: shared.devices,
            authenticator: shared.authenticator,
            limits: limits.deviceLink,
            handshake: limits.handshake,
            time: shared.time,
            logger: shared.logger,
            topic: { providers.topic(for: $0) },
            tokenLength: { providers.tokenLength(for: $0) ?? tokenLength },
            hasChannel: { shared.channels.policy(of: $0.id, app: $0.bundleID, in: environment) != nil }
        )
    }

    private static func router(
        _ environment: PushEnvironment,
        _ shared: SharedCore,
        _ limits: GatewayConfiguration.Limits
    ) -> MessageRouter {
        var routing = RoutingStateMachine.Limits()
        routing.unacknowledged = limits.unacknowledged
        return MessageRouter(
            machine: RoutingStateMachine(
                environment: environment,
                limits: routing,
                power: PowerRules(window: limits.powerWindow, backgroundPerHour: limits.backgroundPerHour)
            ),
            database: shared.database,
            devices: shared.devices,
            events: shared.events,
            feedback: shared.feedback,
            sequences: shared.sequences,
            faults: shared.faults,
            time: shared.time,
            logger: shared.logger
        )
    }

    /// Returns the number of messages that wait for their device.
    func storedMessages() async throws -> Int { try await self.count(.message) }

    /// Returns the number of rows of a table.
    func count(_ table: GatewayTables.Counted) async throws -> Int {
        let environment = self.environment
        return try await self.database.read { try $0.count(table, in: environment) }
    }
}
