import Logging
import PushSupport
import PushTypes

/// The parts that all environments of a gateway share.
struct SharedCore: Sendable {
    let database: GatewayDatabase
    let providers: ProviderRegistry
    let providerAuthority: ProviderAuthority
    let channels: ChannelRegistry
    let devices: DeviceRegistry
    let faults: FaultPlan
    let events: EventLog
    let feedback: FeedbackRecorder
    let authenticator: DeviceAuthenticator
    let sequences: MessageSequence
    let time: any TimeSource
    let logger: Logger

    /// Returns the check of provider certificates for the listeners of one environment.
    func certificateCheck(_ environment: PushEnvironment) -> CertificateCheck {
        CertificateCheck(
            environment: environment,
            identify: { [providerAuthority, providers, time] der in
                providerAuthority.identity(of: der, environment: environment, directory: providers, now: time.now)
            },
            isStillValid: { [providers, time] identity in
                !providers.isRevoked(certificate: identity.serial) && time.now <= identity.expiresAt
            }
        )
    }

    /// Returns the delay of a feedback list that a fault asks for; zero without one.
    func feedbackDelay(for identity: CertificateIdentity, _ environment: PushEnvironment) -> Duration {
        var random = SystemRandomNumberGenerator()
        let decision = self.faults.decide(
            at: .feedback,
            for: FaultSubject(
                listener: .feedback,
                environment: environment,
                topic: identity.defaultTopic,
                credential: identity.serial
            ),
            random: &random,
            now: self.time.now
        )
        return decision?.feedbackDelay ?? .zero
    }
}
