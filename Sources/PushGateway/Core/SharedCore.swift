import Logging
import PushSupport
import PushTypes

/// The components that all environments of a gateway share.
struct SharedCore: Sendable {
    let services: RoutingServices
    let providers: ProviderRegistry
    let providerAuthority: ProviderAuthority
    let channels: ChannelRegistry
    let feedback: FeedbackRecorder
    let authenticator: DeviceAuthenticator

    init(
        _ configuration: GatewayConfiguration,
        _ authorities: Authorities,
        in directory: borrowing DataDirectory,
        time: any TimeSource,
        logger: Logger
    ) throws {
        let database = try GatewayDatabase(path: directory.file(GatewayDatabase.file))
        let events = try EventLog(database: database, limits: configuration.limits, logger: logger)
        let minter = TokenMinter(keys: try TokenKeyFiles.load(from: directory))
        let devices = try DeviceRegistry(database: database, minter: minter, events: events, time: time)
        self.providers = try ProviderRegistry(database: database)
        self.providerAuthority = ProviderAuthority(authority: authorities.providers)
        self.channels = try ChannelRegistry(database: database)
        self.feedback = FeedbackRecorder(database: database, logger: logger)
        self.authenticator = DeviceAuthenticator(authority: authorities.devices, devices: devices)
        self.services = RoutingServices(
            database: database,
            devices: devices,
            events: events,
            feedback: self.feedback,
            sequences: MessageSequence(last: try database.read { try $0.lastSequence() }),
            faults: try FaultPlan(starting: try configuration.faultRules(), now: time.now),
            time: time,
            logger: logger
        )
    }

    func certificateCheck(_ environment: PushEnvironment) -> CertificateCheck {
        CertificateCheck(
            environment: environment,
            identify: { [providerAuthority, providers, time = services.time] der in
                providerAuthority.identity(of: der, environment: environment, directory: providers, now: time.now)
            },
            isStillValid: { [providers, time = services.time] identity in
                !providers.isRevoked(certificate: identity.serial) && time.now <= identity.expiresAt
            }
        )
    }

    /// Returns the time for which a fault rule hides new entries of a provider's feedback list, or zero without such a
    /// rule.
    func feedbackDelay(for identity: CertificateIdentity, _ environment: PushEnvironment) -> Duration {
        let subject = FaultSubject(
            listener: .feedback,
            environment: environment,
            topic: identity.defaultTopic,
            credential: identity.serial
        )
        let decision = self.services.faults.decide(at: .feedback, for: subject, now: self.services.time.now)
        return decision?.feedbackDelay ?? .zero
    }
}
