import GRDB
import Logging
import NIOCore
import PushProtocol

/// What stands behind the doors of one environment.
final class EnvironmentCore: Sendable {
    let environment: PushEnvironment
    private let database: any DatabaseReader
    let router: Router
    let providerDoor: ProviderDoor
    let courierDoor: CourierDoor

    init(_ environment: PushEnvironment, shared: SharedCore, configuration: GatewayConfiguration) {
        let limits = configuration.limits
        var routing = RoutingMachine.Limits()
        routing.unacknowledged = limits.unacknowledged
        self.environment = environment
        self.database = shared.database
        self.router = Router(
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
            time: shared.time,
            logger: shared.logger
        )
        self.providerDoor = ProviderDoor(
            directory: EnvironmentDirectory(
                environment: environment,
                providers: shared.providers,
                devices: shared.devices
            ),
            router: self.router,
            environment: environment,
            requestDeadline: TimeAmount(limits.request),
            time: shared.time,
            logger: shared.logger
        )
        let providers = shared.providers
        self.courierDoor = CourierDoor(
            router: self.router,
            devices: shared.devices,
            authenticator: shared.authenticator,
            limits: limits.courier,
            time: shared.time,
            logger: shared.logger,
            topic: { providers.topic(for: $0) },
            hasChannel: { _ in false }
        )
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
    let devices: DeviceRegistry
    let events: EventLog
    let feedback: any FeedbackSink
    let authenticator: DeviceAuthenticator
    let sequences: MessageSequence
    let time: any TimeSource
    let logger: Logger
}

/// What the checks of a push ask for, in one environment.
struct EnvironmentDirectory: PushDirectory {
    let environment: PushEnvironment
    let providers: ProviderRegistry
    let devices: DeviceRegistry

    func key(_ keyID: String) -> RegisteredKey? { self.providers.key(keyID) }
    func team(ofApp bundleID: Topic) -> String? { self.providers.team(ofApp: bundleID) }
    func status(of token: DeviceToken) -> TokenStatus { self.devices.status(of: token, in: self.environment) }
}
