import GRDB
import Logging
import NIOCore
import PushSupport
import PushTypes
import PushWire

/// What stands behind the doors of one environment.
final class EnvironmentCore: Sendable {
    let environment: PushEnvironment
    private let database: any DatabaseReader
    let router: MessageRouter
    let providerDoor: ProviderListener
    let courierDoor: DeviceLinkListener
    let binaryDoor: BinaryListener
    let feedbackDoor: FeedbackListener

    init(_ environment: PushEnvironment, shared: SharedCore, configuration: GatewayConfiguration) {
        let limits = configuration.limits
        var routing = RoutingMachine.Limits()
        routing.unacknowledged = limits.unacknowledged
        self.environment = environment
        self.database = shared.database
        self.router = MessageRouter(
            machine: RoutingMachine(
                environment: environment,
                limits: routing,
                power: PowerRules(window: limits.powerWindow, backgroundPerHour: limits.backgroundPerHour)
            ),
            commit: shared.commit,
            devices: shared.devices,
            events: shared.events,
            feedback: shared.feedback,
            sequences: shared.sequences,
            faults: shared.faults,
            time: shared.time,
            logger: shared.logger
        )
        let certificates = CertificateCheck(
            environment: environment,
            identify: { der in
                shared.providerAuthority.identity(
                    of: der,
                    environment: environment,
                    directory: shared.providers,
                    now: shared.time.now
                )
            },
            isStillValid: { identity in
                !shared.providers.isRevoked(certificate: identity.serial) && shared.time.now <= identity.expiresAt
            }
        )
        let directory = EnvironmentDirectory(
            providers: shared.providers,
            devices: shared.devices,
            environment: environment
        )
        self.providerDoor = ProviderListener(
            session: ProviderSession.Shared(
                environment: environment,
                rules: configuration.rules,
                directory: directory,
                channels: shared.channels
            ),
            channels: ChannelManager(
                channels: shared.channels,
                intake: self.router,
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
        self.binaryDoor = BinaryListener(
            status: { directory.status(of: $0) },
            submitter: self.router,
            certificates: certificates,
            faults: shared.faults,
            isStrict: configuration.rules.refusesImmediateBackground,
            limits: Self.binaryLimits(configuration.rules),
            time: shared.time,
            logger: shared.logger
        )
        self.feedbackDoor = FeedbackListener(
            store: shared.feedback.store(environment),
            certificates: certificates,
            delay: { Self.feedbackDelay($0, environment, shared) },
            time: shared.time,
            logger: shared.logger
        )
        let (providers, tokenLength) = (shared.providers, configuration.tokenLength)
        self.courierDoor = DeviceLinkListener(
            router: self.router,
            devices: shared.devices,
            authenticator: shared.authenticator,
            limits: limits.courier,
            handshake: limits.handshake,
            time: shared.time,
            logger: shared.logger,
            topic: { providers.topic(for: $0) },
            tokenLength: { providers.tokenLength(for: $0) ?? tokenLength },
            hasChannel: { shared.channels.policy(of: $0.id, app: $0.bundleID, in: environment) != nil }
        )
    }

    private static func binaryLimits(_ rules: ProviderRules) -> BinaryServerStateMachine.Limits {
        var limits = BinaryServerStateMachine.Limits()
        limits.isLenient = !rules.refusesLongSimplePayloads
        return limits
    }

    /// A fault: so much later than usual.
    private static func feedbackDelay(
        _ identity: CertificateIdentity,
        _ environment: PushEnvironment,
        _ shared: SharedCore
    ) -> Duration {
        var random = SystemRandomNumberGenerator()
        let decision = shared.faults.decide(
            at: .feedback,
            for: FaultSubject(
                door: .feedback,
                environment: environment,
                topic: identity.defaultTopic,
                credential: identity.serial
            ),
            random: &random,
            now: shared.time.now
        )
        return decision?.feedbackDelay ?? .zero
    }

    /// Messages that wait for their device.
    func storedMessages() async throws -> Int {
        let environment = self.environment
        return try await self.database.read { try MessageTable(database: $0, environment: environment).count() }
    }
}

/// What all environments of a gateway share.
struct SharedCore: Sendable {
    let database: any DatabaseReader
    let commit: GroupCommit
    let providers: ProviderRegistry
    let providerAuthority: ProviderAuthority
    let channels: ChannelRegistry
    let devices: DeviceRegistry
    let faults: FaultPlan
    let events: EventLog
    let feedback: Feedback
    let authenticator: DeviceAuthenticator
    let sequences: MessageSequence
    let time: any TimeSource
    let logger: Logger
}
