import Logging
import NIOCore
import PushSupport
import PushTypes
import PushWire

/// The listener of the binary protocol, port 2195 (reference 5), with the components that its connections share.
///
/// The handshake fails for a client without a certificate, and for one with a certificate of another authority. A
/// client whose certificate is not valid here, because of its environment or because it is revoked, receives status 3
/// for its first notification. That status is about the certificate and not about the notification.
struct BinaryListener: Sendable {
    /// The closure that returns the status of a device token: active, unregistered or unknown.
    let status: @Sendable (DeviceToken) -> TokenStatus
    let submitter: any PushSubmitter
    let certificates: CertificateCheck
    let faults: FaultPlan
    /// A Boolean value that indicates whether priority 10 is an error for a push that only wakes the app (reference
    /// 5.1). Otherwise the push has priority 5.
    var isStrict = false
    var limits = BinaryServerStateMachine.Limits()
    let time: any TimeSource
    let logger: Logger

    /// Adds the connection's handler behind TLS. This method is called by ``Listener`` for each new connection.
    /// - Parameter fault: The fault of the connection, which ``Listener`` applies, or `nil` if there is none.
    func initialize(_ channel: any Channel, _ fault: FaultDecision?) throws {
        try channel.pipeline.syncOperations.addHandler(BinaryServerHandler(listener: self))
    }

    /// Returns the fault that applies to a notification, or `nil` if there is none.
    /// - Parameter ordinal: The number of the notification on its connection, from 1.
    func fault(_ notification: BinaryNotification, from identity: CertificateIdentity, ordinal: Int) -> FaultDecision? {
        self.faults.decide(
            at: .request,
            for: FaultSubject(
                listener: .binary,
                environment: self.certificates.environment,
                topic: identity.defaultTopic,
                token: DeviceToken(bytes: notification.token),
                credential: identity.serial,
                ordinal: ordinal
            ),
            now: self.time.now
        )
    }
}
