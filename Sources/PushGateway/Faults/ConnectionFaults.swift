import NIOSSL
import PushSupport
import PushTypes

/// The faults of a listener's connections, from their first byte on.
struct ConnectionFaults: Sendable {
    let plan: FaultPlan
    let listener: FaultListener
    let environment: PushEnvironment
    /// The TLS context with a certificate that ended yesterday.
    let expiredTLS: NIOSSLContext
    let time: any TimeSource

    /// Returns the faults of a connection that is being accepted; `nil` for none.
    func decide() -> FaultDecision? {
        let subject = FaultSubject(listener: self.listener, environment: self.environment)
        return self.plan.decide(at: .connection, for: subject, now: self.time.now)
    }
}
