import NIOSSL
import PushSupport
import PushTypes

/// What a door needs to misbehave from the first byte of a connection on.
struct ConnectionFaults: Sendable {
    let plan: FaultPlan
    let door: FaultListener
    let environment: PushEnvironment
    /// Shows a certificate that ended yesterday.
    let expiredTLS: NIOSSLContext
    let time: any TimeSource

    /// What to do wrong with the connection that is being accepted.
    func decide() -> FaultDecision? {
        var random = SystemRandomNumberGenerator()
        return self.plan.decide(
            at: .connection,
            for: FaultSubject(door: self.door, environment: self.environment),
            random: &random,
            now: self.time.now
        )
    }
}
